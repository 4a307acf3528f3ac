package txn

import (
	"context"

	"github.com/minidb/minidb/txn/tso"
)

// A Store is the owner of locks: the id of its session is in each of them (txn: I19). On an engine
// of this process's own the id is a timestamp that was drawn at Open, and needs no record: a lock
// with any other id was left by an earlier process, which is dead. Elsewhere the session has a
// lease in the store (package shared).

// SessionID returns the id of the Store's session, which its locks have.
func (s *Store) SessionID() uint64 {
	if s.peers != nil {
		return s.peers.SessionID()
	}
	return s.session
}

// RenewLease extends the lease of the Store's session, on an engine that is not exclusive. A
// goroutine does this every Options.LeaseRenewal.
func (s *Store) RenewLease(ctx context.Context) error { return s.peers.RenewLease(ctx) }

// owner returns the id for a lock that is to be written now.
func (s *Store) owner(ctx context.Context) (uint64, error) {
	if s.peers != nil {
		return s.peers.Owner(ctx)
	}
	return s.session, nil
}

// ownerDead reports whether the owner of a lock is dead, by the oracle's time.
func (s *Store) ownerDead(ctx context.Context, owner uint64, now tso.Timestamp) (bool, error) {
	if s.peers != nil {
		return s.peers.Dead(ctx, owner, now)
	}
	return owner != s.session, nil
}

// oldestOf returns the start_ts below which no transaction of an owner gives a row lock in the
// store back.
func (s *Store) oldestOf(ctx context.Context, owner uint64) (tso.Timestamp, error) {
	switch {
	case s.peers != nil:
		return s.peers.OldestOf(ctx, owner)
	case owner != s.session:
		return tso.Max, nil
	}
	return 0, nil
}

// join registers a new transaction: on a shared engine under a lease that lasts beyond its
// start_ts.
func (s *Store) join(ctx context.Context, reg *registration) error {
	join := s.registry.join
	if s.peers != nil {
		join = s.registry.joinAhead
	}
	for {
		if err := join(ctx, reg, s.source); err != nil {
			return err
		}
		lasts, err := s.peers.Lasts(ctx, reg.startTS)
		if lasts && err == nil {
			return nil
		}
		s.registry.leave(reg)
		if err != nil {
			return err
		}
	}
}

// joinPast registers a reader of the past, unless it is below the safepoint.
func (s *Store) joinPast(ctx context.Context, reg *registration, startTS tso.Timestamp) error {
	if s.peers == nil {
		return s.registry.joinAt(reg, startTS)
	}
	s.registry.link(reg, startTS)
	err := s.peers.JoinPast(ctx, startTS)
	if err != nil {
		s.registry.leave(reg)
	}
	return err
}
