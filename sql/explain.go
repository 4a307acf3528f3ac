package sql

import (
	"context"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/explain"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table/types"
)

// explainColumns are those of the result: JSON has its own type.
func explainColumns(st *ast.Explain) []physical.Column {
	t := types.TText
	if o, err := readExplain(st); err == nil && o.json {
		t = types.TJSON
	}
	return []physical.Column{{Name: "QUERY PLAN", Type: t}}
}

// explainOptions are the options of EXPLAIN that mean something here.
type explainOptions struct {
	analyze, verbose, costs, timing, summary, json bool
}

func readExplain(st *ast.Explain) (o explainOptions, err error) {
	o = explainOptions{analyze: st.Analyze, verbose: st.Verbose, costs: true, timing: true}
	summary, timing := false, false // asked for
	for _, opt := range st.Options {
		if opt.Name == "format" {
			if o.json, err = explainJSON(&opt); err != nil {
				return o, err
			}
			continue
		}
		on, err := boolOption(&opt)
		if err != nil {
			return o, withPosition(err, opt.Pos)
		}
		switch opt.Name {
		case "analyze":
			o.analyze = on
		case "verbose":
			o.verbose = on
		case "costs":
			o.costs = on
		case "timing":
			o.timing, timing = on, on
		case "summary":
			o.summary, summary = on, true
		case "buffers", "wal", "settings":
			if on {
				return o, sqlerr.Unsupported(int(opt.Pos), "EXPLAIN ("+strings.ToUpper(opt.Name)+
					")")
			}
		default:
			return o, sqlerr.New(sqlerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"",
				opt.Name).At(int(opt.Pos))
		}
	}
	if timing && !o.analyze {
		return o, sqlerr.New(sqlerr.InvalidParameterValue, "EXPLAIN option TIMING requires ANALYZE")
	}
	if !summary {
		o.summary = o.analyze
	}
	return o, nil
}

// explainJSON reports whether FORMAT is JSON, and not TEXT.
func explainJSON(opt *ast.Option) (bool, error) {
	switch strings.ToLower(opt.Value) {
	case "text":
		return false, nil
	case "json":
		return true, nil
	case "":
		return false, sqlerr.New(sqlerr.SyntaxError, "format requires a parameter")
	case "xml", "yaml":
		return false, sqlerr.Unsupported(int(opt.Pos),
			"EXPLAIN (FORMAT "+strings.ToUpper(opt.Value)+")")
	}
	return false, sqlerr.New(sqlerr.InvalidParameterValue,
		"unrecognized value for EXPLAIN option \"format\": \"%s\"", opt.Value).At(int(opt.Pos))
}

// openExplain is EXPLAIN [ANALYZE].
func (s utility) openExplain(ctx context.Context, ps *Prepared, st *ast.Explain,
	params []types.Datum) (source, error) {
	o, err := readExplain(st)
	if err != nil {
		return nil, err
	}
	stmt, owner := st.Statement, ps
	if ex, ok := stmt.(*ast.Execute); ok {
		if owner, err = s.Statement(ex.Name); err != nil {
			return nil, err
		}
		if params, err = s.arguments(ctx, ex, owner); err != nil {
			return nil, err
		}
		stmt = owner.Stmt
	}
	if d, ok := stmt.(*ast.DeclareCursor); ok {
		stmt = d.Query
	}
	switch {
	case madeBy(stmt) != nil:
		return s.explainMade(ctx, st, stmt, madeBy(stmt))
	case isRefresh(stmt):
		return o.withoutPlan(st, "Utility Statement", "Utility statements have no plan structure"),
			nil
	case kindOf(stmt).planned != stmt:
		return nil, sqlerr.Unsupported(int(st.Pos), "EXPLAIN of this statement")
	}
	begun := time.Now()
	plan, err := s.lockedPlan(ctx, owner, stmt)
	if err != nil {
		return nil, err
	}
	planning := time.Since(begun)
	if err := s.checkRights(ctx, plan, 0); err != nil {
		return nil, err
	}
	eo := o.printed()
	var execution time.Duration
	if o.analyze {
		if !plan.ReadOnly {
			if err := s.mayWrite(stmt); err != nil {
				return nil, err
			}
		}
		src, err := s.runPlan(ctx, plan, stmt, params, runOptions{stats: true})
		if err != nil {
			return nil, err
		}
		src.plannedAnew(owner, stmt)
		defer src.close()
		begun = time.Now()
		if err := readToEnd(ctx, src); err != nil {
			return nil, err
		}
		execution = time.Since(begun)
		eo.Actual, eo.Changed = nodesMeasured(src.cursor), src.cursor.Changed
		eo.Spilled, eo.Sections = src.cursor.Spilled, src.cursor.Sections
	}
	described := explain.Describe(plan, eo)
	if o.summary {
		described.Planning, described.Execution = planning, execution
	}
	return o.source(st, described), nil
}

// nodesMeasured returns what was measured of the nodes that a cursor has run.
func nodesMeasured(c *exec.Cursor) func(physical.Node) (explain.Measured, bool) {
	return func(n physical.Node) (explain.Measured, bool) {
		s, ok := c.NodeStats(n)
		return explain.Measured(s), ok
	}
}

// printed are the options that concern the text of a plan.
func (o explainOptions) printed() explain.Options {
	return explain.Options{Verbose: o.verbose, HideCosts: !o.costs, HideTiming: !o.timing}
}

// source returns the result of EXPLAIN.
func (o explainOptions) source(st *ast.Explain, described *explain.Plan) source {
	lines := []string{}
	if o.json {
		lines = append(lines, described.JSON())
	} else {
		lines = described.Text()
	}
	return newRows("EXPLAIN", explainColumns(st), explainLines(lines...))
}

func explainLines(lines ...string) [][]types.Datum {
	rows := make([][]types.Datum, len(lines))
	for i, l := range lines {
		rows[i] = []types.Datum{types.NewString(l)}
	}
	return rows
}

func readToEnd(ctx context.Context, src source) error {
	for {
		if b, err := src.next(ctx); err != nil || b == nil {
			return err
		}
	}
}
