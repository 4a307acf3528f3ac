package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/tso"
)

// Locking says how a transaction takes row locks, and what it does when it comes too late.
type Locking struct {
	// Owner holds them; nil is one that lives as long as the transaction.
	Owner *rowlock.Owner
	// Timeout bounds each wait; 0 is no bound.
	Timeout time.Duration
	// Writes says that whoever writes through the transaction locks first (LocksWrites). Without it
	// the transaction is optimistic: a conflict shows at Commit.
	Writes bool
	// Rereads says that a key written since the read timestamp is no conflict: LockCurrent answers
	// *StaleError, and the caller reads again after Advance.
	Rereads bool
	// Early says that a lock is enough to go on: what its last holder committed may be read before
	// it is durable. Nobody may be told what follows from it before AwaitDurable.
	Early bool
}

// StaleError says that a key which is locked now was written after the transaction's read
// timestamp, so that what was read of it must be read again.
type StaleError struct {
	Key      []byte
	CommitTS tso.Timestamp
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("key %q was written at %s, after it was read", e.Key, e.CommitTS)
}

// rowLockedError leaves a step of a commit that would write a key on which another owner has a
// lock.
type rowLockedError struct{ key []byte }

func (e *rowLockedError) Error() string { return fmt.Sprintf("key %q has a row lock", e.key) }

// RowLocks is the lock table of this process. On a store that others share, what it grants of rows
// is then taken in the store (package shared).
func (s *Store) RowLocks() *rowlock.Table { return &s.rowLocks }

// SetLocking chooses how the transaction locks from now on.
func (t *Txn) SetLocking(l Locking) {
	if l.Owner == nil {
		l.Owner = t.locking.Owner
	}
	t.locking = l
	if l.Owner != nil {
		l.Owner.SetTransaction(uint64(t.reg.startTS))
		l.Owner.SetStatement(t.statement)
	}
}

// LocksWrites reports whether keys are to be locked before they are written.
func (t *Txn) LocksWrites() bool { return t.locking.Writes }

// LocksBind reports whether row locks bind every writer of the store for as long as the transaction
// lasts. Where other processes write too they do so no longer than the lease of the owner's
// session, and what must stay as it is has to be validated as well.
func (t *Txn) LocksBind() bool { return t.s.alone }

// Rereads reports whether a key that was written since the read timestamp is no conflict
// (Locking.Rereads).
func (t *Txn) Rereads() bool { return t.locking.Rereads }

func (t *Txn) owner() *rowlock.Owner {
	if t.locking.Owner == nil {
		t.locking.Owner = t.s.rowLocks.NewOwner(0)
		t.locking.Owner.SetTransaction(uint64(t.reg.startTS))
		t.locking.Owner.SetStatement(t.statement)
	}
	return t.locking.Owner
}

// releaseLocks ends the transaction's locks, once what it wrote is visible.
func (t *Txn) releaseLocks() {
	if o := t.locking.Owner; o != nil {
		t.shared.ReleaseTo(0, t.hasWritten)
		o.ReleaseTo(0)
		o.SetTransaction(0)
	}
}

// Unlock gives back all locks of a transaction that has failed and waits for its end. What it has
// streamed out is rolled back, for that is locks too: nothing can be read or written any more.
func (t *Txn) Unlock() {
	if t.done {
		return
	}
	if t.stream != nil {
		t.rollbackStream(context.Background())
		if t.stream.failed == nil {
			t.stream.failed = ErrTxnDone
		}
	}
	if o := t.locking.Owner; o != nil {
		t.shared.ReleaseTo(0, nil)
		o.ReleaseTo(0)
	}
}

// LockKey takes the row lock of a key, waiting its turn, and tells what was written to the key by
// others after the read timestamp. The errors are those of the lock table, and *LockedError.
//
// The order is lock, then look. A commit looks at the lock table after it has entered the table of
// commits in flight, or under the latch under which it writes its prewrite; so of a commit and of
// this at least one sees the other (txn: I9). On a shared store lock and look are one step
// (mvcc.LockRow).
func (t *Txn) LockKey(ctx context.Context, key []byte, mode rowlock.Mode,
	noWait bool) (mvcc.Version, error) {
	return t.lockKey(ctx, key, mode, noWait, false)
}

// lockKey does so. With current, a version that makes the lock worthless may be an error at once.
func (t *Txn) lockKey(ctx context.Context, key []byte, mode rowlock.Mode, noWait,
	current bool) (mvcc.Version, error) {
	switch {
	case t.done:
		return mvcc.Version{}, ErrTxnDone
	case t.footprint() > t.s.opts.MaxTxnBytes:
		return mvcc.Version{}, ErrTooLarge
	}
	if t.shared != nil {
		return t.lockShared(ctx, key, mode, noWait, current)
	}
	for wait := (holderWait{lets: true}); ; {
		before := t.owner().Mark()
		out, err := t.lockInMemory(ctx, key, mode, noWait, &wait)
		if err != nil || out == rowlock.Held {
			// held: it was looked at then, and nobody could write it since
			return mvcc.Version{}, err
		}
		v, err := t.look(ctx, key, mode, noWait, &wait)
		if err == nil {
			return v, nil
		}
		t.owner().ReleaseTo(before)
		var away *streamedAwayError
		if !errors.As(err, &away) {
			return v, err
		}
		if err := t.awaitHolder(ctx, away.LockedError, mode, &wait); err != nil {
			return v, err
		}
	}
}

