package shared

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// SessionLocks are the locks of keys without values that a client has in the store over several
// transactions, such as advisory locks. They are cells of the row lock column as those of
// transactions are, and end with the session of this process, but they hold no safepoint: their
// start_ts is above every timestamp, so no transaction of the process is the oldest that could give
// them back.
//
// What the client has is what its owner holds in the memory of the process, where the locks are
// taken first. SessionLocks bring the store up to that (Lock), and down to it (Keep). They belong
// to the client's goroutine.
type SessionLocks struct {
	l     *RowLocks
	owner *rowlock.Owner
	held  map[string]sessionLock // by key; a lock of which it is not known counts as held
}

// sessionLock is a lock in the store.
type sessionLock struct {
	mode rowlock.Mode
	// unsure is set when an update whose answer was lost may have weakened the lock, or may yet.
	// Only a step that writes the row keeps it out (package kv).
	unsure bool
}

// aboveTimestamps is set in the start_ts of session locks.
const aboveTimestamps tso.Timestamp = 1 << 63

// NewSessionLocks returns the locks of a client, whose owner in memory is given, without any.
func (p *Peers) NewSessionLocks(ctx context.Context, owner *rowlock.Owner) (*SessionLocks, error) {
	ts, err := p.o.Source.Next(ctx)
	if err != nil {
		return nil, err
	}
	s := &SessionLocks{l: p.NewRowLocks(ts | aboveTimestamps), owner: owner,
		held: map[string]sessionLock{}}
	p.waits.mu.Lock()
	defer p.waits.mu.Unlock()
	if p.waits.clients == nil {
		p.waits.clients = map[*SessionLocks]struct{}{}
	}
	p.waits.clients[s] = struct{}{}
	return s, nil
}

// SessionRequest is what a client wants of a key.
type SessionRequest struct {
	Key       []byte
	Mode      rowlock.Mode // Share or Update
	NoWait    bool
	Timeout   time.Duration // bounds the wait; 0 is no bound
	Statement string
}

// Lock takes a lock in the store. The errors are those of the lock table. After one, Keep is to be
// called: the lock may be in the store nevertheless.
func (s *SessionLocks) Lock(ctx context.Context, r SessionRequest) error {
	held := s.held[string(r.Key)]
	if held.mode >= r.Mode && !held.unsure && !s.Lost() {
		return nil
	}
	q := &Request{
		Waiter: Waiter{StartTS: s.l.startTS, Client: uint64(s.owner.ID()),
			Statement: r.Statement, Owner: s.owner, Timeout: r.Timeout},
		Key: r.Key, Mode: r.Mode, NoWait: r.NoWait,
		ReadTS: tso.Max, // the key has no value, of whatever timestamp
		before: held.mode, asked: time.Now(), limit: math.MaxInt64,
	}
	if r.Timeout > 0 {
		q.limit = r.Timeout
	}
	mark := s.l.Mark()
	_, err := s.l.lockInStore(ctx, q)
	if err == nil || s.l.Mark() > mark { // or it is not known
		s.held[string(r.Key)] = sessionLock{max(held.mode, r.Mode), err != nil}
	}
	s.l.log = s.l.log[:min(1, len(s.l.log))] // for the session's sake
	return err
}

// Keep gives back in the store what the client does not hold any more: holds returns the mode that
// it has of a key. What could not be given back is tried again by the next call.
func (s *SessionLocks) Keep(holds func(key string) rowlock.Mode) {
	for key, held := range s.held {
		now := holds(key)
		if now >= held.mode {
			continue
		}
		switch err := s.weaken(key, now); {
		case err != nil && !errors.Is(err, kv.ErrClosed):
			s.l.p.o.Logger.Warn("an advisory lock could not be given back yet",
				"client", s.owner.ID(), "err", err)
			s.held[key] = sessionLock{held.mode, true}
		case now == rowlock.None:
			delete(s.held, key)
		default:
			s.held[key] = sessionLock{mode: now}
		}
	}
	if len(s.held) == 0 {
		s.l.log = nil
	}
}

// weaken leaves a lock in a mode, which may be none.
func (s *SessionLocks) weaken(key string, to rowlock.Mode) error {
	ctx, cancel := wait.Detached(context.Background())
	defer cancel()
	return s.l.p.unlockRows(ctx, s.l.startTS, []mvcc.KeepRow{{Row: mvcc.Row([]byte(key)), Mode: to,
		Had: mvcc.RowModes(0).With(rowlock.Share).With(rowlock.Update)}})
}

// Lost reports whether others may have taken the locks: the session of the process has ended since
// the first was taken, because its lease could not be renewed.
func (s *SessionLocks) Lost() bool {
	return len(s.held) > 0 && (s.l.lost || s.l.session != s.l.p.SessionID())
}

// Close gives everything back. What cannot be given back now is as soon as the store answers, or
// ends with the session of the process.
func (s *SessionLocks) Close() {
	p := s.l.p
	given := s.giveBack()
	p.waits.mu.Lock()
	delete(p.waits.clients, s)
	p.waits.mu.Unlock()
	if !given {
		p.leave(nil, s)
	}
}

// giveBack reports whether everything is given back.
func (s *SessionLocks) giveBack() bool {
	s.Keep(func(string) rowlock.Mode { return rowlock.None })
	return len(s.held) == 0
}

// check is RowLocks.Check of the locks that a client had when its transaction commits.
func (s *SessionLocks) check(commitTS tso.Timestamp) error {
	if s == nil {
		return nil
	}
	rec := s.l.p.session.now.Load()
	if !s.Lost() && !rec.Expired(commitTS) {
		return nil
	}
	for key := range s.held {
		return &mvcc.WriteConflictError{Key: []byte(key), StartTS: s.l.startTS,
			ConflictTS: commitTS}
	}
	return nil
}

// clientEdges join the transactions of clients with their session locks in the wait-for graph. They
// are two holders of locks, and while one of them waits the other gives nothing back. waiters are
// the transactions that wait, here or in memory. Requires: waits.mu is locked.
func (w *waits) clientEdges(owner uint64, waiters map[tso.Timestamp]bool) (out []lease.Wait) {
	for s := range w.clients {
		locks, transaction := s.l.startTS, tso.Timestamp(s.owner.Transaction())
		from, to := locks, transaction
		switch {
		case transaction == 0:
			continue
		case waiters[locks]:
			from, to = transaction, locks
		case !waiters[transaction]:
			continue
		}
		out = append(out, lease.Wait{Waiter: from, Owner: owner, Client: uint64(s.owner.ID()),
			Blockers: []tso.Timestamp{to}})
	}
	return out
}
