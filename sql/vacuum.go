package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/tso"
)

// vacuum drops the row versions that no transaction can read any more, of the tables named or of
// the whole store, and counts the rows that are left. With FULL it rewrites the store's files
// without the dropped versions. Not even FULL blocks readers or writers: the collector works beside
// them, as it does in the background.
func (s maintenance) vacuum(ctx context.Context, st *ast.Maintenance) error {
	if err := s.alone("VACUUM"); err != nil {
		return err
	}
	o, err := readUpkeep(st)
	if err != nil {
		return err
	}
	if o.full && s.engine.opts.Compact == nil {
		return sqlerr.Unsupported(int(st.Pos), "VACUUM FULL")
	}
	targets, err := s.targets(ctx, st, o.analyze)
	if err != nil {
		return err
	}
	// This transaction's own snapshot would hold the safepoint back.
	if err := s.commit(ctx); err != nil {
		return err
	}
	s.start(inImplicit)
	defer s.progress.upkeep.Store(nil)
	if len(st.Tables) == 0 {
		s.progress.beginUpkeep("VACUUM", 0, 0) // of all tables together
		if err := s.collect(ctx, s.database, kv.Span{}, o.verbose); err != nil {
			return err
		}
		if err := s.engine.statistics.Sweep(ctx); err != nil {
			return err
		}
	}
	for _, t := range targets {
		err := s.underUpkeep(ctx, "vacuum", t, o,
			func() error { return s.vacuumTable(ctx, t, o, len(st.Tables) > 0) })
		if err != nil {
			return err
		}
	}
	if o.full {
		return s.engine.opts.Compact(ctx)
	}
	return nil
}

// vacuumTable vacuums a table. Its versions are collected only if it was named; otherwise the whole
// store was collected before.
func (s maintenance) vacuumTable(ctx context.Context, t target, o upkeep, named bool) error {
	name := s.database + "." + t.desc.Schema + "." + t.desc.Name
	p := s.progress.beginUpkeep("VACUUM", t.desc.ID, 0)
	if named {
		span, err := s.engine.spanNow(ctx, t.desc, o.rowsOnly)
		if err != nil {
			return err
		}
		if err := s.collect(ctx, name, span, o.verbose); err != nil {
			return err
		}
	}
	p.phase.Store(phaseFinalCleanup)
	rows, err := s.engine.statistics.Count(ctx, t.desc.ID)
	if err != nil {
		return err
	}
	s.info(o.verbose, "\"%s\": %d rows remain", name, rows)
	if o.analyze {
		return s.analyzeAlone(ctx, t, o.verbose)
	}
	return nil
}

// spanNow returns the span of a table's rows, with or without its index entries, now that it is
// locked: they may have moved since the descriptor was read.
func (e *Engine) spanNow(ctx context.Context, d *table.Desc, rowsOnly bool) (kv.Span, error) {
	tx, err := e.store.Begin(ctx, beginReadOnly)
	if err != nil {
		return kv.Span{}, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	now, err := e.catalog.View(tx).RelationByID(ctx, d.ID)
	switch {
	case err != nil:
		return kv.Span{}, err
	case now != nil:
		d = now
	}
	if rowsOnly {
		return d.IndexSpan(table.RowIndexID), nil
	}
	return d.Span(), nil
}

// collect runs the collector over a span; the zero span is the whole store.
func (s maintenance) collect(ctx context.Context, name string, span kv.Span, verbose bool) error {
	s.info(verbose, "vacuuming \"%s\"", name)
	began := time.Now()
	done, err := s.engine.store.CollectSpan(ctx, span, s.progress.collected)
	if err != nil {
		return err
	}
	cutoff := time.UnixMilli(done.Safepoint.Physical())
	s.info(verbose, "finished vacuuming \"%s\": row and index versions: %d removed, %d are dead "+
		"but not yet removable\n"+
		"removable cutoff: %s, which was %s ago%s\nlocks settled: %d\nelapsed: %.2f s",
		name, done.Versions, max(0, done.Records-done.Versions-done.Rows),
		cutoff.UTC().Format("2006-01-02 15:04:05.000Z"), began.Sub(cutoff).Round(time.Second),
		s.engine.heldBack(done.Safepoint),
		done.Locks, time.Since(began).Seconds())
	return nil
}

// heldBack describes what keeps the safepoint from being newer than it is.
func (e *Engine) heldBack(safepoint tso.Timestamp) string {
	oldest, found := e.store.Oldest()
	if !found || oldest.StartTS > safepoint {
		return "" // versions are kept for a while, or a process that shares the store holds it back
	}
	for _, a := range e.Activities() {
		if int64(a.PID) == oldest.Session {
			return fmt.Sprintf(", held back by process %d, which is %s, with a transaction of "+
				"%s: %s", a.PID, a.State,
				time.UnixMilli(oldest.StartTS.Physical()).UTC().Format("15:04:05.000Z"), a.Query)
		}
	}
	return ", held back by a transaction of the server itself"
}