// lockShared is lockKey on a store that several processes write to.
func (t *Txn) lockShared(ctx context.Context, key []byte, mode rowlock.Mode, noWait,
	current bool) (mvcc.Version, error) {
	q := t.sharedRequest(key, mode)
	q.NoWait = noWait
	if current && !t.locking.Rereads {
		q.Stale = func(v mvcc.Version) error {
			if !changed(v, mode) {
				return nil
			}
			return t.Stale(key, v)
		}
	}
	return t.shared.Lock(ctx, q)
}

func (t *Txn) sharedRequest(key []byte, mode rowlock.Mode) *shared.Request {
	t.owner()
	return &shared.Request{Waiter: t.waiter(), Key: key, Mode: mode, ReadTS: t.readTS}
}

// lockInMemory takes the key's lock in the lock table. Others who wait for the transaction's own
// lock of it in the store have it there for a moment: they are no reason not to wait. To Update
// they may be one: a key share lock that was there before the write lasts.
func (t *Txn) lockInMemory(
	ctx context.Context, key []byte, mode rowlock.Mode, noWait bool, wait *holderWait,
) (rowlock.Outcome, error) {
	req := rowlock.Request{Mode: mode, NoWait: noWait, Timeout: t.locking.Timeout}
	began := time.Time{}
	if req.Timeout > 0 {
		began, req.Timeout = time.Now(), max(1, req.Timeout-wait.before)
	}
	out, err := t.s.rowLocks.Lock(ctx, t.owner(), key, req)
	if err == rowlock.ErrNotAvailable && t.stream != nil && mode < rowlock.Update {
		switch w, ownErr := t.streamed(ctx, key); {
		case ownErr != nil:
			return out, ownErr
		case w.kind != 0:
			req.NoWait = false
			out, err = t.s.rowLocks.Lock(ctx, t.owner(), key, req)
		}
	}
	if req.Timeout > 0 {
		wait.before += time.Since(began)
	}
	return out, err
}

// streamedAwayError is the *LockedError of a transaction that streams: its lock in the store may be
// all that it has. Who waits for it must not keep it from its own key by a row lock.
type streamedAwayError struct{ *LockedError }

func (e *streamedAwayError) Unwrap() error { return e.LockedError }

