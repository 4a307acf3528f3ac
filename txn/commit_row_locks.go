package txn

import (
	"bytes"
	"context"
	"fmt"
	"sort"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
)

// rowLockedError ends a step of a commit that would write a key on which another owner has a lock.
type rowLockedError struct{ key []byte }

func (e *rowLockedError) Error() string { return fmt.Sprintf("key %q has a row lock", e.key) }

// writes reports whether a key is among the mutations, which is false for what was streamed out.
func (c *committer) writes(key []byte) bool {
	i := sort.Search(len(c.muts), func(i int) bool { return string(c.muts[i].Key) >= string(key) })
	return i < len(c.muts) && string(c.muts[i].Key) == string(key)
}

// modeOf returns the mode of the lock that a write of the key needs, if none was taken for it
// before.
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
		if c.s.rowLocks.Contested(c.t.waiter.Owner, muts[i].Key, modeOf(&muts[i])) {
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
		if !c.s.rowLocks.Contested(c.t.waiter.Owner, m.Key, mode) {
			continue
		}
		err := c.waiting(func() error {
			if c.t.shared != nil {
				_, err := c.t.shared.Lock(ctx, c.t.waiter.Request(m.Key, mode, c.t.readTS))
				return err
			}
			_, err := c.s.rowLocks.Lock(ctx, c.t.waiter.MakeOwner(), m.Key,
				rowlock.Request{Mode: mode, Timeout: c.t.waiter.Timeout})
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
				q := c.t.waiter.Request(m.Key, modeOf(m), c.t.readTS)
				q.Again = true
				_, err := c.t.shared.Lock(ctx, q)
				return err
			})
		}
	}
	return held
}
