package txn

import (
	"context"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/buffer"
	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/ssi"
	"github.com/minidb/minidb/txn/tso"
)

// BeginOptions choose the kind of transaction.
type BeginOptions struct {
	// ReadOnly refuses writes.
	ReadOnly bool
	// StartTS, if not zero, makes it a reader of the past: what was committed at or below it.
	StartTS tso.Timestamp
	// Serializable gives the transaction a place in one serial order with the other serializable
	// ones (serial.go). With StartTS it is ignored: a reader of the past sees what a snapshot saw
	// then.
	Serializable bool
	// Deferrable, of a serializable transaction that is ReadOnly, makes Begin wait for a snapshot
	// that is safe: neither it nor any other transaction fails because of what it reads.
	Deferrable bool
	// Protocol, if not Auto, is that of this transaction's commit, instead of Options.Protocol.
	Protocol Protocol
	// Session is the session to which views of locks and waits attribute the transaction.
	Session int64
	// OnStream, if not nil, is called after every batch of writes that a large transaction has
	// streamed out, with what has been streamed so far.
	OnStream func(Streamed)
}

// Txn is a transaction: reads at start_ts, and writes buffered until Commit. It belongs to one
// goroutine at a time. Keys and values given in are copied; what comes out is valid until the next
// call on the Txn, and must not be changed.
type Txn struct {
	s        *Store
	reg      registration
	protocol Protocol // of its commit
	readOnly bool
	past     bool // it was begun at a timestamp of its own
	done     bool
	frees    bool // it makes room on the disk in the end
	commitTS tso.Timestamp
	replaced hints.Replaced // by its writes, for the collector

	readTS tso.Timestamp // start_ts until Advance
	// waiter is the transaction as one that waits for locks, with the owner of its row locks.
	waiter lockwait.Waiter
	// locksWrites, rereads and early are how it locks (Locking).
	locksWrites, rereads, early bool

	shared    *shared.RowLocks // in a store that others write to, and else nil
	node      *ssi.Node        // of a serializable transaction, on an engine of this process's own
	refused   error            // the error of an iterator that was closed early
	reads     *readSet         // what a serializable transaction has read, on any other engine
	buf       buffer.Buffer
	counted   counted
	validated []commit.Validation
	// validatedAt is where a span that was given to Validate is in validated.
	validatedAt map[string]int
	stream      *stream   // of a transaction that outgrew Options.StreamBytes
	made        []kv.Span // that it alone knows of
	loads       []loaded
	loadErr     error  // of a load that could not be taken back
	companion   *Txn   // of the companion store, if it has begun (companion.go)
	wrote       string // the last statement that wrote
	onStream    func(Streamed)
	ctx         context.Context // of the last read, or of Begin
	// statementCtx is that of the statement, if it is known: writes have no context of their own.
	statementCtx context.Context
	snapshot     *hints.Snapshot
	foretold     [][]byte // keys that will be read soon, for the next snapshot
	assumed      *assumption
	// pending holds the commits below the read timestamp that were in flight when the snapshot was
	// opened.
	pending []*hints.Pending
	// large holds the large transactions that had locks then.
	large []*hints.LockHolder
	// dependencies are commits in flight whose writes it may have read (early.go).
	dependencies []dependency
	// ignored holds writers that were pushed to commit above start_ts.
	ignored map[tso.Timestamp]struct{}
	// decided holds decided transactions whose locks it has met while they were being settled.
	decided map[tso.Timestamp]tso.Timestamp
	origin  origin   // of the changes that it makes
	woken   []uint32 // observers that its commit wakes
}

// StartTS returns the transaction's timestamp, by which its locks and records are known. It reads
// at this timestamp too, unless Advance was called.
func (t *Txn) StartTS() tso.Timestamp { return t.reg.startTS }

// CommitTS returns the timestamp at which its writes appeared: zero before Commit, and when there
// was nothing to write.
func (t *Txn) CommitTS() tso.Timestamp { return t.commitTS }

// dirty reports whether any write of the store itself is buffered.
func (t *Txn) dirty() bool { return !t.buf.Empty() || t.stream != nil }

// Size returns the number of bytes of keys and values buffered.
func (t *Txn) Size() int { return t.buf.Bytes() }

// Locking is how a transaction takes row locks, and what it does about rows that changed meanwhile.
type Locking struct {
	// Owner holds them; nil is one that lives as long as the transaction.
	Owner *rowlock.Owner
	// Timeout bounds each wait; 0 is no bound.
	Timeout time.Duration
	// Writes makes the writers of the layers above lock before they write (LocksWrites). Without
	// it the transaction is optimistic: a conflict is found at Commit.
	Writes bool
	// Rereads makes a key written since the read timestamp no conflict: LockCurrent returns
	// *StaleError, and the caller reads again after Advance.
	Rereads bool
	// Early lets the transaction go on with the lock alone: what its last holder committed may be
	// read before it is durable. No client may learn what follows from it before AwaitDurable.
	Early bool
}

// ownWrites walks the transaction's own writes of a span, as they were when it was opened.
type ownWrites interface {
	Valid() bool
	Item() buffer.Write
	Next()
	Failed() error
	Close() error
}

// dependency is a commit in flight whose write of a key the transaction may read before it is
// durable.
type dependency struct {
	p   *hints.Pending
	key []byte
}

// origin is why a transaction runs: what its notifications pass on.
type origin struct {
	ts         tso.Timestamp // zero of one that no observer runs
	generation uint32
	path       mvcc.Path
}
