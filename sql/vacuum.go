package sql

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/gc"
)

// vacuum drops the row versions that nobody can read any more, of the tables named or of the whole
// store, counts the rows that are left, and with FULL rewrites the store's files without the rest. It
// keeps nobody off the tables: the collector works beside readers and writers, as it does in the
// background.
func (s *Session) vacuum(ctx context.Context, st *ast.Maintenance) error {
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
	if len(st.Tables) == 0 {
		if err := s.collect(ctx, s.database, kv.Span{}, o.verbose); err != nil {
			return err
		}
		if err := s.engine.statistics.Sweep(ctx); err != nil {
			return err
		}
	}
	for _, t := range targets {
		name := s.database + "." + t.desc.Schema + "." + t.desc.Name
		if len(st.Tables) > 0 {
			span := table.TableSpan(t.desc.ID)
			if o.rowsOnly {
				span = table.IndexSpan(t.desc.ID, table.RowIndexID)
			}
			if err := s.collect(ctx, name, span, o.verbose); err != nil {
				return err
			}
		}
		rows, err := s.engine.statistics.Count(ctx, t.desc.ID)
		if err != nil {
			return err
		}
		s.info(o.verbose, "\"%s\": %d rows remain", name, rows)
		if o.analyze {
			if err := s.analyzeAlone(ctx, t, o.verbose); err != nil {
				return err
			}
		}
	}
	if o.full {
		return s.engine.opts.Compact(ctx)
	}
	return nil
}

// collect runs the collector over a span; the zero one is the whole store.
func (s *Session) collect(ctx context.Context, name string, span kv.Span, verbose bool) error {
	s.info(verbose, "vacuuming \"%s\"", name)
	began := time.Now()
	done, err := s.engine.store.CollectSpan(ctx, span)
	if errors.Is(err, gc.ErrClaimed) {
		return sqlerr.New(sqlerr.ObjectInUse, "another process that shares the store is vacuuming it")
	}
	if err != nil {
		return err
	}
	cutoff := time.UnixMilli(done.Safepoint.Physical())
	s.info(verbose, "finished vacuuming \"%s\": row and index versions: %d removed, %d are dead but not yet removable\n"+
		"removable cutoff: %s, which was %s ago\nlocks settled: %d\nelapsed: %.2f s",
		name, done.Versions, max(0, done.Records-done.Versions-done.Rows),
		cutoff.UTC().Format("2006-01-02 15:04:05.000Z"), began.Sub(cutoff).Round(time.Second), done.Locks, time.Since(began).Seconds())
	return nil
}
