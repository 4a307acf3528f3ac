package txn_test

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// P12 and P13: row locks. Latches, the rest of P13, are package pebblekv's.
var rowLockClauses = []clause{
	{"P12 I9", "READ COMMITTED reads again after a wait", waiterReadsAgain},
	{"P12 I9", "READ COMMITTED takes the lock first and checks for writes then", waiterReadsAgain},
	{"P12 I9", "READ COMMITTED does not use what it read before the wait", waiterReadsAgain},
	{"P12 I11", "READ COMMITTED reads what was committed before its new timestamp",
		laterStatementSeesMore},
	{"P12 I9", "REPEATABLE READ fails after a wait", waiterFails},
	{"P12 I11", "a write is checked against the timestamp at which it was read",
		laterStatementProtectsNothing},
	{"P12 I9", "row locks end with their transaction", locksEndWithTheirTransaction},
	{"P12 I9", "row locks are held until the writes are visible", locksAreHeldToTheEnd},
	{"P12 I9", "a commit writes no row that another owner has locked", lockedRowIsNotStolen},
	{"P13 I17", "a commit that has locks waits for younger transactions only", youngerGivesIn},
	{"P13 I17", "deadlocks are detected, not waited out", deadlockIsDetected},
}

func (sc *scene) lockHolder(s *txn.Store, rereads bool) *txn.Txn {
	tx := sc.begin(s)
	tx.SetLocking(txn.Locking{Writes: true, Rereads: rereads})
	return tx
}

func (sc *scene) nowait(tx *txn.Txn, key string, mode rowlock.Mode) error {
	return tx.LockCurrent(sc.ctx, []byte(key), mode, true)
}

// afterWait makes a transaction of there wait for a row that one of here has locked and then
// changes, and returns it and its answer. Here and there may be one store.
func (sc *scene) afterWait(here, there *txn.Store, rereads bool) (*txn.Txn, error) {
	sc.commit(here, "n", "1")
	holder, waiter := sc.lockHolder(here, rereads), sc.lockHolder(there, rereads)
	sc.must(sc.nowait(holder, "n", rowlock.Update), "lock")
	sc.want("n", sc.get(waiter, "n"), "1")
	done := make(chan error, 1)
	go func() { done <- waiter.LockCurrent(sc.ctx, []byte("n"), rowlock.Update, false) }()
	for len(there.RowLocks().Waits())+len(there.LockWaits()) == 0 {
		select {
		case err := <-done:
			sc.fail("locked a locked row: %v", err)
		default:
			runtime.Gosched()
		}
	}
	for _, w := range there.LockWaits() { // of locks in the store
		sc.want("waits for", w.Lock.StartTS, holder.StartTS())
	}
	sc.set(holder, "n", "2")
	sc.must(holder.Commit(sc.ctx), "commit of the holder")
	return waiter, <-done
}

func waiterReadsAgain(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.readsAgain(s, s)
}

// readsAgain: a waiter of READ COMMITTED does.
func (sc *scene) readsAgain(here, there *txn.Store) {
	waiter, err := sc.afterWait(here, there, true)
	wantError[*txn.StaleError](sc, "lock", err)
	sc.must(waiter.Advance(sc.ctx), "advance")
	sc.want("n, read again", sc.get(waiter, "n"), "2")
	sc.set(waiter, "n", "3")
	sc.must(waiter.Commit(sc.ctx), "commit")
}

func waiterFails(sc *scene) {
	s := sc.open(single(), txn.Options{})
	_, err := sc.afterWait(s, s, false)
	wantError[*txn.WriteConflictError](sc, "lock in a snapshot", err)
}

// laterStatementProtectsNothing: of two optimistic statements the first wrote what it had read,
// then another transaction wrote it, then the second statement wrote it again.
func laterStatementProtectsNothing(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "n", "1")
	tx := sc.begin(s)
	sc.must(tx.Advance(sc.ctx), "advance")
	sc.want("n", sc.get(tx, "n"), "1")
	sc.set(tx, "n", "2")
	sc.commit(s, "n", "10")
	sc.must(tx.Advance(sc.ctx), "advance")
	sc.want("n, its own", sc.get(tx, "n"), "2")
	sc.set(tx, "n", "3")
	wantError[*txn.WriteConflictError](sc, "commit", tx.Commit(sc.ctx))
}

