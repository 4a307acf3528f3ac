package sql

import (
	"context"
	"time"

	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// txnState is the state of a session's transaction.
//
//	         statement            BEGIN
//	idle ───────────────▶ implicit ─────▶ block ──error──▶ failed
//	  ▲ ◀── end of Query, Sync ──┘          │  ◀─ROLLBACK TO─┘ │
//	  └───────────── COMMIT, ROLLBACK ──────┴─────────────────┘
type txnState uint8

const (
	idle       txnState = iota
	inImplicit          // started by a statement; ends with the Query message, or at Sync
	inBlock             // after BEGIN
	inFailed            // a block after an error: only ROLLBACK, ROLLBACK TO and COMMIT
)

// transaction is the session's present transaction. The store's transaction is begun by the first
// statement that needs a snapshot, not by BEGIN.
type transaction struct {
	temporary   bool // it has used a temporary relation
	state       txnState
	tx          *txn.Txn
	view        *catalog.View
	started     time.Time // now()
	readOnly    bool
	frees       bool          // it frees disk space in the end
	asOf        tso.Timestamp // not zero: it reads the past
	deferrable  bool
	isolation   string
	pessimistic bool // an implicit transaction that had conflicts: it locks what it writes
	optimistic  bool // the statement locks nothing (locking.go)
	statements  int  // that have begun to read data
	ran         bool // a statement has run: too late for SET TRANSACTION
	savepoints  []savepoint
	changes     []statistics.Change // for the counters, once it is committed
	analyzed    []analyzed          // statistics that it stored
	notices     notify.Pending      // LISTEN, UNLISTEN and NOTIFY
	taken       map[uint32]*takenRows
	takes       takeWait
	exported    []string // identifiers of its snapshots in Engine.snapshots
	large       largeObjects
	// altersDatabase: ALTER DATABASE changed what sessions begin with.
	altersDatabase bool
	// of locked sequences, whose present definition the snapshot does not show
	sequences map[table.ID]*table.Desc
}

// savepoint is a named point of a block.
type savepoint struct {
	name     string
	at       txn.Savepoint
	settings int
	locks    rowlock.Mark
	changes  int
	analyzed int
	checks   ri.Savepoint
	notices  notify.Mark
	readOnly bool
}

// transactor is the layer of a session that begins, commits and ends its transactions.
type transactor struct {
	portalSet
	tx    transaction
	locks *rowlock.Owner // row locks and advisory locks
	// advisory are the advisory locks in a store that several processes share, nil before the first
	advisory *txn.SessionLocks
	// lastCommit is commit_ts of the last transaction that wrote; zero before there was one.
	lastCommit tso.Timestamp
	// shown is, by incremental view, the lastCommit that it was waited for to show (freshViews).
	shown           map[table.ID]tso.Timestamp
	listener        *notify.Listener // nil: the client takes no notifications
	references      *ri.Queue        // checks of constraints that are due before the commit
	retries         int              // failed attempts at the implicit transaction
	pessimisticLeft int              // implicit transactions that are still to lock what they write
	assumed         bool             // the implicit transaction had assumed the schema (assume)
	readFirst       int              // INSERTs that are still to look first

	// temporary is nil while the session has no temporary objects.
	temporary *temporary
	// atCommit does what ON COMMIT says (planRunner.temporaryAtCommit).
	atCommit func(context.Context) (bool, error)

	measured     measured
	watchesLocks bool // watchLocks

	sideEffects    bool // the implicit transaction had effects that must not happen twice
	multiStatement bool // the statement is one of several in its Query
	prompt         bool // the session has not waited since the statement was prepared
	inProgram      bool // the statement is part of a program (DO)
	single         bool // the statement is all of its message, or of its messages up to Sync
}

// The isolation levels. READ UNCOMMITTED is READ COMMITTED, as in PostgreSQL.
const (
	serializable    = "serializable"
	repeatableRead  = "repeatable read"
	readCommitted   = "read committed"
	readUncommitted = "read uncommitted"
)

// perStatement reports whether each statement has a snapshot of its own.
func (t *transaction) perStatement() bool {
	return t.isolation == readCommitted || t.isolation == readUncommitted
}

// reruns reports whether a statement that finds a row changed may run again on a newer snapshot:
// always in READ COMMITTED, otherwise only if nothing was read before it. A statement that locks
// nothing meets the conflict at its commit, and its whole transaction is repeated.
func (t *transaction) reruns() bool {
	return t.perStatement() && !t.optimistic || t.state == inImplicit && t.pessimistic &&
		t.statements <= 1 && t.isolation != serializable
}

// analyzed is what ANALYZE in a transaction found, for its own plans until it commits.
type analyzed struct {
	id    table.ID
	table *stats.Table
	rows  int64
	by    statistics.Cause
}
