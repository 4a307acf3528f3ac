package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// values makes rows from expressions, once for each row of parameters. Constants are taken as they
// are; other expressions are compiled when their row is due, and kept for a second run.
type values struct {
	run   *run
	node  *physical.Values
	progs map[expr.Expr]*eval.Program
	at    int // how many rows were made
	out   *types.Batch
}

func (r *run) buildValues(n *physical.Values) (operator, error) {
	return &values{run: r, node: n}, nil
}

func (v *values) Open(context.Context) error {
	v.at = 0
	return nil
}

func (v *values) Close() error { return nil }

func (v *values) Next(ctx context.Context) (*types.Batch, error) {
	rows := v.node.Rows
	total := len(rows) * v.run.env.paramRows()
	if v.at >= total {
		return nil, nil
	}
	v.run.ctx = ctx
	n := min(total-v.at, types.BatchSize)
	if v.out == nil {
		v.out = types.NewBatchCap(columnTypes(v.node), n)
	}
	v.out.Reset()
	for k := v.at; k < v.at+n; k++ {
		v.run.ev.Params = v.run.paramRow(k / len(rows))
		for i, e := range rows[k%len(rows)] {
			d, err := v.value(e)
			if err != nil {
				return nil, err
			}
			v.out.Cols[i].Append(d)
		}
	}
	v.at += n
	v.out.Len = n
	return v.out, nil
}

func (v *values) value(e expr.Expr) (types.Datum, error) {
	switch e := e.(type) {
	case *expr.Const:
		return e.Value, nil
	case *expr.Param:
		return v.run.ev.Params[e.N-1], nil
	case *expr.Var:
		return v.run.ev.Vars[e.Slot], nil
	}
	p := v.progs[e]
	if p == nil {
		var err error
		if p, err = eval.Compile(e); err != nil {
			return types.Null, err
		}
		if v.progs == nil {
			v.progs = map[expr.Expr]*eval.Program{}
		}
		v.progs[e] = p
	}
	return v.run.scalar(p)
}
