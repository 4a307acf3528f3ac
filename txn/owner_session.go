package txn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/session"
	"github.com/minidb/minidb/txn/tso"
)

// ownerSession is the Store as the owner of locks: its id is in each of them, and as long as its lease
// lasts nobody takes the Store for dead (txn: I19).
//
// A session lives while its record is in the store. A process that finds the lease expired, by the
// oracle's time and no other, removes the record before it touches a lock; the owner renews only a
// record that is there. One of the two wins. An owner whose lease has expired takes a new session
// before it writes a lock or begins a transaction. Its running transactions go on unless their
// primaries were rolled back, which the commit point finds out.
//
// On an engine that several processes write to it has a record there, which a goroutine renews. The
// record also publishes the oldest start_ts of the Store's transactions. It is at or below that of
// each to come as well, for they draw theirs later (registry.oldest); so nothing is written when a
// transaction begins or ends, and what is published merely lags.
//
// On an exclusive engine nobody would read a record, and there is none: a lock with any other id was
// left by an earlier process, which is dead. So the session costs one timestamp at Open.
type ownerSession struct {
	now atomic.Pointer[session.Record] // as last written; set by Open
	mu  struct {
		sync.Mutex // held while the record is written
		// unsure says that a write of the record failed, so that the store may have a later Oldest.
		unsure bool
	}
}

// SessionID returns the id of the Store's session, which its locks have.
func (s *Store) SessionID() uint64 { return s.session.now.Load().ID }

// owner returns the id for a lock that is to be written now. A Store whose lease is past, because its
// process was paused, takes a new session: locks with the old id are fair game.
func (s *Store) owner(ctx context.Context) (uint64, error) {
	rec := s.session.now.Load()
	if s.exclusive {
		return rec.ID, nil
	}
	now, err := s.oracleTime(ctx)
	if err != nil {
		return 0, err
	}
	if !rec.Lapsed(now) {
		return rec.ID, nil
	}
	rec, err = s.renewSession(ctx)
	if err != nil {
		return 0, err
	}
	return rec.ID, nil
}

// RenewLease extends the lease of the Store's session and publishes its oldest start_ts, and its
// waits while anybody here looks for deadlock cycles. A goroutine does this every
// Options.LeaseRenewal, on an engine that is not exclusive.
func (s *Store) RenewLease(ctx context.Context) error {
	if s.exclusive {
		return nil
	}
	err := s.publishWaits(ctx)
	_, renewal := s.renewSession(ctx)
	return errors.Join(renewal, err)
}

// beginSession gives the Store its first session.
func (s *Store) beginSession(ctx context.Context) error {
	if !s.exclusive {
		_, err := s.renewSession(ctx)
		return err
	}
	now, err := s.source.Next(ctx)
	s.session.now.Store(&session.Record{ID: uint64(now), LeaseEnd: tso.Max})
	return err
}

// renewSession renews the session, or begins a new one when there is none or it has ended.
func (s *Store) renewSession(ctx context.Context) (*session.Record, error) {
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	return s.renewLocked(ctx)
}

func (s *Store) renewLocked(ctx context.Context) (*session.Record, error) {
	now, err := s.source.Next(ctx)
	if err != nil {
		return nil, err
	}
	old := s.session.now.Load()
	rec := session.Record{
		LeaseEnd: tso.New(now.Physical()+max(1, s.opts.Lease.Milliseconds()), 0),
		// now was drawn before: who is not registered yet will have a later start_ts.
		Oldest:    s.registry.oldest(now),
		Published: s.publication.number.Load(),
	}
	if old != nil && (!old.Lapsed(now) || s.session.mu.unsure) {
		rec.ID = old.ID
		err := s.writeSession(ctx, rec, func(r kv.Reader, b *kv.Batch) error {
			return session.Renew(ctx, r, b, rec, now)
		})
		if !errors.Is(err, session.ErrEnded) {
			return &rec, err
		}
	}
	rec.ID = uint64(now)
	err = s.writeSession(ctx, rec, func(_ kv.Reader, b *kv.Batch) error {
		session.Start(b, rec)
		return nil
	})
	if err == nil && old != nil {
		_ = s.removeSession(ctx, old.ID) // or whoever asks for it will
	}
	return &rec, err
}