// laterStatementSeesMore: the first statement pushed a writer above itself; the second is above the
// writer's commit.
func laterStatementSeesMore(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	t, tx := sc.coordinator(s, "p"), sc.begin(s)
	sc.must(t.prewrite("p", "1"), "prewrite")
	sc.must(t.prewrite("s", "1"), "prewrite")
	sc.must(tx.Advance(sc.ctx), "advance")
	sc.want("before the commit", sc.get(tx, "s"), "-")
	sc.must(t.commit(sc.now(s), "p"), "commit")
	sc.must(tx.Advance(sc.ctx), "advance")
	sc.want("after the commit", sc.get(tx, "s"), "1")
}

func locksAreHeldToTheEnd(sc *scene) {
	s := sc.openWith(single(), txn.Options{}, txn.BeforeOnePhase, func(s *txn.Store) bool {
		err := sc.nowait(sc.lockHolder(s, false), "n", rowlock.Update)
		if !errors.Is(err, rowlock.ErrNotAvailable) {
			sc.fail("lock of a row that is being committed: %v", err)
		}
		return false
	})
	tx := sc.lockHolder(s, false)
	sc.must(sc.nowait(tx, "n", rowlock.Update), "lock")
	sc.set(tx, "n", "1")
	sc.must(tx.Commit(sc.ctx), "commit")
}

// youngerGivesIn: it does not wait until the time to wait is over. The older one waits for it where
// it is the other way round, so they could wait for each other.
func youngerGivesIn(sc *scene) {
	s := sc.openWith(single(), txn.Options{Protocol: txn.TwoPhase}, txn.AfterPrewrite,
		func(s *txn.Store) bool {
			wantError[*txn.WriteConflictError](sc, "commit", sc.writer(s, "b", "2").Commit(sc.ctx))
			return false
		})
	sc.commit(s, "a", "1", "b", "1")
}

func locksEndWithTheirTransaction(sc *scene) {
	s := sc.open(single(), txn.Options{})
	tx := sc.lockHolder(s, false)
	sc.must(sc.nowait(tx, "n", rowlock.Update), "lock")
	sc.set(tx, "other", "1")
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.must(sc.nowait(sc.lockHolder(s, false), "n", rowlock.Update), "lock after the commit")
	sc.want("records of a key that was locked only", sc.records(s, "n"), 0)
}

func lockedRowIsNotStolen(sc *scene) {
	for _, opts := range []txn.Options{{}, {Protocol: txn.TwoPhase}, async} {
		s := sc.open(single(), opts)
		sc.notStolen(s, s)
	}
}

// notStolen: a commit there over a row that is locked here waits in vain.
func (sc *scene) notStolen(here, there *txn.Store) {
	sc.commit(here, "n", "1")
	holder := sc.lockHolder(here, false)
	sc.must(sc.nowait(holder, "n", rowlock.Update), "lock")
	thief := sc.writer(there, "n", "stolen")
	thief.SetLocking(txn.Locking{Timeout: time.Millisecond})
	if err := thief.Commit(sc.ctx); !errors.Is(err, rowlock.ErrTimeout) {
		sc.fail("commit over a row lock: %v", err)
	}
	sc.set(holder, "n", "2")
	sc.must(holder.Commit(sc.ctx), "commit of the holder")
	sc.want("n", sc.read(there, "n"), "n=2 ")
}

// deadlockIsDetected: each waits for the other. Both waits are in the table at one time only when
// the deadlock was not noticed.
func deadlockIsDetected(sc *scene) {
	s := sc.open(single(), txn.Options{})
	ctx, cancel := context.WithCancel(sc.ctx)
	defer cancel()
	txns := []*txn.Txn{sc.lockHolder(s, false), sc.lockHolder(s, false)}
	keys := [][]byte{[]byte("a"), []byte("b")}
	ends := make(chan error, 2)
	for i, tx := range txns {
		sc.must(tx.LockCurrent(ctx, keys[i], rowlock.Update, false), "lock")
	}
	for i, tx := range txns {
		go func() { ends <- tx.LockCurrent(ctx, keys[1-i], rowlock.Update, false) }()
	}
	var end error
	for waiting := true; waiting; {
		select {
		case end = <-ends:
			waiting = false
		default:
			if waiting = len(s.RowLocks().Waits()) < 2; waiting {
				runtime.Gosched()
				continue
			}
			cancel()
			<-ends
			<-ends
			sc.fail("both wait")
		}
	}
	cancel()
	<-ends
	wantError[*rowlock.DeadlockError](sc, "lock", end)
}
