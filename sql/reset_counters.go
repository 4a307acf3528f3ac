package sql

import (
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// ResetTableCounters is pg_stat_reset_single_table_counters (expr.Counters).
func (f *accessor) ResetTableCounters(id types.OID) error {
	if err := f.s.ensure(f.ctx); err != nil {
		return err
	}
	d, err := f.s.tx.view.RelationByID(f.ctx, table.ID(id))
	if err != nil || d == nil || d.DatabaseID != f.s.databaseID || !d.HasRows() {
		return err
	}
	return f.s.engine.statistics.Reset(f.ctx, f.s.databaseID, d.ID)
}

// ResetCounters is pg_stat_reset.
func (f *accessor) ResetCounters() error {
	if err := f.s.ensure(f.ctx); err != nil {
		return err
	}
	all, err := f.s.tx.view.Relations(f.ctx, f.s.databaseID)
	if err != nil {
		return err
	}
	var ids []table.ID
	for _, d := range all {
		if d.HasRows() && !d.Temporary() {
			ids = append(ids, d.ID)
		}
	}
	if d := f.s.engine.opts.Spill; d != nil {
		d.ResetStats(uint32(f.s.databaseID))
	}
	return f.s.engine.statistics.Reset(f.ctx, f.s.databaseID, ids...)
}

// TemporaryFiles is pg_stat_get_db_temp_files and pg_stat_get_db_temp_bytes.
func (f *accessor) TemporaryFiles(database types.OID) (files, bytes int64) {
	if f.s.engine.opts.Spill == nil {
		return 0, 0
	}
	return f.s.engine.opts.Spill.Stats(uint32(database))
}

// SessionsIn is pg_stat_get_db_numbackends. What sessions other processes have is not known.
func (f *accessor) SessionsIn(database types.OID) (n int64, known bool) {
	if f.s.engine.shared {
		return 0, false
	}
	for _, a := range f.s.engine.Activities() {
		if a.DatabaseID == uint32(database) {
			n++
		}
	}
	return n, true
}

// CountersReset is pg_stat_get_db_stat_reset_time.
func (f *accessor) CountersReset(database types.OID) (time.Time, bool) {
	return f.s.engine.statistics.LastReset(table.ID(database))
}
