package txn

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/tso"
)

// The safepoint of a store that several processes share (txn: I20). Versions are dropped only after
// the safepoint that allows it is in the store. So whoever reads the safepoint in the very state of the
// store in which it reads, or checks, anything else, and finds it at or below its own timestamp, knows
// that nothing it should find is gone. That alone keeps answers right, whatever a process believes of
// its lease. Sessions publish their oldest start_ts so that the refusal does not come about.
//
// Readers of the past publish their start_ts and then look for a raise under way; a collector
// announces its target and then looks for readers. One process collects at a time. One that lost its
// claim while it was paused drops nothing that the recorded safepoint does not allow.
//
// A transaction does not begin below a safepoint. Its start_ts is drawn under a lease that lasts
// beyond it, so the session's record was there. A collector draws its target first and reads the
// sessions then: if it finds the record, that bounds the transaction; if it finds none, the record was
// written later, and start_ts drawn later still, so it is above the target; if it finds the lease
// past, by a time drawn after the lease's end, start_ts is below that time, and the transaction has
// outlived its lease.

// checkSafepoint refuses what is based on a timestamp below the safepoint of the reader's state. On an
// exclusive engine the registry holds the safepoint back instead.
func (s *Store) checkSafepoint(ctx context.Context, r kv.Reader, ts tso.Timestamp) error {
	if s.exclusive {
		return nil
	}
	point, err := s.safepointIn(ctx, r)
	if err == nil && ts < point {
		err = &SafepointError{StartTS: ts, Safepoint: point}
	}
	return err
}

// safepointIn returns the safepoint of the reader's state: zero on an exclusive engine.
func (s *Store) safepointIn(ctx context.Context, r kv.Reader) (tso.Timestamp, error) {
	if s.exclusive {
		return 0, nil
	}
	safe, err := gc.ReadSafepoint(ctx, r)
	return safe.Point, err
}

// joinPast registers a reader of the past on a shared engine: it publishes start_ts and then looks at
// the safepoint, so that a collector sees the one, or it the other (gc.Safepoint).
func (s *Store) joinPast(ctx context.Context, reg *registration, startTS tso.Timestamp) error {
	s.registry.link(reg, startTS)
	err := s.publish(ctx, startTS)
	var safe gc.Safepoint
	if err == nil {
		safe, err = s.readSafepoint(ctx)
	}
	if err == nil && safe.Bars(startTS) {
		err = &SafepointError{StartTS: startTS, Safepoint: max(safe.Point, safe.Target)}
	}
	if err != nil {
		s.registry.leave(reg)
	}
	return err
}

func (s *Store) readSafepoint(ctx context.Context) (safe gc.Safepoint, err error) {
	snap, err := s.engine.Snapshot()
	if err != nil {
		return safe, err
	}
	safe, err = gc.ReadSafepoint(ctx, snap)
	s.registry.note(safe.Point)
	return safe, errors.Join(err, snap.Close())
}

// join registers a new transaction. On a shared engine it does so under a lease that lasts.
func (s *Store) join(ctx context.Context, reg *registration) error {
	for {
		if err := s.registry.join(ctx, reg, s.source); err != nil || s.exclusive {
			return err
		}
		if !s.session.now.Load().Lapsed(reg.startTS) {
			return nil
		}
		s.registry.leave(reg)
		if _, err := s.renewSession(ctx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// claim makes this Store the one that collects, and announces the target. One whose session has ended
// is succeeded.
func (s *Store) claim(ctx context.Context, own uint64, target, now tso.Timestamp) error {
	dead := uint64(0)
	for {
		var found gc.Safepoint
		err := s.engine.Update(ctx, [][]byte{gc.SafepointRow()}, func(r kv.Reader, b *kv.Batch) (err error) {
			found, err = gc.Claim(ctx, r, b, own, dead, target)
			return err
		})
		if !errors.Is(err, gc.ErrClaimed) {
			return err
		}
		gone, judged := s.ownerDead(ctx, found.Collector, now)
		if judged != nil || !gone {
			return errors.Join(err, judged)
		}
		dead = found.Collector
	}
}

// raiseShared moves the safepoint up to candidate, or to the oldest start_ts that a living session has
// published. Requires: candidate is at or below now, which was drawn before. The claim stays.
func (s *Store) raiseShared(ctx context.Context, candidate, now tso.Timestamp) (tso.Timestamp, error) {
	rec, err := s.renewSession(ctx) // what we publish ourselves shall not hold us back
	if err != nil {
		return 0, err
	}
	if err := s.claim(ctx, rec.ID, candidate, now); err != nil {
		return 0, err
	}
	oldest, err := s.oldestOfAll(ctx, candidate, now)
	if err != nil {
		return 0, err
	}
	var point tso.Timestamp
	// Durable, and before anything is dropped.
	err = s.engine.Update(ctx, [][]byte{gc.SafepointRow()}, func(r kv.Reader, b *kv.Batch) (err error) {
		point, err = gc.Raise(ctx, r, b, rec.ID, oldest)
		return err
	})
	if err != nil {
		return 0, err
	}
	s.registry.note(point)
	return point, nil
}

// releaseClaim gives the claim up after a pass.
func (s *Store) releaseClaim(ctx context.Context) error {
	if s.exclusive {
		return nil
	}
	return kv.UpdateLazy(ctx, s.engine, [][]byte{gc.SafepointRow()}, func(r kv.Reader, b *kv.Batch) error {
		return gc.Release(ctx, r, b, s.SessionID())
	})
}
