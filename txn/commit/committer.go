package commit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// committer is the state of one commit.
type committer struct {
	*Coordinator
	tx       Transaction
	startTS  tso.Timestamp
	Writes                // of a Stream, those of its last Prewrite
	validate []Validation // read, and not to be changed by others since
	reads    []kv.Span    // of a serializable transaction, to be validated
	stream   *streamState // of a large transaction, whose writes came before
	commitTS tso.Timestamp
	drawn    tso.Timestamp // commit_ts, when it was drawn before the commit point
	deciding bool          // the primary's lock shows that: readers do not push commit_ts
	whole    bool          // the commit point commits all keys, as they go into one update

	route      Protocol // that the commit takes, once it is chosen
	prewriting bool     // some locks may be in the store
	// liveness is set once the transaction has locks in the store, on an engine of this process's
	// own.
	liveness *hints.Liveness
	// lockHolder is set for a commit in two phases that writes each lock once. With nil the locks
	// are read before they become records.
	lockHolder *hints.LockHolder

	wantsAfter bool        // the prewrite's answer is to show the state after it
	after      kv.Snapshot // which is used once

	locking sync.Mutex // held by the goroutine that waits for row locks
	holds   bool       // the transaction had row locks in the store when the prewrites began

	async    *async       // when it commits with a calculated timestamp
	lastBeat atomic.Int64 // oracle milliseconds at which the primary's lock was last extended
}

func (co *Coordinator) committer(tx Transaction, w Writes) *committer {
	return &committer{Coordinator: co, tx: tx, startTS: tx.Waiter.StartTS, Writes: w}
}

// async is what a commit by its locks alone keeps besides.
type async struct {
	secondaries [][]byte
	// highest of the locks' lowest commit timestamps: commit_ts, once all locks are there
	highest atomic.Uint64

	doubtful struct {
		sync.Mutex
		// of batches that may be applied, or may yet be, still in the table in flight
		all map[*hints.Pending]*batch
	}
}

// doubt keeps a batch whose result was lost in the table in flight.
func (a *async) doubt(p *hints.Pending, b *batch) {
	a.doubtful.Lock()
	defer a.doubtful.Unlock()
	if a.doubtful.all == nil {
		a.doubtful.all = map[*hints.Pending]*batch{}
	}
	a.doubtful.all[p] = b
}

// settled returns what is in the table for earlier attempts at a batch that is there now.
func (a *async) settled(b *batch) (of []*hints.Pending) {
	a.doubtful.Lock()
	defer a.doubtful.Unlock()
	for p, with := range a.doubtful.all {
		if with == b {
			of = append(of, p)
			delete(a.doubtful.all, p)
		}
	}
	return of
}

func (c *committer) primary() []byte {
	return c.first()[0].Key
}

// first returns the primary's mutation.
func (c *committer) first() []mvcc.Mutation {
	if c.stream != nil {
		return c.stream.primary
	}
	return c.Muts[:1]
}

// prepare must be called once the commit has nothing to wait for any more, and before it draws
// commit_ts.
func (c *committer) prepare() error {
	if c.tx.Node == nil {
		return nil
	}
	return c.tx.Node.Prepare()
}

// waitForLock settles the lock that stopped a commit, or waits for it. It returns nil when the
// commit should try again. If the lock's owner lives it commits above our start_ts, which is a
// conflict; only if it fails can this commit go on. holding reports that the transaction has locks
// of its own: then it waits only for younger transactions than itself, so that no two wait for each
// other.
func (c *committer) waitForLock(ctx context.Context, locked *mvcc.LockedError, bo *lockwait.Backoff,
	holding bool) error {
	if bo.Limit == 0 {
		bo.Limit = c.o.LockWait
		if c.tx.Waiter.Timeout > 0 {
			bo.Limit = min(bo.Limit, c.tx.Waiter.Timeout)
		}
	}
	out, err := c.o.Resolver.Settle(ctx, locked, 0)
	if err != nil || out == resolve.Settled {
		return err
	}
	if holding && locked.Lock.StartTS < c.startTS {
		return &mvcc.WriteConflictError{Key: locked.Key, StartTS: c.startTS,
			ConflictTS: locked.Lock.StartTS}
	}
	return c.waiting(func() error {
		more, err := c.tx.Waiter.Await(ctx, locked, bo)
		switch {
		case err != nil || more:
			return err
		case c.tx.Waiter.Timeout > 0 && bo.Spent >= c.tx.Waiter.Timeout:
			return &rowlock.TimeoutError{Wait: c.tx.Waiter.For(locked, rowlock.NoKeyUpdate)}
		}
		return locked
	})
}

// waiting runs a wait of a commit. During the wait a serializable transaction may still be failed,
// so that those it waits for need not be. Once some of it may be in the store it is too late for
// that.
func (c *committer) waiting(wait func() error) error {
	n := c.tx.Node
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
		return &mvcc.WriteConflictError{Key: rolled.Key, StartTS: c.startTS, ConflictTS: c.startTS}
	}
	return err
}
