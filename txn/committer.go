package txn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/secondaries"
	"github.com/minidb/minidb/txn/tso"
)

// batch is what one update prewrites or commits.
type batch = secondaries.Batch

// committer is the coordinator of one commit.
type committer struct {
	s        *Store
	t        *Txn
	startTS  tso.Timestamp
	muts     []mvcc.Mutation // sorted by key
	bytes    int
	validate []validation // read, and not to be changed by others since
	reads    []kv.Span    // of a serializable transaction, to be validated
	commitTS tso.Timestamp
	drawn    tso.Timestamp // commit_ts, when it was drawn before the commit point
	deciding bool          // the primary's lock shows that: readers do not push commit_ts

	prewriting bool // some locks may be in the store
	// lockHolder is set for a commit in two phases that writes each lock once. With nil the locks
	// are read before they become records.
	lockHolder *hints.LockHolder

	anchor  []mvcc.Mutation // the primary alone, when the transaction streams its writes out
	locking sync.Mutex      // held by the goroutine that waits for row locks
	holds   bool            // the transaction had row locks in the store when the prewrites began

	async    *async       // when it commits with a calculated timestamp
	lastBeat atomic.Int64 // oracle milliseconds at which the primary's lock was last extended
}

func (c *committer) primary() []byte {
	return c.first()[0].Key
}

// first returns the primary's mutation.
func (c *committer) first() []mvcc.Mutation {
	if c.anchor != nil {
		return c.anchor
	}
	return c.muts[:1]
}

// oneBatch reports whether the commit is no more than one batch. A larger one takes two phases: in
// one phase it would keep others waiting for the latches of all its rows at once.
func (c *committer) oneBatch() bool {
	rows := len(c.muts)
	for i := range c.validate {
		if c.validate[i].row != nil {
			rows++
		}
	}
	return rows <= c.s.opts.BatchKeys && (len(c.muts) == 1 || c.bytes <= c.s.opts.BatchBytes)
}

func (c *committer) oneGroup() bool {
	if _, grouped := c.s.engine.(kv.Grouped); !grouped {
		return true
	}
	first := kv.GroupOf(c.s.engine, c.muts[0].Row)
	for i := range c.muts[1:] {
		if kv.GroupOf(c.s.engine, c.muts[i+1].Row) != first {
			return false
		}
	}
	for _, v := range c.validate {
		if v.row != nil && kv.GroupOf(c.s.engine, v.row) != first {
			return false
		}
	}
	return true
}

// batches cuts the mutations by group, and by size. The first batch begins with the primary, which
// is the first key: one that is really written.
func (c *committer) batches() []batch {
	all := batch{Muts: c.muts, Rows: rowsOf(c.muts)}
	groups := c.groups()
	if groups == nil {
		return c.cut(nil, all)
	}
	var parts []batch
	at := map[uint64]int{} // group → index in parts
	for i := range all.Muts {
		k, ok := at[groups[i]]
		if !ok {
			k = len(parts)
			at[groups[i]] = k
			parts = append(parts, batch{})
		}
		parts[k].Muts = append(parts[k].Muts, all.Muts[i])
		parts[k].Rows = append(parts[k].Rows, all.Rows[i])
	}
	var out []batch
	for _, part := range parts {
		out = c.cut(out, part)
	}
	return out
}

// groups returns the group of each mutation, nil when all are of one.
func (c *committer) groups() []uint64 {
	if _, grouped := c.s.engine.(kv.Grouped); !grouped {
		return nil
	}
	groups, several := make([]uint64, len(c.muts)), false
	for i := range c.muts {
		groups[i] = kv.GroupOf(c.s.engine, c.muts[i].Row)
		several = several || groups[i] != groups[0]
	}
	if !several {
		return nil
	}
	return groups
}

// cut appends the batch to out, in pieces of the size that one Update may have.
func (c *committer) cut(out []batch, b batch) []batch {
	most := c.s.opts.BatchKeys
	from, size := 0, 0
	for i := range b.Muts {
		if i > from && (i-from >= most || size >= c.s.opts.BatchBytes) {
			out = append(out, b.Part(from, i))
			from, size = i, 0
		}
		size += len(b.Muts[i].Row) + len(b.Muts[i].Value)
	}
	return append(out, b.Part(from, len(b.Muts)))
}

// lanes returns the batches by group: those of one group are neighbours.
func (c *committer) lanes(batches []batch) (lanes [][]batch) {
	from := 0
	for i := 1; i <= len(batches); i++ {
		if i < len(batches) && kv.GroupOf(c.s.engine, batches[i].Rows[0]) == kv.GroupOf(c.s.engine,
			batches[from].Rows[0]) {
			continue
		}
		lanes = append(lanes, batches[from:i])
		from = i
	}
	return lanes
}

func rowsOf(muts []mvcc.Mutation) [][]byte {
	rows := make([][]byte, len(muts))
	for i := range muts {
		rows[i] = muts[i].Row
	}
	return rows
}

// waitForLock settles the lock that stopped a commit, or waits for it. It returns nil when the
// commit should try again. If the lock's owner lives it commits above our start_ts, which is a
// conflict; only if it fails can this commit go on. holding reports that the transaction has locks
// of its own: then it waits only for younger transactions than itself, so that no two wait for each
// other.
func (c *committer) waitForLock(ctx context.Context, locked *LockedError, bo *lockwait.Backoff,
	holding bool) error {
	if bo.Limit == 0 {
		bo.Limit = c.s.opts.LockWait
		if c.t.waiter.Timeout > 0 {
			bo.Limit = min(bo.Limit, c.t.waiter.Timeout)
		}
	}
	out, err := c.s.resolver.Settle(ctx, locked, 0)
	if err != nil || out == resolve.Settled {
		return err
	}
	if holding && locked.Lock.StartTS < c.startTS {
		return &WriteConflictError{Key: locked.Key, StartTS: c.startTS,
			ConflictTS: locked.Lock.StartTS}
	}
	return c.waiting(func() error {
		more, err := c.t.waiter.Await(ctx, locked, bo)
		switch {
		case err != nil || more:
			return err
		case c.t.waiter.Timeout > 0 && bo.Spent >= c.t.waiter.Timeout:
			return &rowlock.TimeoutError{Wait: c.t.waiter.For(locked, rowlock.NoKeyUpdate)}
		}
		return locked
	})
}

// waiting runs a wait of a commit. During the wait a serializable transaction may still be failed,
// so that those it waits for need not be. Once some of it may be in the store it is too late for
// that.
func (c *committer) waiting(wait func() error) error {
	n := c.t.node
	if n == nil || c.prewriting {
		return wait()
	}
	prepared := n.Unprepare()
	if err := wait(); err != nil || !prepared {
		return err
	}
	return n.Prepare()
}

// finalError returns the error of a failed commit as the layers above know it.
func (c *committer) finalError(err error) error {
	var rolled *mvcc.RolledBackError
	if errors.As(err, &rolled) {
		// A resolver took this coordinator for dead. The transaction may be run again.
		return &WriteConflictError{Key: rolled.Key, StartTS: c.startTS, ConflictTS: c.startTS}
	}
	return err
}

// ambiguous wraps the reason why a result is unknown.
func ambiguous(err error) error { return fmt.Errorf("%w: %w", ErrAmbiguous, err) }
