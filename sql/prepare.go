package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// execPrepare is PREPARE.
func (s utility) execPrepare(ctx context.Context, st *ast.Prepare) (string, error) {
	if _, taken := s.prepared[st.Name]; taken {
		return "", sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement \"%s\" already exists", st.Name)
	}
	if len(s.prepared) >= maxPrepared {
		return "", sqlerr.New(sqlerr.ConfigurationLimitExceeded, "too many prepared statements")
	}
	if err := s.ensure(ctx); err != nil {
		return "", err
	}
	ps := &Prepared{Name: st.Name, Text: st.Text, source: s.seen().Query, Stmt: st.Statement, sql: true, offset: 1}
	for _, tn := range st.Types {
		t, err := planner.ResolveType(ctx, s.plannerEnv(ctx), tn)
		if err != nil {
			return "", err
		}
		ps.declared = append(ps.declared, t)
	}
	if err := s.analyse(ctx, ps); err != nil {
		return "", err
	}
	if err := s.keepPrepared(ps); err != nil {
		return "", err
	}
	s.once = true
	return "PREPARE", nil
}

// openExecute is EXECUTE name (args).
func (s utility) openExecute(ctx context.Context, st *ast.Execute, sink Sink) (source, error) {
	ps, err := s.Statement(st.Name)
	if err != nil {
		return nil, at(err, 0)
	}
	params, err := s.arguments(ctx, st, ps)
	if err != nil {
		return nil, err
	}
	if _, nested := ps.Stmt.(*ast.Execute); nested {
		return nil, sqlerr.Unsupported(int(st.Pos), "EXECUTE of EXECUTE")
	}
	return s.open(ctx, call{ps: ps, params: params, sink: sink})
}

// describeExecute returns the columns of the statement that EXECUTE names.
func (s utility) describeExecute(stmt ast.Statement) ([]physical.Column, bool, error) {
	inner, err := s.Statement(stmt.(*ast.Execute).Name)
	if err != nil {
		return nil, false, err
	}
	return inner.Columns, inner.HasRows, nil
}

// arguments evaluates the arguments of EXECUTE.
func (s *Session) arguments(ctx context.Context, st *ast.Execute, ps *Prepared) ([]types.Datum, error) {
	if len(st.Args) != len(ps.ParamTypes) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters for prepared statement \"%s\"", ps.Name).
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

func (s utility) execDeallocate(st *ast.Deallocate) (string, error) {
	s.once = true
	if st.All {
		s.forgetAllPrepared()
		return "DEALLOCATE ALL", nil
	}
	if _, err := s.Statement(st.Name); err != nil {
		return "", err
	}
	s.forgetPrepared(st.Name)
	return "DEALLOCATE", nil
}
