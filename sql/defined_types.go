package sql

import (
	"context"
	"slices"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// RenewTypes gives the parameters and columns of a prepared statement the present definitions of
// their user types: labels may have been added since. Values are read and written by these.
func (s *Session) RenewTypes(ctx context.Context, ps *Prepared) error {
	user := func(t *types.Type) (found bool) {
		if t != nil {
			t.UserTypes(func(*types.Type) { found = true })
		}
		return found
	}
	if s.tx.state == inFailed || !slices.ContainsFunc(ps.ParamTypes, user) &&
		!slices.ContainsFunc(ps.Columns, func(c physical.Column) bool { return user(c.Type) }) {
		return nil
	}
	if err := s.ensure(ctx); err != nil {
		return err
	}
	renew := func(t *types.Type) (*types.Type, error) {
		if !user(t) {
			return t, nil
		}
		now, err := s.tx.view.TypeByOID(ctx, t.OID)
		if err != nil || now == nil { // gone: the plan will say so
			return t, err
		}
		return now.Apply(t.Mod), nil
	}
	var err error
	params, columns := slices.Clone(ps.ParamTypes), slices.Clone(ps.Columns)
	for i := range params {
		if params[i], err = renew(params[i]); err != nil {
			return err
		}
	}
	for i := range columns {
		if columns[i].Type, err = renew(columns[i].Type); err != nil {
			return err
		}
	}
	ps.ParamTypes, ps.Columns = params, columns
	return nil
}

// definedAlike reports whether the types of two lists of columns that are the same are defined
// alike too.
func definedAlike(a, b []physical.Column) bool {
	return slices.EqualFunc(a, b,
		func(x, y physical.Column) bool { return x.Type.SameDefinition(y.Type) })
}
