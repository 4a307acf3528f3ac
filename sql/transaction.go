package sql

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// txnState is where a session's transaction stands.
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

var beginReadOnly = txn.BeginOptions{ReadOnly: true}

// transaction is the session's present transaction. The store's transaction is begun by the first
// statement that needs a snapshot, not by BEGIN.
type transaction struct {
	state      txnState
	tx         *txn.Txn
	view       *catalog.View
	started    time.Time // now()
	readOnly   bool
	frees      bool          // it makes room on the disk in the end
	asOf       tso.Timestamp // not zero: it reads the past
	deferrable bool
	isolation  string
	cautious   bool // an implicit transaction that lost before: it locks what it writes
	optimistic bool // the statement locks nothing (Session.optimistic)
	statements int  // that have begun to see data
	ran        bool // a statement has run: too late for SET TRANSACTION
	savepoints []savepoint
	changes    []statistics.Change // for the counters, once it is committed
	analyzed   []analyzed          // statistics that it stored
	notices    notify.Pending      // LISTEN, UNLISTEN and NOTIFY
	// altersDatabase: ALTER DATABASE changed what sessions begin with.
	altersDatabase bool
	sequences      map[table.ID]*table.Desc // locked ones, whose definition the snapshot does not show
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
	// lastCommit is commit_ts of the last transaction that wrote; zero before there was one.
	lastCommit tso.Timestamp
	listener   *notify.Listener // nil: nobody would take what it gets
	references *ri.Queue        // checks of foreign keys that the transaction has left to do
	retries    int              // attempts at the implicit transaction that failed
	caution    int              // how many implicit transactions are still to lock what they write

	once    bool // the implicit transaction did what cannot be done twice
	several bool // the statement is one of several in its Query
	prompt  bool // nothing was waited for since the statement was prepared
	single  bool // the statement is all of its message, or of its messages up to Sync
}

// report tells those who look what the session does.
func (s *transactor) report(state, query string) {
	now := time.Now()
	app := s.settings.Derived().ApplicationName
	a := &s.activity
	a.Lock()
	defer a.Unlock()
	a.Application, a.State, a.Query, a.StateChanged, a.TxnStarted = app, state, query, now, time.Time{}
	if s.tx.state != idle {
		a.TxnStarted = s.tx.started
	} else if state == "active" {
		a.TxnStarted = now
	}
	if state == "active" || a.QueryStart.IsZero() {
		a.QueryStart = now
	}
}

// begin prepares to run one statement: its context ends by Cancel and by statement_timeout.
func (s *transactor) begin(ctx context.Context, text string, out Sink) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.running.set(cancel)
	s.out, s.text, s.within = out, text, ctx
	s.followSystem()
	s.progress.begin()
	if s.tx.tx != nil {
		s.tx.tx.SetStatement(ctx, text)
	}
	var timer *time.Timer
	if d := s.settings.Derived().StatementTimeout; d > 0 {
		timer = time.AfterFunc(d, func() { cancel(errStatementTimeout) })
	}
	s.report("active", text)
	return ctx, func() {
		if timer != nil {
			timer.Stop()
		}
		s.running.set(nil)
		s.out, s.within = nil, context.Background()
		cancel(nil)
		s.memory.Settle()
	}
}

// start leaves idle.
func (s *transactor) start(state txnState) {
	s.once = false
	d := s.settings.Derived()
	s.tx = transaction{state: state, started: time.Now(), frees: s.tx.frees, readOnly: d.ReadOnly, deferrable: d.DefaultTransactionDefr,
		isolation: d.Isolation, cautious: state == inImplicit && s.becomeCautious()}
}

// becomeCautious says whether an implicit transaction that begins now should lock what it writes.
func (s *transactor) becomeCautious() bool {
	switch {
	case s.retries >= cautiousAfter:
		s.caution = cautionKept
	case s.caution > 0:
		s.caution--
	default:
		return false
	}
	return true
}

