package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/template"
	"github.com/minidb/minidb/table/types"
)

// errNotServed ends the attempt to run a text by its template, before it has done anything: the text is
// parsed, and runs as if there had been no attempt.
var errNotServed = errors.New("the template does not serve the text")

// queryTemplate runs the text that the session's shape is of by a template. served is false if there is
// none that can; again says then that a template may be made from the text.
func (s *Session) queryTemplate(ctx context.Context, text string, sink Sink) (served, again bool, err error) {
	t, again := s.engine.templates.Find(&s.shape)
	if t == nil {
		return false, again, nil
	}
	values, ok := t.Arguments(&s.shape)
	if !ok {
		return false, false, nil
	}
	one := []parse.Parsed{{Stmt: t.Stmt, Text: text[s.shape.First:s.shape.End]}}
	_, err = s.runImplicit(ctx, &queried{stmts: one, template: t, values: values}, 0, sink)
	if err == errNotServed {
		s.tx.statements-- // there was none
		t.Refused()
		return false, false, nil
	}
	t.Served()
	return true, false, err
}

// fillTemplate returns the values of the parameters of a template's plan, or errNotServed.
func (s *planRunner) fillTemplate(ctx context.Context, ps *Prepared, plan *physical.Plan) ([]types.Datum, error) {
	if !template.Serves(plan) || len(plan.ParamTypes) != len(ps.values) {
		return nil, errNotServed
	}
	ps.ParamTypes = plan.ParamTypes
	params := make([]types.Datum, len(ps.values))
	var env *planner.Env
	for i, v := range ps.values {
		if !v.Quoted {
			params[i] = types.NewInt(int64(v.Int))
			continue
		}
		if env == nil {
			env = s.plannerEnv(ctx)
		}
		d, constant, err := planner.Input(env, v.Text, plan.ParamTypes[i])
		if err != nil || !constant {
			return nil, errNotServed
		}
		params[i] = d
	}
	return params, nil
}
