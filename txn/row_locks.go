package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/buffer"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// StaleError is returned for a key which is locked now, but was written after the transaction's
// read timestamp: what was read of it must be read again.
type StaleError struct {
	Key      []byte
	CommitTS tso.Timestamp
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("key %q was written at %s, after it was read", e.Key, e.CommitTS)
}

// RowLocks is the lock table of this process. On a store that others share, what it grants of rows
// is then taken in the store (package shared).
func (s *Store) RowLocks() *rowlock.Table { return &s.rowLocks }

// LockKey takes the row lock of a key, waiting its turn, and returns what others wrote to the key
// after the read timestamp. The errors are those of the lock table, and *LockedError.
//
// The key is locked first and checked for writes then. A commit checks the lock table after it has
// entered the table of commits in flight, or under the latch under which it writes its prewrite. So
// at least one of a commit and this call sees the other (txn: I9). On a shared store locking and
// checking are one step (mvcc.LockRow).
func (t *Txn) LockKey(ctx context.Context, key []byte, mode rowlock.Mode,
	noWait bool) (mvcc.Version, error) {
	if t.aside(key) {
		return mvcc.Version{}, nil // no other session writes it
	}
	return t.lockKey(ctx, key, mode, noWait, false)
}

// TryLock takes the row lock of a key, if no other transaction has it, and calls keep with what
// others wrote to the key after the read timestamp. Unless keep returns true, the lock is given
// back. kept reports whether the transaction has it.
func (t *Txn) TryLock(ctx context.Context, key []byte, mode rowlock.Mode,
	keep func(mvcc.Version) (bool, error)) (kept bool, err error) {
	if t.aside(key) {
		return keep(mvcc.Version{})
	}
	memory, store := t.waiter.MakeOwner().Mark(), t.shared.Mark()
	v, err := t.LockKey(ctx, key, mode, true)
	if errors.Is(err, rowlock.ErrNotAvailable) {
		return false, nil
	}
	if err == nil {
		kept, err = keep(v)
	}
	if err != nil || !kept {
		t.shared.ReleaseTo(store)
		t.waiter.MakeOwner().ReleaseTo(memory)
	}
	return kept && err == nil, err
}

// lockKey is LockKey. With current, a version that makes the lock worthless may be an error at
// once.
func (t *Txn) lockKey(ctx context.Context, key []byte, mode rowlock.Mode, noWait,
	current bool) (mvcc.Version, error) {
	switch {
	case t.done:
		return mvcc.Version{}, ErrTxnDone
	case t.footprint() > t.s.opts.MaxTxnBytes:
		return mvcc.Version{}, ErrTooLarge
	}
	if err := t.Confirm(ctx); err != nil {
		return mvcc.Version{}, err
	}
	if t.shared != nil {
		return t.lockShared(ctx, key, mode, noWait, current)
	}
	for wait := (rowWait{lets: true}); ; {
		before := t.waiter.MakeOwner().Mark()
		out, err := t.lockInMemory(ctx, key, mode, noWait, &wait)
		if err != nil || out == rowlock.Held {
			// held before: it was checked then, and no other transaction could write it since
			return mvcc.Version{}, err
		}
		v, err := t.look(ctx, key, mode, noWait, &wait)
		if err == nil {
			return v, nil
		}
		t.waiter.MakeOwner().ReleaseTo(before)
		var away *streamedAwayError
		if !errors.As(err, &away) {
			return v, err
		}
		if err := t.waiter.AwaitHolder(ctx, away.LockedError, mode, &wait.HolderWait); err != nil {
			return v, err
		}
	}
}

// lockShared is lockKey on a store that several processes write to.
func (t *Txn) lockShared(ctx context.Context, key []byte, mode rowlock.Mode, noWait,
	current bool) (mvcc.Version, error) {
	q := t.waiter.Request(key, mode, t.readTS)
	q.NoWait = noWait
	if current && !t.rereads {
		q.Stale = func(v mvcc.Version) error {
			if !changed(v, mode) {
				return nil
			}
			return t.Stale(key, v)
		}
	}
	return t.shared.Lock(ctx, q)
}

// lockInMemory takes the key's lock in the lock table. A request with NoWait waits all the same
// where the transaction has the key locked in the store: other owners of the row lock in memory
// wait for that lock, and so give the row lock back in a moment. It does not for Update, because a
// key share lock that was there before the write lasts.
func (t *Txn) lockInMemory(
	ctx context.Context, key []byte, mode rowlock.Mode, noWait bool, wait *rowWait,
) (rowlock.Outcome, error) {
	req := rowlock.Request{Mode: mode, NoWait: noWait, Timeout: t.waiter.Timeout}
	began := time.Time{}
	if req.Timeout > 0 {
		began, req.Timeout = time.Now(), max(1, req.Timeout-wait.Before)
	}
	out, err := t.s.rowLocks.Lock(ctx, t.waiter.MakeOwner(), key, req)
	if err == rowlock.ErrNotAvailable && t.stream != nil && mode < rowlock.Update {
		switch w, ownErr := t.streamed(ctx, key); {
		case ownErr != nil:
			return out, ownErr
		case w.Kind != 0:
			req.NoWait = false
			out, err = t.s.rowLocks.Lock(ctx, t.waiter.MakeOwner(), key, req)
		}
	}
	if req.Timeout > 0 {
		wait.Before += time.Since(began)
	}
	return out, err
}

// rowWait is the wait of one request for a row lock.
type rowWait struct {
	lockwait.HolderWait
	lets bool // the row lock in memory can be given back meanwhile (streamedAwayError)
}

