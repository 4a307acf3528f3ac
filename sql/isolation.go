package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/txn"
)

// The isolation levels. READ UNCOMMITTED is READ COMMITTED, as in PostgreSQL.
const (
	serializable    = "serializable"
	readCommitted   = "read committed"
	readUncommitted = "read uncommitted"
)

// cautiousAfter is how many attempts an implicit transaction makes in the hope of no conflict. Later
// ones lock what they write and wait their turn, so that a busy row cannot keep it out for ever.
const cautiousAfter = 1

// cautionKept is for how many implicit transactions a session remembers that one had a conflict: the
// next statements will likely want the same busy row, and lock it at once.
const cautionKept = 16

// perStatement reports whether each statement has a snapshot of its own.
func (t *transaction) perStatement() bool {
	return t.isolation == readCommitted || t.isolation == readUncommitted
}

// reruns reports whether a statement that finds a row changed may run again on a newer snapshot: always
// in READ COMMITTED, otherwise only where nothing was read before it. A statement that locks nothing finds
// out at its commit, and its whole transaction is repeated.
func (t *transaction) reruns() bool {
	return t.perStatement() && !t.optimistic || t.state == inImplicit && t.cautious && t.statements <= 1 && t.isolation != serializable
}

// setIsolation changes the level of the present transaction; "" leaves it.
func (s *transactor) setIsolation(level string) error {
	switch {
	case level == "" || level == s.tx.isolation:
		return nil
	case len(s.tx.savepoints) > 0:
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
	case s.tx.ran:
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	}
	s.tx.isolation = level
	return s.beginAgain()
}

// beginAgain gives up a snapshot that was taken before the transaction's modes were known: nothing has
// been read in it but the schema.
func (s *transactor) beginAgain() error {
	if s.tx.tx == nil || s.tx.ran || len(s.tx.savepoints) > 0 {
		return nil
	}
	tx := s.tx.tx
	s.tx.tx, s.tx.view = nil, nil
	return tx.Rollback(context.Background())
}

// beginStatement gives a statement its snapshot. One that tells its client no more than how many rows
// it changed may go on from what is not durable yet; every other waits for what came before it.
func (s *transactor) beginStatement(ctx context.Context, k *kind) error {
	fresh := s.tx.tx == nil
	if err := s.ensure(ctx); err != nil {
		return err
	}
	s.tx.statements++
	if n := len(s.tx.savepoints); n > 0 {
		s.tx.tx.ForgetSavepointsAfter(s.tx.savepoints[n-1].at) // those of earlier statements
	} else {
		s.tx.tx.ForgetSavepoints()
	}
	s.references.Clear()
	if !fresh && !(s.prompt && s.tx.state == inImplicit && s.tx.statements == 1) {
		if err := s.newestSchema(ctx); err != nil {
			return err
		}
	}
	early := k.countsOnly()
	s.tx.optimistic = s.optimistic(k)
	if !early {
		if err := s.tx.tx.AwaitDurable(ctx); err != nil {
			return err
		}
	}
	s.setLocking(early)
	return nil
}

// optimistic reports whether a statement of an implicit transaction in READ COMMITTED may leave its writes
// unlocked: a conflict is then found at the commit, and the transaction is repeated unseen. That needs a
// statement that is all of its transaction, for a second one has a newer snapshot, which would show what
// others did to a row written by the first; and one whose rows have not left before the commit. COPY FROM
// cannot be repeated, and answers a conflict as a duplicate key. Schema changes exclude others by their locks
// of tables.
func (s *transactor) optimistic(k *kind) bool {
	if s.tx.state != inImplicit || s.tx.cautious {
		return false
	}
	switch k.unlocked {
	case unlockedIfCountOnly:
		return s.single && s.tx.statements == 1 && k.countsOnly()
	case unlockedIfSingle:
		return s.single
	}
	return k.unlocked == unlockedAlways
}

// awaitDurable comes before rows are given to the client.
func (s *transactor) awaitDurable(ctx context.Context) error {
	if s.tx.tx == nil {
		return nil
	}
	return s.tx.tx.AwaitDurable(ctx)
}

// refused returns why the transaction cannot be serialized, if the end of a statement has told.
func (s *transactor) refused() error {
	if s.tx.tx == nil {
		return nil
	}
	return s.tx.tx.Refused()
}

// advance moves the transaction to a new snapshot, of the schema too.
func (s *transactor) advance(ctx context.Context) error {
	if err := s.tx.tx.Advance(ctx); err != nil {
		return err
	}
	s.tx.view = s.engine.catalog.View(s.tx.tx)
	return nil
}

// newestSchema shows a statement the schema as it is now, as far as its isolation level lets it: with all
// that is committed, or with constraints alone.
func (s *transactor) newestSchema(ctx context.Context) error {
	if s.tx.perStatement() {
		return s.advance(ctx)
	}
	_, err := s.renewSchema(ctx)
	return err
}

// renewSchema lets a statement of a block that keeps its snapshot know the constraints that there are now
// (docs/adr/0004). changed says that plans made before are no good.
func (s *transactor) renewSchema(ctx context.Context) (changed bool, err error) {
	if s.tx.state != inBlock || s.tx.perStatement() || s.tx.asOf != 0 {
		return false, nil
	}
	changed, err = s.tx.view.Renew(ctx)
	if changed {
		s.references.ForgetReferrers()
	}
	return changed, err
}

// setLocking tells the store's transaction how to lock from now on.
func (s *transactor) setLocking(early bool) {
	d := s.settings.Derived()
	s.locks.SetPatience(d.DeadlockTimeout)
	s.tx.tx.SetLocking(txn.Locking{
		Owner: s.locks, Timeout: d.LockTimeout,
		// A snapshot for each statement moves past what others commit, which an unlocked write of the
		// transaction's own would not follow: READ COMMITTED locks.
		Writes: s.tx.cautious || s.tx.perStatement() && !s.tx.optimistic ||
			s.tx.state != inImplicit && d.WriteLocks,
		Rereads: s.tx.reruns(), Early: early && s.tx.reruns(),
	})
}

// releaseFailed gives back what a block that has failed holds, as far as ROLLBACK TO cannot want it.
func (s *transactor) releaseFailed() {
	if n := len(s.tx.savepoints); n > 0 {
		s.tx.tx.RollbackTo(s.tx.savepoints[n-1].at)
		return
	}
	if s.tx.tx != nil {
		s.tx.tx.Withdraw()
		s.tx.tx.Unlock()
	}
	s.locks.ReleaseTo(0)
}
