package mvcc

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Rollback erases what the transaction prewrote on each row and leaves a record that stops a late
// prewrite. protected marks the record of a primary, which decides for the others and is therefore
// never collapsed. It may be repeated; a row that is committed makes it fail with *CommittedError.
func Rollback(
	ctx context.Context, r kv.Reader, b *kv.Batch, startTS tso.Timestamp, rows [][]byte,
	protected bool,
) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for _, row := range rows {
		if err := s.passed.pass(ctx); err != nil {
			return err
		}
		if err := s.rollBack(ctx, row, startTS, protected); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) rollBack(ctx context.Context, row []byte, startTS tso.Timestamp,
	protected bool) error {
	l, locked, err := s.lock(ctx, row)
	if err != nil {
		return err
	}
	if locked && l.StartTS == startTS {
		if l.Kind == KindPut && !l.HasShort {
			s.dropData(row, startTS)
		}
		notified := l.Notified
		s.dropLock(row)
		if notified {
			if err := s.eraseNotes(ctx, row, startTS); err != nil {
				return err
			}
		}
		return s.recordRollback(ctx, row, startTS, protected)
	}
	f, err := s.recordOf(ctx, row, startTS)
	switch {
	case err != nil:
		return err
	case f.commitTS != 0:
		return &CommittedError{StartTS: startTS, CommitTS: f.commitTS}
	case f.known:
		return nil
	}
	return s.recordRollback(ctx, row, startTS, protected)
}

// recordRollback writes the record and drops the unprotected rollback directly below it, so that a
// key on which many transactions fail keeps one such record and not a run of them. The dropped one
// stopped a late prewrite of a secondary. The primary's record does that too: a transaction that
// meets a lock which is written late asks the primary, and finds it rolled back.
func (s *step) recordRollback(ctx context.Context, row []byte, startTS tso.Timestamp,
	protected bool) error {
	var below tso.Timestamp
	err := s.history(ctx, row, startTS, func(commitTS tso.Timestamp, w Write) bool {
		collapsible := !w.Protected
		if w.Kind == KindRollback && collapsible && commitTS != startTS {
			below = commitTS
		}
		return false
	})
	if err != nil {
		return err
	}
	if below != 0 {
		s.dropWrite(row, below)
	}
	s.setWrite(row, startTS, &Write{Kind: KindRollback, StartTS: startTS, Protected: protected})
	return nil
}
