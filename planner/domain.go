package planner

import (
	"context"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/rule"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// DomainValue returns the row over which the constraints of a domain are bound: its one column is
// VALUE, of the type that the domain is over.
func DomainValue(base *types.Type) *table.Desc {
	return &table.Desc{Columns: []table.Column{{ID: 1, Name: "value", Type: base}}}
}

// CompileDomain returns the program of a domain's constraints. mentioned are the user types that
// they name. A text that cannot be compiled fails with the reason when a value is checked.
func (p Programs) CompileDomain(def *types.Definition,
	mentioned []*types.Type) types.DomainProgram {
	row := DomainValue(def.Base)
	row.Mentioned = mentioned
	env := &Env{ParseExpr: p.ParseExpr, Catalog: rowTypes{row}, Runtime: newRuntime()}
	out := &domainProgram{}
	for _, c := range def.Checks {
		e, err := bindText(env, row, c.Text, types.TBool)
		if err == nil {
			out.stable = out.stable || expr.VolatilityOf(e) != expr.Immutable
			e, _ = rule.Fold(e) // an error in a constant is that of the first value
			var program *eval.Program
			program, err = eval.Compile(e)
			out.checks = append(out.checks, compiled{program, err})
			continue
		}
		out.checks = append(out.checks, compiled{err: err})
	}
	return out
}

// domainProgram implements types.DomainProgram.
type domainProgram struct {
	checks []compiled
	stable bool      // the constraints ask the session something
	idle   sync.Pool // of *domainEvaluator
}

// domainEvaluator has the scratch memory of one evaluation.
type domainEvaluator struct {
	checks  []*eval.Program
	runtime expr.Runtime
	ctx     eval.Context
	row     [1]types.Datum
}

// Broken implements types.DomainProgram.
func (p *domainProgram) Broken(d types.Datum, f *types.Format) (int, error) {
	ev, _ := p.idle.Get().(*domainEvaluator)
	if ev == nil {
		ev = &domainEvaluator{checks: make([]*eval.Program, len(p.checks))}
		ev.ctx.Runtime = &ev.runtime
	}
	defer p.idle.Put(ev)
	if err := ev.enter(p, f); err != nil {
		return -1, err
	}
	ev.row[0] = d
	for i := range p.checks {
		if p.checks[i].err != nil {
			return -1, p.checks[i].err
		}
		if ev.checks[i] == nil {
			ev.checks[i] = p.checks[i].program.Clone()
		}
		v, err := ev.checks[i].EvalRow(&ev.ctx, ev.row[:])
		if err != nil {
			return -1, err
		}
		if !v.Null && !v.Bool() {
			return i, nil
		}
	}
	return -1, nil
}

// enter gives the constraints what the statement has. They are evaluated within a function of the
// statement, whose state in the runtime must stay as it is, so the evaluator has a runtime of its
// own.
func (ev *domainEvaluator) enter(p *domainProgram, f *types.Format) error {
	if f == nil {
		f = &types.DefaultFormat
	}
	rt, _ := f.Runtime.(*expr.Runtime)
	switch {
	case rt != nil:
		ev.runtime = expr.Runtime{Ctx: rt.Ctx, StatementTime: rt.StatementTime,
			TxnTime: rt.TxnTime, Location: rt.Location, Session: rt.Session, Memory: rt.Memory}
	case p.stable:
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"a constraint of a domain that depends on the session is not supported here")
	default:
		ev.runtime = expr.Runtime{Ctx: context.Background(), Location: f.Location}
	}
	ev.runtime.Format = *f
	return nil
}
