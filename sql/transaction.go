package sql

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/txn"
)

// setActivity updates the session's row of pg_stat_activity.
func (s *transactor) setActivity(state, query string) {
	now := time.Now()
	s.clock = now
	app := s.settings.Derived().ApplicationName
	a := &s.activity
	a.Lock()
	defer a.Unlock()
	a.Application, a.State, a.Query, a.StateChanged, a.TxnStarted = app, state, query, now,
		time.Time{}
	if s.tx.state != idle {
		a.TxnStarted = s.tx.started
	} else if state == "active" {
		a.TxnStarted = now
	}
	if state == "active" || a.QueryStart.IsZero() {
		a.QueryStart = now
	}
}

// begin prepares to run one statement: its context ends by Cancel and by statement_timeout. end
// follows it.
func (s *transactor) begin(ctx context.Context, text string, out ResultWriter) context.Context {
	ctx, cancel := context.WithCancelCause(s.lasting.parent(ctx))
	s.running.set(cancel)
	s.out, s.text, s.within = out, text, ctx
	s.followSystem()
	s.progress.begin()
	if s.tx.tx != nil {
		s.tx.tx.SetStatement(ctx, text)
	}
	s.cancelRun = cancel
	if d := s.settings.Derived().StatementTimeout; d > 0 {
		s.timeout = time.AfterFunc(d, func() { cancel(errStatementTimeout) })
	}
	s.setActivity("active", text)
	return ctx
}

// end is called when the statement that begin began is over.
func (s *transactor) end() {
	if s.timeout != nil {
		s.timeout.Stop()
		s.timeout = nil
	}
	s.running.set(nil)
	s.out, s.within = nil, context.Background()
	s.cancelRun(nil)
	s.memory.Settle()
}

// start begins a transaction in the session: state was idle.
func (s *transactor) start(state txnState) {
	s.sideEffects, s.assumed = false, false
	d := s.settings.Derived()
	s.tx = transaction{state: state, started: time.Now(), frees: s.tx.frees, readOnly: d.ReadOnly,
		deferrable: d.DefaultTransactionDefr,
		isolation:  d.Isolation, pessimistic: state == inImplicit && s.beginsPessimistic()}
}

// ensure gives the transaction its snapshot.
func (s *transactor) ensure(ctx context.Context) error {
	if s.tx.state == idle {
		s.start(inImplicit)
	}
	if s.tx.tx != nil {
		return nil
	}
	if err := s.freshSnapshot(ctx); err != nil {
		return err
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
	s.measured.startTS = tx.StartTS()
	s.tx.tx, s.tx.view = tx, s.engine.catalog.ViewWith(tx, s.temporarySchema())
	tx.SetStatement(ctx, s.text)
	tx.CountIn(s.memory)
	if s.advisory != nil {
		tx.RestOn(s.advisory)
	}
	if s.tx.frees {
		tx.FreesSpace()
	}
	s.setLocking(false)
	return nil
}

// commit ends the transaction, whatever its state, and makes what it wrote durable. After an error
// nothing of it is in the store, unless the error is ambiguous.
func (s *transactor) commit(ctx context.Context) error {
	if s.tx.state == idle {
		return nil
	}
	if err := s.references.CheckDeferred(ctx); err != nil {
		err = s.conceal(ctx, nil, err)
		s.abort(ctx)
		return err
	}
	if err := s.holdCursors(ctx); err != nil {
		s.abort(ctx)
		return err
	}
	emptied, err := s.atCommit(ctx)
	if err != nil {
		s.abort(ctx)
		return err
	}
	sending, err := s.enqueueNotices(ctx)
	if err != nil {
		s.abort(ctx)
		return err
	}
	taken, err := s.acknowledged(ctx)
	if err != nil {
		s.abort(ctx)
		return err
	}
	defer sending.Close() // runs after the locks are released: it waits for others
	s.retries = 0
	s.closePortals(false)
	s.references.End()
	tx, view, rebase := s.tx.tx, s.tx.view, s.tx.perStatement()
	changes, found, altered := s.tx.changes, s.tx.analyzed, s.tx.altersDatabase
	defer s.engine.snapshots.forget(s.tx.exported)
	s.tx.large.end()
	s.tx = transaction{}
	if taken != nil {
		defer s.endTaking(ctx, taken) // after the locks are released, too
	}
	defer s.releaseLocks(0)
	if tx == nil {
		s.settings.Commit()
		s.tally.committed(true)
		sending.Committed(0)
		return nil
	}
	s.progress.phase.Store(phaseCommitting)
	err = view.Commit(ctx, rebase, func() error { return tx.Commit(ctx) })
	endSending(sending, tx.CommitTS(), err)
	taken.end(err)
	if err == nil && tx.CommitTS() != 0 {
		s.lastCommit = tx.CommitTS()
	}
	if err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		s.tally.shard.rollbacks.Add(1)
		err = s.unlessLost(err)
		s.settings.Rollback()
		s.dropHeld()
		return err
	}
	s.temporary.ended(true, emptied)
	if altered {
		s.engine.defaults.databases.Add(1)
	}
	s.settings.Commit()
	s.tally.committed(tx.CommitTS() != 0)
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
	tx, taken := s.tx.tx, s.tx.taken
	defer s.engine.snapshots.forget(s.tx.exported)
	s.tx.large.end()
	s.tx = transaction{}
	s.settings.Rollback()
	if tx != nil {
		s.tally.shard.rollbacks.Add(1)
		s.progress.phase.Store(phaseRollingBack)
		if err := tx.Rollback(context.WithoutCancel(ctx)); err != nil &&
			!errors.Is(err, txn.ErrTxnDone) {
			s.engine.log.Warn("rollback", "session", s.pid, "error", err)
		}
	}
	s.temporary.ended(false, false)
	s.releaseLocks(0)
	s.freed(taken)
}

// fail is called after an error: a block then waits for its ROLLBACK, an implicit transaction is
// rolled back.
func (s *transactor) fail(ctx context.Context) {
	// the error may be caused by data that is not durable yet, and the client will see it
	if s.tx.tx != nil {
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

// noBlock refuses a statement that must be a transaction of its own.
func (s *transactor) noBlock(command string) error {
	if s.tx.state == inBlock {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "%s cannot run inside a transaction block",
			command)
	}
	return nil
}

// writable refuses a statement that writes when the transaction is read-only.
func (s *transactor) writable(command string) error {
	if s.tx.readOnly {
		return sqlerr.New(sqlerr.ReadOnlySQLTransaction,
			"cannot execute %s in a read-only transaction", command)
	}
	return s.hasRoom(command)
}

// hasRoom refuses a statement that writes if the disk is nearly full, unless the statement frees
// space in the end.
func (s *transactor) hasRoom(command string) error {
	frees := command == "DELETE" || command == "lo_unlink()" ||
		strings.HasPrefix(command, "DROP") || strings.HasPrefix(command, "TRUNCATE")
	if frees {
		s.tx.frees = true
		if s.tx.tx != nil {
			s.tx.tx.FreesSpace()
		}
	}
	return s.engine.store.Room(frees)
}

// alone refuses a command that commits by itself where other statements share its transaction.
func (s *transactor) alone(command string) error {
	if err := s.noBlock(command); err != nil {
		return err
	}
	if s.inProgram {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "%s cannot be executed from a function",
			command)
	}
	if s.multiStatement {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "%s cannot run inside a transaction block",
			command)
	}
	return nil
}