// streamedAwayError is the *LockedError of a transaction that streams: its lock in the store may be
// all that it has. A transaction that waits for it must not hold the row lock meanwhile, or it
// would keep the other one from its own key.
type streamedAwayError struct{ *LockedError }

func (e *streamedAwayError) Unwrap() error { return e.LockedError }

// LockCurrent is LockKey of a key as it was read: if others wrote it meanwhile, the error is
// *StaleError or *WriteConflictError, as Locking.Rereads decides. A key share lock only needs the
// row to exist, and lets changes pass. Where a change is a conflict, it is returned before the lock
// is waited for.
func (t *Txn) LockCurrent(ctx context.Context, key []byte, mode rowlock.Mode, noWait bool) error {
	if t.aside(key) {
		return nil
	}
	if !t.rereads && !t.done && t.s.rowLocks.Contested(t.waiter.Owner, key, mode) {
		v, err := t.newest(ctx, key, mode, noWait)
		if err == nil && changed(v, mode) {
			err = t.Stale(key, v)
		}
		if err != nil {
			return err
		}
	}
	v, err := t.lockKey(ctx, key, mode, noWait, true)
	if err != nil || !changed(v, mode) {
		return err
	}
	return t.Stale(key, v)
}

// changed reports whether a version found after the read timestamp concerns a request for a lock in
// that mode.
func changed(v mvcc.Version, mode rowlock.Mode) bool {
	return v.CommitTS != 0 && !(mode == rowlock.KeyShare && v.Live)
}

// Stale returns the error for a key that another transaction wrote after the read timestamp.
func (t *Txn) Stale(key []byte, v mvcc.Version) error {
	if t.rereads {
		return &StaleError{Key: append([]byte(nil), key...), CommitTS: v.CommitTS}
	}
	return &WriteConflictError{Key: append([]byte(nil), key...), StartTS: t.reg.startTS,
		ConflictTS: v.CommitTS, Deleted: !v.Live}
}

// newest is look for a transaction that does not hold the row lock.
func (t *Txn) newest(ctx context.Context, key []byte, mode rowlock.Mode, noWait bool) (mvcc.Version,
	error) {
	return t.look(ctx, key, mode, noWait, &rowWait{})
}

// look returns the newest write of the key after the read timestamp. On an engine of this process's
// own, memory shows in nearly all cases that there is none. A lock of a running transaction in the
// store is waited for like a row lock, under the same bounds. With wait.lets the error may be
// *streamedAwayError, and the caller waits.
func (t *Txn) look(ctx context.Context, key []byte, mode rowlock.Mode, noWait bool,
	wait *rowWait) (mvcc.Version, error) {
	row := mvcc.Row(key)
	if t.s.alone {
		if err := t.awaitKey(ctx, key); err != nil {
			return mvcc.Version{}, err
		}
		if t.unlocked(key) && t.s.memory.Recent.UnchangedSince(row, t.readTS) {
			return mvcc.Version{}, nil
		}
	}
	for {
		var v mvcc.Version
		err := kv.UpdateLazy(ctx, t.s.engine, [][]byte{row},
			func(r kv.Reader, _ *kv.Batch) (err error) {
				if err := t.s.peers.CheckSafepoint(ctx, r, t.readTS); err != nil {
					return err
				}
				v, err = mvcc.Newest(ctx, r, key, t.reg.startTS, t.readTS)
				return err
			})
		var locked *LockedError
		if err == nil && v.CommitTS != 0 && t.s.alone {
			err = t.awaitKey(ctx, key) // what is returned must be durable
		}
		if !errors.As(err, &locked) {
			return v, err
		}
		out, err := t.s.resolver.Settle(ctx, locked, 0)
		if err != nil {
			return v, err
		}
		if out == resolve.Settled {
			continue
		}
		if noWait {
			return v, rowlock.ErrNotAvailable
		}
		if wait.lets && t.s.memory.LockHolders.Streaming(locked.Lock.StartTS) {
			return v, &streamedAwayError{locked}
		}
		if err := t.waiter.AwaitHolder(ctx, locked, mode, &wait.HolderWait); err != nil {
			return v, err
		}
	}
}

// unlocked reports whether memory knows that no other transaction has a lock on the key in the
// store, or is about to have one without checking for row locks first.
func (t *Txn) unlocked(key []byte) bool {
	var own *hints.LockHolder
	if t.stream != nil {
		own = t.stream.LockHolder()
	}
	return t.s.memory.LockHolders.NoneBut(own, func(s kv.Span) bool { return s.Contains(key) })
}

// Contested reports whether another owner holds the key in a mode that excludes the given one.
func (t *Txn) Contested(ctx context.Context, key []byte, mode rowlock.Mode) (bool, error) {
	if t.aside(key) {
		return false, nil
	}
	if t.s.rowLocks.Contested(t.waiter.Owner, key, mode) {
		return true, nil
	}
	if t.shared != nil {
		return t.shared.Contested(ctx, key, mode)
	}
	if !t.s.memory.LockHolders.AnyStreams() {
		return false, nil
	}
	_, err := t.newest(ctx, key, mode, true)
	if errors.Is(err, rowlock.ErrNotAvailable) {
		return true, nil
	}
	return false, err
}

// Streams reports whether some of the transaction's writes are in the store already.
func (t *Txn) Streams() bool { return t.stream != nil }

// Buffered reports whether the transaction has put a key, and nothing of it is in the store yet.
func (t *Txn) Buffered(key []byte) bool {
	if t.aside(key) {
		return t.companion != nil && t.companion.Buffered(key)
	}
	w, ok := t.buf.Get(key)
	return ok && w.Kind == buffer.Put && t.stream == nil
}
