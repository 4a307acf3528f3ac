package txn

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Get returns the newest committed value of a key, or nil: a point read without a timestamp. It
// sees every commit that was acknowledged before the call. It draws no timestamp, which on a store
// that several processes share saves the way to the oracle, and begins no transaction unless the
// key may be locked. The value is the caller's own.
//
// Two calls do not belong together, as two reads of one transaction do. But no later read takes
// back what a call returned: the commit's timestamp was drawn before the call returned, so a
// transaction that begins after it starts above, and another Get finds the record, or a newer one.
func (s *Store) Get(ctx context.Context, key []byte) ([]byte, error) {
	value, known, err := s.getNewest(ctx, key)
	if known || err != nil {
		return value, err
	}
	t, err := s.Begin(ctx, BeginOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	value, err = t.Get(ctx, key)
	value = bytes.Clone(value)
	return value, errors.Join(err, t.Rollback(ctx))
}

// getNewest is Get where that needs no transaction.
func (s *Store) getNewest(ctx context.Context, key []byte) (value []byte, known bool, err error) {
	if err := s.enter(); err != nil {
		return nil, false, err
	}
	defer s.gate.RUnlock()
	if s.alone {
		return s.getKept(ctx, key)
	}
	snap, err := s.engine.Snapshot()
	if err != nil {
		return nil, false, err
	}
	v := s.memory.Snapshots.NewSnapshot(snap)
	// A lock that may be a committed transaction's is in the same snapshot as what it hides.
	value, err = v.View.Get(ctx, key, mvcc.ReadParams{StartTS: tso.Max})
	value = bytes.Clone(value)
	var locked *LockedError
	known = !errors.As(err, &locked) && !errors.Is(err, kv.ErrSnapshotGone)
	if !known {
		err = nil
	}
	return value, known, errors.Join(err, v.Close())
}

// getKept reads from a snapshot that a transaction left, if it shows the newest value. A committed
// transaction raises its rows' slots of recent commits before it leaves the lock holders. So if
// there are no lock holders, and then the slot is at or below the timestamp up to which the
// snapshot is complete, no commit is missing from the snapshot, and what it shows is durable.
func (s *Store) getKept(ctx context.Context, key []byte) (value []byte, known bool, err error) {
	if !s.memory.LockHolders.None() {
		return nil, false, nil
	}
	v := s.memory.Snapshots.Take()
	if v == nil {
		return nil, false, nil
	}
	recent := s.memory.Recent
	if recent.Newest() <= v.UpTo || recent.UnchangedSince(v.View.Row(key), v.UpTo) {
		known = true
		p := mvcc.ReadParams{StartTS: v.UpTo, NoLocks: !v.Locks.Has(key), Decided: v.Locks.Decided}
		if value, err = v.View.Get(ctx, key, p); err != nil {
			v.KeepPrivate()
		}
		value = bytes.Clone(value)
	}
	return value, known, errors.Join(err, s.memory.Snapshots.Release(v))
}