// ensure gives the transaction its snapshot.
func (s *transactor) ensure(ctx context.Context) error {
	if s.tx.state == idle {
		s.start(inImplicit)
	}
	if s.tx.tx != nil {
		return nil
	}
	s.progress.beginTransaction()
	tx, err := s.engine.store.Begin(ctx, txn.BeginOptions{
		ReadOnly: s.tx.readOnly, StartTS: s.tx.asOf, Session: int64(s.pid),
		Serializable: s.tx.isolation == serializable, Deferrable: s.tx.deferrable,
		OnStream: s.progress.streamed,
	})
	if err != nil {
		return err
	}
	s.tx.tx, s.tx.view = tx, s.engine.catalog.View(tx)
	tx.SetStatement(ctx, s.text)
	tx.CountIn(s.memory)
	if s.tx.frees {
		tx.FreesSpace()
	}
	s.setLocking(false)
	return nil
}

// commit ends the transaction, whatever its state, and makes what it wrote durable. On an error
// nothing of it is there, except when the error is ambiguous.
func (s *transactor) commit(ctx context.Context) error {
	if s.tx.state == idle {
		return nil
	}
	if err := s.references.CheckDeferred(ctx); err != nil {
		s.abort(ctx)
		return err
	}
	if err := s.holdCursors(ctx); err != nil {
		s.abort(ctx)
		return err
	}
	sending, err := s.announce(ctx)
	if err != nil {
		s.abort(ctx)
		return err
	}
	defer sending.Close() // after the locks are given back: it waits for others
	s.retries = 0
	s.closePortals(false)
	s.references.End()
	tx, view, rebase := s.tx.tx, s.tx.view, s.tx.perStatement()
	changes, found, altered := s.tx.changes, s.tx.analyzed, s.tx.altersDatabase
	s.tx = transaction{}
	defer s.locks.ReleaseTo(0)
	if tx == nil {
		s.settings.Commit()
		sending.Committed(0)
		return nil
	}
	s.progress.phase.Store(phaseCommitting)
	err = view.Commit(ctx, rebase, func() error { return tx.Commit(ctx) })
	sent(sending, tx.CommitTS(), err)
	if err == nil && tx.CommitTS() != 0 {
		s.lastCommit = tx.CommitTS()
	}
	if rerr := tx.Rollback(context.WithoutCancel(ctx)); err == nil && rerr != nil && !errors.Is(rerr, txn.ErrTxnDone) {
		err = rerr
	}
	if err != nil {
		s.settings.Rollback()
		s.dropHeld()
		return err
	}
	if altered {
		s.engine.defaults.databases.Add(1)
	}
	s.settings.Commit()
	s.keepHeld()
	s.noteCommitted(ctx, changes, found)
	return nil
}

// abort ends the transaction, whatever its state, and forgets what it wrote.
func (s *transactor) abort(ctx context.Context) {
	if s.tx.state == idle {
		return
	}
	s.retries = 0
	s.closePortals(false)
	s.dropHeld()
	s.references.End()
	tx := s.tx.tx
	s.tx = transaction{}
	s.settings.Rollback()
	if tx != nil {
		s.progress.phase.Store(phaseRollingBack)
		if err := tx.Rollback(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, txn.ErrTxnDone) {
			s.engine.log.Warn("rollback", "session", s.pid, "error", err)
		}
	}
	s.locks.ReleaseTo(0)
}

// fail is what an error does to the transaction: a block waits for its ROLLBACK, an implicit
// transaction is gone.
func (s *transactor) fail(ctx context.Context) {
	if s.tx.tx != nil { // the reason may lie in what is not durable yet, and the client will hear of it
		_ = s.tx.tx.AwaitDurable(context.WithoutCancel(ctx))
	}
	switch s.tx.state {
	case inBlock:
		s.tx.state = inFailed
		s.releaseFailed()
	case inImplicit:
		s.abort(ctx)
	}
}

func (s utility) execBegin(ctx context.Context, st *ast.Begin) (string, error) {
	tag := "BEGIN"
	if st.Start {
		tag = "START TRANSACTION"
	}
	switch s.tx.state {
	case inBlock:
		s.notice("WARNING", sqlerr.ActiveSQLTransaction, "there is already a transaction in progress")
	case idle:
		s.start(inBlock)
	default:
		s.tx.state = inBlock
	}
	return tag, s.setModes(ctx, &st.Modes)
}