// writeSession runs a step on the record, again if its answer was lost, and believes it only then.
func (s *Store) writeSession(ctx context.Context, rec session.Record, step kv.Step) error {
	s.session.mu.unsure = true
	for attempts := 1; ; attempts++ {
		unknown, err := s.update(ctx, [][]byte{kv.Row(session.Key(rec.ID))}, false, step)
		if err == nil {
			s.session.now.Store(&rec)
			s.session.mu.unsure = false
			return nil
		}
		if !unknown || attempts == unknownAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// publish makes sure that the session's record has an oldest start_ts at or below startTS. Requires:
// it is registered.
func (s *Store) publish(ctx context.Context, startTS tso.Timestamp) error {
	now, err := s.oracleTime(ctx)
	if err != nil {
		return err
	}
	s.session.mu.Lock()
	defer s.session.mu.Unlock()
	rec := s.session.now.Load()
	if rec.Oldest <= startTS && !rec.Lapsed(now) && !s.session.mu.unsure {
		return nil
	}
	_, err = s.renewLocked(ctx)
	return err
}

// keepSession renews the lease until Close.
func (s *Store) keepSession(ctx context.Context) {
	ticker := time.NewTicker(s.opts.LeaseRenewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.RenewLease(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Warn("renewal of the owner's lease", "err", err)
		}
	}
}

// endSession removes the record, so that nobody waits for locks that may be left.
func (s *Store) endSession(ctx context.Context) error {
	if s.exclusive {
		return nil
	}
	err := errors.Join(s.publishWaits(ctx), s.removeSession(ctx, s.SessionID()))
	if err != nil && !errors.Is(err, kv.ErrClosed) {
		return fmt.Errorf("end of the owner's session: %w", err)
	}
	return nil
}

func (s *Store) removeSession(ctx context.Context, id uint64) error {
	return kv.UpdateLazy(ctx, s.engine, [][]byte{kv.Row(session.Key(id))}, func(_ kv.Reader, b *kv.Batch) error {
		session.End(b, id)
		return nil
	})
}

// ownerDead judges the owner of a lock by the oracle's time: it is dead when its session has ended, or
// the lease is past, and then the session is ended first, so that all come to the same judgement and
// the owner, should it come back, too. An owner that did not say who it is has its locks' time to live.
func (s *Store) ownerDead(ctx context.Context, owner uint64, now tso.Timestamp) (bool, error) {
	rec := s.session.now.Load()
	if s.exclusive {
		return owner != rec.ID, nil
	}
	if owner == 0 || owner == rec.ID && !rec.Lapsed(now) {
		return false, nil
	}
	snap, err := s.engine.Snapshot()
	if err != nil {
		return false, err
	}
	seen, found, err := session.Get(ctx, snap, owner)
	if err := errors.Join(err, snap.Close()); err != nil || !found {
		return err == nil, err
	}
	if !seen.Lapsed(now) {
		return false, nil
	}
	_, alive, err := s.judge(ctx, owner, now)
	return !alive && err == nil, err
}

// judge ends the session if its lease is past.
func (s *Store) judge(ctx context.Context, id uint64, now tso.Timestamp) (rec session.Record, alive bool, err error) {
	// Durable: what follows from a session's end must not survive it.
	err = s.engine.Update(ctx, [][]byte{kv.Row(session.Key(id))}, func(r kv.Reader, b *kv.Batch) (err error) {
		rec, alive, err = session.Judge(ctx, r, b, id, now)
		return err
	})
	return rec, alive, err
}

// oldestOfAll returns the lowest start_ts that a living session has published, or bound if that is
// lower. Sessions whose lease is past are ended, and do not count.
func (s *Store) oldestOfAll(ctx context.Context, bound, now tso.Timestamp) (tso.Timestamp, error) {
	snap, err := s.engine.Snapshot()
	if err != nil {
		return 0, err
	}
	all, err := session.All(ctx, snap)
	if err := errors.Join(err, snap.Close()); err != nil {
		return 0, err
	}
	for _, rec := range all {
		if rec.Lapsed(now) {
			var alive bool
			if rec, alive, err = s.judge(ctx, rec.ID, now); err != nil {
				return 0, err
			} else if !alive {
				continue
			}
		}
		bound = min(bound, rec.Oldest)
	}
	return bound, nil
}
