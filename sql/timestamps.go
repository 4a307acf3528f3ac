package sql

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// StartTimestamp is part of expr.Timestamps.
func (f *accessor) StartTimestamp() (int64, error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	return int64(f.s.tx.tx.StartTS()), nil
}

// HasWritten is part of expr.Timestamps.
func (f *accessor) HasWritten() (bool, error) {
	return f.s.tx.tx != nil && f.s.tx.tx.Dirty(), nil
}

// RunningTransactions is part of expr.Timestamps.
func (f *accessor) RunningTransactions(function string) ([]int64, error) {
	if err := f.s.engine.unlessShared(function, ""); err != nil {
		return nil, err
	}
	own, err := f.StartTimestamp()
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, r := range f.s.engine.store.Running() {
		if ts := int64(r.StartTS); ts != own {
			out = append(out, ts)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// SnapshotTimestamp is part of expr.Timestamps. While READ COMMITTED rechecks a row, it is the
// later timestamp at which the row is read again.
func (f *accessor) SnapshotTimestamp() (int64, error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, err
	}
	return int64(f.s.tx.tx.ReadTS()), nil
}

// LastCommitTimestamp is part of expr.Timestamps.
func (f *accessor) LastCommitTimestamp() (int64, bool) {
	return int64(f.s.lastCommit), f.s.lastCommit != 0
}

// ViewTimestamp is part of expr.Timestamps.
func (f *accessor) ViewTimestamp(view types.OID) (int64, bool, error) {
	if err := f.s.ensure(f.ctx); err != nil {
		return 0, false, err
	}
	d, err := f.s.tx.view.RelationByID(f.ctx, table.ID(view))
	switch {
	case err != nil:
		return 0, false, err
	case d == nil:
		return 0, false, sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist",
			view)
	case !d.Incremental():
		return 0, false, sqlerr.New(sqlerr.WrongObjectType,
			"\"%s\" is not an incremental materialized view", d.Name)
	}
	st, err := f.s.tx.view.ViewState(f.ctx, d.ID)
	if err != nil || st == nil {
		return 0, false, err
	}
	return int64(st.Frontier), true, nil
}