// LockCurrent is LockKey of a key as it was read: if others wrote it meanwhile, the answer is
// *StaleError or *WriteConflictError, as Locking.Rereads says. A key share lock, which cares for
// the row's existence alone, lets changes pass. To whom a change is a conflict, it is one before
// the lock is had: there is nothing to wait for.
func (t *Txn) LockCurrent(ctx context.Context, key []byte, mode rowlock.Mode, noWait bool) error {
	if !t.locking.Rereads && !t.done && t.s.rowLocks.Contested(t.locking.Owner, key, mode) {
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

// Stale is the error for a key that another wrote after the read timestamp.
func (t *Txn) Stale(key []byte, v mvcc.Version) error {
	if t.locking.Rereads {
		return &StaleError{Key: append([]byte(nil), key...), CommitTS: v.CommitTS}
	}
	return &WriteConflictError{Key: append([]byte(nil), key...), StartTS: t.reg.startTS,
		ConflictTS: v.CommitTS, Deleted: !v.Live}
}

// newest is look of one who has no row lock to let go of.
func (t *Txn) newest(ctx context.Context, key []byte, mode rowlock.Mode, noWait bool) (mvcc.Version,
	error) {
	return t.look(ctx, key, mode, noWait, &holderWait{})
}

// look looks for writes of the key after the read timestamp. On an engine of this process's own,
// memory tells in nearly all cases that there are none. A lock of a running transaction in the
// store is waited for like a row lock, under the same bounds; with wait.lets the answer may be
// *streamedAwayError, and the caller waits.
func (t *Txn) look(ctx context.Context, key []byte, mode rowlock.Mode, noWait bool,
	wait *holderWait) (mvcc.Version, error) {
	row := mvcc.Row(key)
	if t.s.alone {
		if err := t.awaitKey(ctx, key); err != nil {
			return mvcc.Version{}, err
		}
		if t.unlocked(key) && t.s.recent.unchangedSince(row, t.readTS) {
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
			err = t.awaitKey(ctx, key) // what is answered rests on what is durable
		}
		if !errors.As(err, &locked) {
			return v, err
		}
		out, err := t.s.resolver.settle(ctx, locked, 0)
		if err != nil {
			return v, err
		}
		if out == lockSettled {
			continue
		}
		if noWait {
			return v, rowlock.ErrNotAvailable
		}
		if wait.lets && t.s.lockHolders.streaming(locked.Lock.StartTS) {
			return v, &streamedAwayError{locked}
		}
		if err := t.awaitHolder(ctx, locked, mode, wait); err != nil {
			return v, err
		}
	}
}

// unlocked reports whether memory knows that nobody else has a lock on the key in the store, or is
// about to have one without looking for row locks first.
func (t *Txn) unlocked(key []byte) bool {
	var own *lockHolder
	if t.stream != nil {
		own = t.stream.lockHolder
	}
	return t.s.lockHolders.noneBut(own, func(s kv.Span) bool { return s.Contains(key) })
}

// hasWritten reports whether the transaction has committed a write of the key.
func (t *Txn) hasWritten(key string) bool {
	if t.commitTS == 0 || t.stream != nil {
		return false
	}
	w, ok := t.buf.get([]byte(key))
	return ok && (w.kind == writePut || w.kind == writeDelete)
}

// writes reports whether a key is among the mutations, which is not known of one that streams.
func (c *committer) writes(key []byte) bool {
	i := sort.Search(len(c.muts), func(i int) bool { return string(c.muts[i].Key) >= string(key) })
	return i < len(c.muts) && string(c.muts[i].Key) == string(key)
}

// modeOf is the lock that a write of the key needs when nobody took one for it before.
func modeOf(m *mvcc.Mutation) rowlock.Mode {
	if m.Kind == mvcc.KindDelete || m.MustNotExist {
		return rowlock.Update
	}
	return rowlock.NoKeyUpdate
}

// checkRowLocks refuses to write what another owner has locked. It runs inside a step.
func (c *committer) checkRowLocks(muts []mvcc.Mutation) error {
	if c.s.rowLocks.Empty() {
		return nil
	}
	for i := range muts {
		if c.s.rowLocks.Contested(c.t.locking.Owner, muts[i].Key, modeOf(&muts[i])) {
			return &rowLockedError{key: muts[i].Key}
		}
	}
	return nil
}

// awaitRowLocks waits its turn for every key that another owner has locked, and keeps it. Of the
// goroutines of a commit one at a time may do so: an owner waits in one place.
func (c *committer) awaitRowLocks(ctx context.Context) error {
	if c.s.rowLocks.Empty() {
		return nil
	}
	c.locking.Lock()
	defer c.locking.Unlock()
	for i := range c.muts {
		m := &c.muts[i]
		mode := modeOf(m)
		if !c.s.rowLocks.Contested(c.t.locking.Owner, m.Key, mode) {
			continue
		}
		err := c.waiting(func() error {
			if c.t.shared != nil {
				_, err := c.t.shared.Lock(ctx, c.t.sharedRequest(m.Key, mode))
				return err
			}
			_, err := c.s.rowLocks.Lock(ctx, c.t.owner(), m.Key,
				rowlock.Request{Mode: mode, Timeout: c.t.locking.Timeout})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitRowRecord waits for the row locks that others have of a key in the store, and takes its own.
func (c *committer) awaitRowRecord(ctx context.Context, muts []mvcc.Mutation,
	held *mvcc.RowLockedError) error {
	c.locking.Lock()
	defer c.locking.Unlock()
	for i := range muts {
		if m := &muts[i]; bytes.Equal(m.Key, held.Key) {
			return c.waiting(func() error {
				q := c.t.sharedRequest(m.Key, modeOf(m))
				q.Again = true
				_, err := c.t.shared.Lock(ctx, q)
				return err
			})
		}
	}
	return held
}

// Contested reports whether another owner holds the key in a mode that excludes the given one.
func (t *Txn) Contested(ctx context.Context, key []byte, mode rowlock.Mode) (bool, error) {
	if t.s.rowLocks.Contested(t.locking.Owner, key, mode) {
		return true, nil
	}
	if t.shared != nil {
		return t.shared.Contested(ctx, key, mode)
	}
	if t.s.lockHolders.streams.Load() == 0 {
		return false, nil
	}
	_, err := t.newest(ctx, key, mode, true)
	if errors.Is(err, rowlock.ErrNotAvailable) {
		return true, nil
	}
	return false, err
}

// InsertAfter is Insert of a key that the transaction has locked and found removed at a timestamp
// above the one at which it reads: no write up to that one is a conflict.
func (t *Txn) InsertAfter(removed tso.Timestamp, key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	if t.node != nil {
		if err := t.node.Overwrite(key); err != nil {
			return err
		}
	}
	if err := t.faultIn(key); err != nil {
		return err
	}
	base := t.buf.base
	t.buf.base = max(base, removed)
	t.buf.insert(key, value)
	t.buf.base = base
	return t.afterWrite()
}

// Streams reports whether some of the transaction's writes are in the store already.
func (t *Txn) Streams() bool { return t.stream != nil }

// Buffered reports whether the transaction has put a key, and nothing of it is in the store yet.
func (t *Txn) Buffered(key []byte) bool {
	w, ok := t.buf.get(key)
	return ok && w.kind == writePut && t.stream == nil
}

// SetAfter is Set of a key, of which no write of others up to a timestamp is a conflict, whatever
// the transaction has read of it. Requires: Buffered(key), and the transaction is not serializable.
func (t *Txn) SetAfter(since tso.Timestamp, key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	t.buf.setAfter(since, key, value)
	return t.afterWrite()
}
