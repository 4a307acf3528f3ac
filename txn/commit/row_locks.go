package commit

import (
	"bytes"
	"context"
	"sort"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
)

// writes reports whether a key is among the mutations, which is false for what was streamed out.
func (c *committer) writes(key []byte) bool {
	i := sort.Search(len(c.Muts), func(i int) bool { return string(c.Muts[i].Key) >= string(key) })
	return i < len(c.Muts) && string(c.Muts[i].Key) == string(key)
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
	if c.o.RowLocks.Empty() {
		return nil
	}
	for i := range muts {
		if c.o.RowLocks.Contested(c.tx.Waiter.Owner, muts[i].Key, modeOf(&muts[i])) {
			return &rowLockedError{key: muts[i].Key}
		}
	}
	return nil
}

// awaitRowLocks waits its turn for every key of the mutations that another owner has locked, and
// keeps it. Of the goroutines of a commit one at a time may do so: an owner waits in one place.
// Requires: the mutations are to be prewritten after it. What is prewritten already has a lock for
// which the other owner waits, and a row lock of it in the store would be left there.
func (c *committer) awaitRowLocks(ctx context.Context, muts []mvcc.Mutation) error {
	if c.o.RowLocks.Empty() {
		return nil
	}
	c.locking.Lock()
	defer c.locking.Unlock()
	for i := range muts {
		m := &muts[i]
		mode := modeOf(m)
		if !c.o.RowLocks.Contested(c.tx.Waiter.Owner, m.Key, mode) {
			continue
		}
		err := c.waiting(func() error {
			if c.tx.RowLocks != nil {
				_, err := c.tx.RowLocks.Lock(ctx, c.tx.Waiter.Request(m.Key, mode, c.ReadTS))
				return err
			}
			_, err := c.o.RowLocks.Lock(ctx, c.tx.Waiter.MakeOwner(), m.Key,
				rowlock.Request{Mode: mode, Timeout: c.tx.Waiter.Timeout})
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
				q := c.tx.Waiter.Request(m.Key, modeOf(m), c.ReadTS)
				q.Again = true
				_, err := c.tx.RowLocks.Lock(ctx, q)
				return err
			})
		}
	}
	return held
}
