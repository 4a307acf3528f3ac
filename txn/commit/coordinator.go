package commit

import (
	"context"
	"sync"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/secondaries"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/ssi"
	"github.com/minidb/minidb/txn/tso"
)

// Options is what a coordinator works with.
type Options struct {
	Engine      kv.Engine
	Source      tso.Source
	Memory      *hints.Hints
	Resolver    *resolve.Resolver
	Secondaries *secondaries.Committer
	RowLocks    *rowlock.Table
	Peers       *shared.Peers // nil when no other process writes

	// LockTTL is how long a lock is respected after its owner's last sign of life on it.
	LockTTL time.Duration
	// LockWait bounds what one commit waits for locks in the store.
	LockWait time.Duration
	// Limits bound one update; Rows is not zero. BatchBytes is the size of one prewrite or commit
	// at which it takes no further keys.
	Limits     kv.Limits
	BatchBytes int
	// StreamBytes is what a large transaction keeps in memory before it streams its writes out.
	StreamBytes int

	// Now returns the oracle's time, without a draw where it can.
	Now func(ctx context.Context) (tso.Timestamp, error)
	// Owner returns the id of the session for a lock that is to be written now.
	Owner func(ctx context.Context) (uint64, error)
	// At is called at each step. An error of it ends the commit there: the coordinator died.
	At func(Step) error
	// InTurn has one batch prewritten after the other, so that steps come in one order.
	InTurn  bool
	Closing <-chan struct{} // closed when the store begins to close
}

// Coordinator commits the transactions of a store. Its methods may be called from any goroutine.
type Coordinator struct {
	o      Options
	counts counts
	drawer drawer         // nil where no commit_ts can be drawn inside an update of the engine
	askers sync.WaitGroup // for the status of commits in doubt
}

// New returns a coordinator of a store's transactions.
func New(o Options) *Coordinator {
	return &Coordinator{o: o, drawer: drawerOf(o.Engine, o.Source)}
}

// Wait returns once the status of each commit in doubt is known, or can never be. Requires:
// Options.Closing is closed, and no commit is under way.
func (co *Coordinator) Wait() { co.askers.Wait() }

// Transaction is a transaction as its coordinator knows it.
type Transaction struct {
	Waiter   *lockwait.Waiter
	RowLocks *shared.RowLocks // in a store that others write to, and else nil
	Node     *ssi.Node        // of a serializable transaction, on an engine of this process's own
	Protocol Protocol         // Auto lets the coordinator choose
}

// Writes are writes of a transaction, to be committed or streamed out.
type Writes struct {
	Muts      []mvcc.Mutation // sorted by key
	Bytes     int             // of their keys and values
	ReadTS    tso.Timestamp   // at which the transaction reads now
	Statement string          // the last one that wrote
}

// Validation is a span that others must not have changed since it was read.
type Validation struct {
	Span  kv.Span
	Row   []byte // of a span that is a point
	Since tso.Timestamp
	read  bool // by a serializable transaction
}

// Checks are what a transaction has read, and what must not have been changed by others since.
type Checks struct {
	Validate []Validation
	// Reads are all reads of a serializable transaction without a Node, for which it is not nil.
	Reads []kv.Span
}
