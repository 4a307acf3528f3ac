package sql

import (
	"errors"

	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// SystemQuery is part of expr.SystemQueries. Its query reads in the transaction of the running
// statement, at the same timestamp.
func (f *accessor) SystemQuery(text string, ts []*types.Type, params []types.Datum,
	emit func(row []types.Datum) error) (err error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return err
	}
	plan, _, err := f.s.innerPlan(f.ctx, text, ts)
	if err != nil {
		return err
	}
	cur, err := exec.Open(f.ctx, f.s.execEnv(f.ctx, false), plan, params)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for {
		b, err := cur.Next(f.ctx)
		if err != nil || b == nil {
			return err
		}
		for i := range b.Rows() {
			row := make([]types.Datum, len(b.Cols))
			for c, v := range b.Cols {
				row[c] = v.Get(b.Row(i))
			}
			if err := emit(row); err != nil {
				return err
			}
		}
	}
}

// MayCall is part of expr.SystemQueries.
func (f *accessor) MayCall(function string, others ...types.OID) error {
	roles := make([]acl.RoleID, len(others))
	for i, id := range others {
		roles[i] = acl.RoleID(id)
	}
	return f.mayCall(function, roles...)
}
