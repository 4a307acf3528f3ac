package txn

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// settleLarge is the goroutine. When Close has begun it takes one more step of each and ends: what
// is left then is settled after the next Open.
func (s *Store) settleLarge(ctx context.Context) {
	for last := false; !last; {
		select {
		case <-s.large.wake:
		case <-ctx.Done():
			last = true
		}
		for w, ok := s.large.next(); ok; w, ok = s.large.next() {
			began := time.Now()
			if s.settleStep(context.WithoutCancel(ctx), &w) && !s.closes() {
				s.large.add(w)
				s.restAfter(time.Since(began))
			}
		}
	}
}

// largeRest is how many times as long as a batch took the goroutine rests after it: nobody waits
// for what it does, and others want the processors.
const largeRest = 2

// restAfter rests after a batch, until Close.
func (s *Store) restAfter(batch time.Duration) {
	timer := time.NewTimer(largeRest * batch)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.closing.ch:
	}
}

// settleLater hands work to the background. What is large never keeps the caller; a few rows are
// settled here when the background has enough to do.
func (s *Store) settleLater(ctx context.Context, w secondaryWork) {
	if s.opts.CrashPoint == nil {
		if !w.isFew() {
			s.large.add(w)
			return
		}
		select {
		case s.secondaries <- w:
			return
		default:
		}
	}
	s.commitBatches(context.WithoutCancel(ctx), w)
}

// commitBatches settles the locks of a decided transaction. What it cannot do is left to whoever
// meets the locks: the primary's record says what to do with them.
func (s *Store) commitBatches(ctx context.Context, w secondaryWork) {
	finish := w.isFew()
	for more := true; more && (finish || !s.closes()); {
		more = s.settleStep(ctx, &w)
	}
}

// settleStep settles the next batch of a transaction's locks, and reports whether there is more to
// do.
func (s *Store) settleStep(ctx context.Context, w *secondaryWork) (more bool) {
	var err error
	switch {
	case w.streamed.End != nil:
		more, err = s.settleStreamed(ctx, w)
	case len(w.batches) > 0:
		more, err = s.settleBatch(ctx, w)
	default:
		s.memory.LockHolders.Leave(w.startTS) // it was all primary
		return false
	}
	switch {
	case err != nil:
		s.opts.Logger.Warn("locks left to readers", "start_ts", w.startTS, "err", err)
		return false
	case s.at(AfterSecondaryBatch) != nil:
		return false
	case !more:
		s.memory.LockHolders.Leave(w.startTS)
	}
	return more
}

// settleBatch settles the first batch that is left.
func (s *Store) settleBatch(ctx context.Context, w *secondaryWork) (more bool, err error) {
	b := &w.batches[0]
	w.batches = w.batches[1:]
	if w.undo {
		return len(w.batches) > 0, s.undoBatch(ctx, w, b)
	}
	s.memory.Recent.Resolving(w.startTS, w.commitTS, b.rows)
	err = kv.UpdateLazy(ctx, s.engine, b.rows,
		func(r kv.Reader, kb *kv.Batch) error { return w.commit(ctx, r, kb, b) })
	return len(w.batches) > 0, err
}

// undoBatch rolls back a batch of a transaction whose primary is rolled back, with records that
// stop a late prewrite.
func (s *Store) undoBatch(ctx context.Context, w *secondaryWork, b *batch) error {
	s.memory.Recent.RollingBack(w.startTS, b.rows...)
	return kv.UpdateLazy(ctx, s.engine, b.rows, func(r kv.Reader, kb *kv.Batch) error {
		return mvcc.Rollback(ctx, r, kb, w.startTS, b.rows, false)
	})
}

// settleStreamed settles the first locks in the span: which keys they are nobody remembers.
func (s *Store) settleStreamed(ctx context.Context, w *secondaryWork) (more bool, err error) {
	rows, next, err := s.locksOf(ctx, w.streamed, w.startTS)
	for len(rows) > 0 && err == nil {
		n := 1
		for n < len(rows) && kv.GroupOf(s.engine, rows[n]) == kv.GroupOf(s.engine, rows[0]) {
			n++
		}
		some := rows[:n]
		rows = rows[n:]
		s.memory.Recent.Resolving(w.startTS, w.commitTS, some)
		err = kv.UpdateLazy(ctx, s.engine, some, func(r kv.Reader, b *kv.Batch) error {
			return mvcc.Resolve(ctx, r, b, w.startTS, w.commitTS, some)
		})
	}
	if err != nil || next == nil {
		return false, err
	}
	w.streamed.Start = next
	s.memory.LockHolders.Shrink(w.startTS, w.streamed)
	return true, nil
}

// locksOf returns the rows of the transaction's first locks in the span, and where to go on.
func (s *Store) locksOf(ctx context.Context, span kv.Span, startTS tso.Timestamp) (rows [][]byte,
	next []byte, err error) {
	snap, err := s.engine.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	return mvcc.LockedRows(ctx, snap, span, startTS, s.opts.BatchKeys)
}
