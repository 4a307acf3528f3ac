package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/table/types"
)

// asOf is the clause of a statement that reads the past, or nil.
func (s *Session) asOf(stmt ast.Statement) *ast.AsOf {
	if explain, ok := stmt.(*ast.Explain); ok {
		if execute, ok := explain.Statement.(*ast.Execute); ok {
			if ps := s.prepared[execute.Name]; ps != nil {
				return s.asOf(ps.Stmt)
			}
		}
	}
	return kindOf(stmt).asOf
}

// arguments are the values of a statement's parameters, with their types.
type arguments struct {
	types  []*types.Type
	values []types.Datum
}

// argumentsOf are those of a statement that is about to run, be it by EXECUTE within EXPLAIN.
func (s *Session) argumentsOf(ctx context.Context, ps *Prepared, params []types.Datum) (arguments,
	error) {
	if st, ok := ps.Stmt.(*ast.Explain); ok {
		if ex, ok := st.Statement.(*ast.Execute); ok {
			inner, err := s.Statement(ex.Name)
			if err != nil {
				return arguments{}, err
			}
			params, err = s.arguments(ctx, ex, inner)
			return arguments{inner.ParamTypes, params}, err
		}
	}
	return arguments{ps.ParamTypes, params}, nil
}

// arguments evaluates the arguments of EXECUTE.
func (s *Session) arguments(ctx context.Context, st *ast.Execute, ps *Prepared) ([]types.Datum,
	error) {
	if len(st.Args) != len(ps.ParamTypes) {
		return nil, sqlerr.New(sqlerr.SyntaxError,
			"wrong number of parameters for prepared statement \"%s\"", ps.Name).
			WithDetail("Expected %d parameters but got %d.", len(ps.ParamTypes), len(st.Args))
	}
	if len(st.Args) == 0 {
		return nil, nil
	}
	if err := s.ensure(ctx); err != nil {
		return nil, err
	}
	env := s.plannerEnv(ctx)
	out := make([]types.Datum, len(st.Args))
	for i, arg := range st.Args {
		e, err := planner.BindScalar(ctx, env, arg, ps.ParamTypes[i])
		if err != nil {
			return nil, err
		}
		program, err := eval.Compile(e)
		if err != nil {
			return nil, err
		}
		if out[i], err = program.EvalRow(&eval.Context{Runtime: env.Runtime}, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}
