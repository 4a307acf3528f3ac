package exec

import (
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// generatedColumns computes the generated columns of a row from its others.
type generatedColumns struct {
	columns  []int
	programs []*eval.Program
}

func compileGenerated(list []opt.Assign) (g generatedColumns, err error) {
	g.programs, err = compileAssigns(list)
	for _, a := range list {
		g.columns = append(g.columns, a.Column)
	}
	return g, err
}

// compute sets the generated columns of row. Requires: its other columns are set. No generated
// column reads another one.
func (g *generatedColumns) compute(ev *eval.Context, row []types.Datum) error {
	for i, p := range g.programs {
		d, err := p.EvalRow(ev, row)
		if err != nil {
			return err
		}
		row[g.columns[i]] = d
	}
	return nil
}