// setModes applies the modes of BEGIN and SET TRANSACTION to the present transaction.
func (s *planRunner) setModes(ctx context.Context, m *ast.TxnModes) error {
	if err := s.setIsolation(m.Isolation); err != nil {
		return err
	}
	if m.ReadOnly != nil {
		if !*m.ReadOnly && s.tx.readOnly && s.tx.ran {
			return sqlerr.New(sqlerr.ActiveSQLTransaction, "transaction read-write mode must be set before any query")
		}
		if !*m.ReadOnly && s.tx.readOnly && s.tx.tx != nil { // begun as a reader
			return sqlerr.New(sqlerr.ActiveSQLTransaction, "transaction read-write mode must be set before any query")
		}
		if s.tx.readOnly != *m.ReadOnly {
			s.tx.readOnly = *m.ReadOnly
			if err := s.beginAgain(); err != nil {
				return err
			}
		}
	}
	if m.AsOf != nil {
		if m.ReadOnly != nil && !*m.ReadOnly {
			return sqlerr.New(sqlerr.InvalidParameterValue, "AS OF SYSTEM TIME needs a read-only transaction").At(int(m.AsOf.Pos))
		}
		if err := s.readPast(ctx, m.AsOf, arguments{}); err != nil {
			return err
		}
	}
	if m.Deferrable != nil {
		if s.tx.ran {
			return sqlerr.New(sqlerr.ActiveSQLTransaction, "SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
		}
		if s.tx.deferrable != *m.Deferrable {
			s.tx.deferrable = *m.Deferrable
			return s.beginAgain()
		}
	}
	return nil
}

func (s utility) execSetTransaction(ctx context.Context, st *ast.SetTransaction) (string, error) {
	if st.Session {
		if s.tx.state == idle {
			s.start(inImplicit) // what is set belongs to a transaction, and stays when that commits
		}
		if st.Modes.AsOf != nil {
			return "", sqlerr.Unsupported(int(st.Modes.AsOf.Pos), "AS OF SYSTEM TIME for a session")
		}
		if st.Modes.Isolation != "" {
			if err := s.settings.Set("default_transaction_isolation", st.Modes.Isolation, false); err != nil {
				return "", err
			}
		}
		if st.Modes.ReadOnly != nil {
			if err := s.settings.Set("default_transaction_read_only", onOff(*st.Modes.ReadOnly), false); err != nil {
				return "", err
			}
		}
		if st.Modes.Deferrable != nil {
			if err := s.settings.Set("default_transaction_deferrable", onOff(*st.Modes.Deferrable), false); err != nil {
				return "", err
			}
		}
		return "SET", nil
	}
	if s.tx.state != inBlock {
		s.notice("WARNING", sqlerr.NoActiveSQLTransaction, "SET TRANSACTION can only be used in transaction blocks")
		return "SET", nil
	}
	return "SET", s.setModes(ctx, &st.Modes)
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func (s utility) execCommit(ctx context.Context, st *ast.Commit) (string, error) {
	modes := s.tx
	switch s.tx.state {
	case inFailed:
		s.abort(ctx)
		s.chain(st.Chain, &modes)
		return "ROLLBACK", nil
	case inBlock:
		if err := s.commit(ctx); err != nil {
			return "", err
		}
		s.chain(st.Chain, &modes)
		return "COMMIT", nil
	}
	if st.Chain {
		return "", sqlerr.New(sqlerr.NoActiveSQLTransaction, "COMMIT AND CHAIN can only be used in transaction blocks")
	}
	s.notice("WARNING", sqlerr.NoActiveSQLTransaction, "there is no transaction in progress")
	return "COMMIT", s.commit(ctx)
}

func (s utility) execRollback(ctx context.Context, st *ast.Rollback) (string, error) {
	modes := s.tx
	if s.tx.state == inBlock || s.tx.state == inFailed {
		s.abort(ctx)
		s.chain(st.Chain, &modes)
		return "ROLLBACK", nil
	}
	if st.Chain {
		return "", sqlerr.New(sqlerr.NoActiveSQLTransaction, "ROLLBACK AND CHAIN can only be used in transaction blocks")
	}
	s.notice("WARNING", sqlerr.NoActiveSQLTransaction, "there is no transaction in progress")
	s.abort(ctx)
	return "ROLLBACK", nil
}

// chain begins the next block at once, with the modes of the one that ended.
func (s utility) chain(yes bool, modes *transaction) {
	if yes {
		s.start(inBlock)
		s.tx.readOnly, s.tx.deferrable, s.tx.isolation = modes.readOnly, modes.deferrable, modes.isolation
	}
}

func (s utility) execSavepoint(ctx context.Context, st *ast.Savepoint) (string, error) {
	if s.tx.state != inBlock {
		return "", sqlerr.New(sqlerr.NoActiveSQLTransaction, "SAVEPOINT can only be used in transaction blocks")
	}
	if len(s.tx.savepoints) >= maxSavepoints {
		return "", sqlerr.New(sqlerr.ProgramLimitExceeded, "too many savepoints").
			WithHint("A transaction may have %d of them; RELEASE those that are no longer needed.", maxSavepoints)
	}
	if err := s.ensure(ctx); err != nil {
		return "", err
	}
	s.tx.savepoints = append(s.tx.savepoints, savepoint{name: st.Name, at: s.tx.tx.Savepoint(),
		settings: s.settings.Mark(), locks: s.locks.Mark(), changes: len(s.tx.changes), analyzed: len(s.tx.analyzed),
		checks: s.references.Savepoint(), notices: s.tx.notices.Mark(), readOnly: s.tx.readOnly})
	return "SAVEPOINT", nil
}

// maxSavepoints bounds what one block can pile up.
const maxSavepoints = 1 << 16

// findSavepoint returns the index of the latest savepoint of that name.
func (s utility) findSavepoint(name, command string) (int, error) {
	if s.tx.state == idle || s.tx.state == inImplicit {
		return 0, sqlerr.New(sqlerr.NoActiveSQLTransaction, "%s can only be used in transaction blocks", command)
	}
	for i := len(s.tx.savepoints) - 1; i >= 0; i-- {
		if s.tx.savepoints[i].name == name {
			return i, nil
		}
	}
	return 0, sqlerr.New(sqlerr.InvalidSavepoint, "savepoint \"%s\" does not exist", name)
}

func (s utility) execRelease(st *ast.Release) (string, error) {
	i, err := s.findSavepoint(st.Name, "RELEASE SAVEPOINT")
	if err != nil {
		return "", err
	}
	s.tx.savepoints = s.tx.savepoints[:i]
	return "RELEASE", nil
}

func (s utility) execRollbackTo(st *ast.RollbackTo) (string, error) {
	i, err := s.findSavepoint(st.Name, "ROLLBACK TO SAVEPOINT")
	if err != nil {
		return "", err
	}
	sp := &s.tx.savepoints[i]
	s.closePortalsSince(i + 1)
	s.tx.tx.RollbackTo(sp.at)
	sp.at = s.tx.tx.Savepoint()
	s.settings.RollbackTo(sp.settings)
	s.locks.ReleaseTo(sp.locks)
	s.references.RollbackTo(sp.checks)
	s.tx.notices.RollbackTo(sp.notices)
	s.tx.readOnly = sp.readOnly
	s.tx.changes, s.tx.analyzed = s.tx.changes[:sp.changes], s.tx.analyzed[:sp.analyzed]
	s.tx.savepoints = s.tx.savepoints[:i+1]
	s.tx.state = inBlock
	return "ROLLBACK", nil
}

// noBlock refuses a statement that must be a transaction of its own.
func (s *transactor) noBlock(command string) error {
	if s.tx.state == inBlock {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "%s cannot run inside a transaction block", command)
	}
	return nil
}

// writable refuses a statement that writes when the transaction is read-only.
func (s *transactor) writable(command string) error {
	if s.tx.readOnly {
		return sqlerr.New(sqlerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", command)
	}
	return s.hasRoom(command)
}

// hasRoom refuses a statement that writes on a disk that is nearly full, unless it makes room in the end.
func (s *transactor) hasRoom(command string) error {
	frees := command == "DELETE" || strings.HasPrefix(command, "DROP") || strings.HasPrefix(command, "TRUNCATE")
	if frees {
		s.tx.frees = true
		if s.tx.tx != nil {
			s.tx.tx.FreesSpace()
		}
	}
	return s.engine.store.Room(frees)
}

// at points an error that has no position at pos.
func at(err error, pos ast.Pos) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Position == 0 {
		return e.At(int(pos))
	}
	return err
}
