package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
)

// execPrepare is PREPARE.
func (s utility) execPrepare(ctx context.Context, st *ast.Prepare) (string, error) {
	if _, taken := s.prepared[st.Name]; taken {
		return "", sqlerr.New(sqlerr.DuplicatePreparedStatement,
			"prepared statement \"%s\" already exists", st.Name)
	}
	if len(s.prepared) >= maxPrepared {
		return "", sqlerr.New(sqlerr.ConfigurationLimitExceeded, "too many prepared statements")
	}
	if err := s.ensure(ctx); err != nil {
		return "", err
	}
	ps := &Prepared{Name: st.Name, Text: st.Text, source: s.currentActivity().Query,
		Stmt: st.Statement, sql: true, offset: 1}
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
	s.sideEffects = true
	return "PREPARE", nil
}

// openExecute is EXECUTE name (args).
func (s utility) openExecute(ctx context.Context, st *ast.Execute, results ResultWriter) (source,
	error) {
	ps, err := s.Statement(st.Name)
	if err != nil {
		return nil, withPosition(err, 0)
	}
	if err := s.RenewTypes(ctx, ps); err != nil {
		return nil, err
	}
	params, err := s.arguments(ctx, st, ps)
	if err != nil {
		return nil, err
	}
	if _, nested := ps.Stmt.(*ast.Execute); nested {
		return nil, sqlerr.Unsupported(int(st.Pos), "EXECUTE of EXECUTE")
	}
	return s.open(ctx, call{ps: ps, params: params, results: results})
}

// describeExecute returns the columns of the statement that EXECUTE names.
func (s utility) describeExecute(stmt ast.Statement) ([]physical.Column, bool, error) {
	inner, err := s.Statement(stmt.(*ast.Execute).Name)
	if err != nil {
		return nil, false, err
	}
	return inner.Columns, inner.HasRows, nil
}

func (s utility) execDeallocate(st *ast.Deallocate) (string, error) {
	s.sideEffects = true
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
