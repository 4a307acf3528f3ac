package txn_test

import (
	"errors"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
)

// P11 to P13 on a store that several processes share: row locks that each of them sees.
var rowRecordClauses = []clause{
	{"P11 I22", "a row lock is seen by other processes", rowLockIsSeenElsewhere},
	{"P11 I22", "a transaction that locks a row sees row locks of other processes",
		rowLockIsSeenElsewhere},
	{"P12 I22", "a commit of another process writes no locked row", lockedRowIsNotStolenElsewhere},
	{"P12 I22", "after a wait for another process a transaction reads again",
		waiterElsewhereReadsAgain},
	{"P12 I22", "row locks in the store end with their transaction",
		recordsEndWithTheirTransaction},
	{"P12 I22", "row locks in the store are held until the writes are visible",
		recordsAreHeldToTheEnd},
	{"P12 I22", "ROLLBACK TO gives back row locks in the store taken after the savepoint",
		recordsEndAtTheSavepoint},
	{"P12 I22", "row locks in the store end with the lease of their process", recordsOfTheDeadEnd},
	{"P12 I22", "a transaction that lost row locks with its lease does not commit",
		lostRowLockFailsTheCommit},
	{"P12 I22", "a required row lock lasts until commit_ts, also of a key that is written",
		requiredRowLockLasts},
	{"P12 I22", "a transaction that lost a row lock waits for the present holder",
		lostRowLockIsWaitedFor},
	{"P12 I22", "a commit locks no row that it has prewritten", prewrittenRowIsNotLocked},
	{"P13 I22", "deadlocks across processes are detected", deadlockElsewhereIsDetected},
}

func (sc *scene) mustBeLocked(tx *txn.Txn, key string, mode rowlock.Mode) {
	if err := sc.nowait(tx, key, mode); !errors.Is(err, rowlock.ErrNotAvailable) {
		sc.fail("%s of %s, which is locked: %v", mode, key, err)
	}
}

// rowRecords counts the holders of row locks in the store.
func (sc *scene) rowRecords(s *txn.Store) (n int) {
	snap, err := s.Engine().Snapshot()
	sc.must(err, "snapshot")
	defer func() { _ = snap.Close() }()
	sc.must(mvcc.RowLocks(sc.ctx, snap, kv.Span{}, func([]byte, mvcc.RowHolder) error {
		n++
		return nil
	}), "row locks")
	return n
}

// rowLockIsSeenElsewhere, and those that go together do.
func rowLockIsSeenElsewhere(sc *scene) {
	here, there := sc.processes("")
	a, b := sc.lockHolder(here, true), sc.lockHolder(there, true)
	for _, held := range []rowlock.Mode{rowlock.KeyShare, rowlock.Share, rowlock.NoKeyUpdate,
		rowlock.Update} {
		key := "held " + held.String()
		sc.must(sc.nowait(a, key, held), "lock")
		for _, wanted := range []rowlock.Mode{rowlock.Update, rowlock.NoKeyUpdate, rowlock.Share,
			rowlock.KeyShare} {
			if held.Conflicts(wanted) {
				sc.mustBeLocked(b, key, wanted)
				continue
			}
			sc.must(sc.nowait(b, key, wanted), wanted.String()+" beside "+held.String())
		}
	}
	sc.must(a.Rollback(sc.ctx), "rollback")
	sc.must(sc.nowait(b, "held update", rowlock.Update), "after the end")
}

func lockedRowIsNotStolenElsewhere(sc *scene) {
	here, there := sc.processes("")
	sc.notStolen(here, there)
	sc.want("row locks left", sc.rowRecords(there), 0)
}

func waiterElsewhereReadsAgain(sc *scene) {
	sc.readsAgain(sc.processes(""))
	here, there := sc.processes("")
	_, err := sc.afterWait(here, there, false)
	wantError[*txn.WriteConflictError](sc, "lock in a snapshot", err)
}

func recordsEndWithTheirTransaction(sc *scene) {
	here, there := sc.processes("")
	tx := sc.lockHolder(here, false)
	for _, key := range []string{"n", "only locked", "other"} {
		sc.must(sc.nowait(tx, key, rowlock.Update), "lock")
	}
	sc.set(tx, "n", "1", "other", "1")
	sc.want("row locks", sc.rowRecords(there), 3)
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("row locks after the commit", sc.rowRecords(there), 0)
	sc.must(sc.nowait(sc.lockHolder(there, true), "only locked", rowlock.Update), "lock elsewhere")
}

// prewrittenRowIsNotLocked: while a commit waits for one of its keys, a transaction of the same
// process waits for another that is prewritten. The commit does not wait for that one, and leaves
// no row lock behind.
func prewrittenRowIsNotLocked(sc *scene) {
	waiting, released := make(chan error, 1), make(chan error, 1)
	var waiter *txn.Txn
	here := sc.openWith(shared(), txn.Options{BatchKeys: 1, LockWait: time.Hour},
		txn.AfterPrewritePrimary, func(s *txn.Store) bool {
			holder := sc.lockHolder(s, true)
			sc.must(sc.nowait(holder, "b", rowlock.Update), "lock")
			waiter = sc.lockHolder(s, true)
			go func() {
				waiting <- waiter.LockCurrent(sc.ctx, []byte("a"), rowlock.Update, false)
			}()
			until(func() bool { return len(s.RowLocks().States()) == 2 })
			go func() {
				until(func() bool { return len(s.RowLocks().Waits()) > 0 })
				released <- holder.Rollback(sc.ctx)
			}()
			return false
		})
	tx := sc.writer(here, "a", "1", "b", "1")
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.must(<-released, "rollback of the holder")
	wantError[*txn.StaleError](sc, "lock after the commit", <-waiting)
	sc.must(waiter.Rollback(sc.ctx), "rollback")
	sc.want("row locks in the store", sc.rowRecords(here), 0)
}

// recordsAreHeldToTheEnd: of a key that is written the prewrite's lock is held, of others the row
// lock.
func recordsAreHeldToTheEnd(sc *scene) {
	e := shared()
	var there *txn.Store
	looked := false
	here := sc.openWith(e, txn.Options{}, txn.AfterPrewrite, func(*txn.Store) bool {
		looked = true
		b := sc.lockHolder(there, true)
		sc.mustBeLocked(b, "n", rowlock.Update)
		sc.mustBeLocked(b, "only locked", rowlock.Share)
		return false
	})
	there = sc.open(e, txn.Options{Oracle: here.Oracle()})
	tx := sc.lockHolder(here, false)
	sc.must(sc.nowait(tx, "n", rowlock.Update), "lock")
	sc.must(sc.nowait(tx, "only locked", rowlock.Update), "lock")
	sc.set(tx, "n", "1")
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("looked", looked, true)
}

func recordsEndAtTheSavepoint(sc *scene) {
	here, there := sc.processes("")
	tx, b := sc.lockHolder(here, true), sc.lockHolder(there, true)
	sc.must(sc.nowait(tx, "before", rowlock.Share), "lock")
	sp := tx.Savepoint()
	sc.must(sc.nowait(tx, "before", rowlock.Update), "lock")
	sc.must(sc.nowait(tx, "after", rowlock.Update), "lock")
	sc.mustBeLocked(b, "before", rowlock.Share)
	tx.RollbackTo(sp)
	sc.must(sc.nowait(b, "after", rowlock.Update), "lock that was taken after the savepoint")
	sc.must(sc.nowait(b, "before", rowlock.Share), "lock that was made stronger after it")
	sc.mustBeLocked(b, "before", rowlock.Update)
}

func recordsOfTheDeadEnd(sc *scene) {
	dead, other := sc.processes("")
	sc.must(sc.nowait(sc.lockHolder(dead, false), "n", rowlock.Update), "lock")
	sc.must(sc.nowait(sc.lockHolder(dead, false), "unmet", rowlock.Update), "lock")
	b := sc.lockHolder(other, true)
	sc.clock += 59_000
	sc.must(other.RenewLease(sc.ctx), "renew")
	sc.mustBeLocked(b, "n", rowlock.KeyShare)
	sc.clock += 1_000
	sc.must(sc.nowait(b, "n", rowlock.Update), "its lease is past")
	sc.collect(other)
	sc.want("row locks after a collection", sc.rowRecords(other), 1)
}

// lostRowLockFailsTheCommit: it was paused, and what it had locked was changed meanwhile.
func lostRowLockFailsTheCommit(sc *scene) {
	paused, other := sc.processes("")
	sc.commit(other, "guard", "1")
	tx := sc.lockHolder(paused, true)
	sc.must(sc.nowait(tx, "guard", rowlock.Share), "lock")
	sc.clock += 60_000
	b := sc.lockHolder(other, true)
	sc.must(sc.nowait(b, "guard", rowlock.Update), "lock of the paused")
	sc.set(b, "guard", "2")
	sc.must(b.Commit(sc.ctx), "commit")
	sc.set(tx, "guarded", "1")
	wantError[*txn.WriteConflictError](sc, "commit without the lock", tx.Commit(sc.ctx))
}

// requiredRowLockLasts: what the transaction has found under the lock of a key that it removes, it
// has found in vain when the lock was another's meanwhile, though that one only locked the key.
func requiredRowLockLasts(sc *scene) {
	for _, required := range []bool{false, true} {
		paused, other := sc.processes("")
		sc.commit(other, "parent", "1")
		tx := sc.lockHolder(paused, true)
		sc.want("without a lock", tx.RequireLock([]byte("parent")), false)
		sc.must(sc.nowait(tx, "parent", rowlock.NoKeyUpdate), "lock")
		sc.want("with a weaker one", tx.RequireLock([]byte("parent")), false)
		sc.must(sc.nowait(tx, "parent", rowlock.Update), "lock")
		if required {
			sc.want("with the lock", tx.RequireLock([]byte("parent")), true)
		}
		sc.want("child", sc.get(tx, "child"), "-")
		sc.must(tx.Delete([]byte("parent")), "delete")
		sc.clock += 60_000
		b := sc.lockHolder(other, true)
		sc.must(sc.nowait(b, "parent", rowlock.KeyShare), "lock of the paused")
		sc.set(b, "child", "1")
		sc.must(b.Commit(sc.ctx), "commit")
		err := tx.Commit(sc.ctx)
		if !required {
			sc.must(err, "commit without a lock that is not required")
			continue
		}
		wantError[*txn.WriteConflictError](sc, "commit without the lock", err)
		sc.want("left", sc.read(other, "parent", "child"), "parent=1 child=1 ")
	}
}

// lostRowLockIsWaitedFor: a commit does not believe that it has a lock which the store gave to
// another.
func lostRowLockIsWaitedFor(sc *scene) {
	paused, other := sc.processes("")
	tx := sc.lockHolder(paused, false)
	tx.SetLocking(txn.Locking{Writes: true, Timeout: time.Millisecond})
	sc.must(sc.nowait(tx, "n", rowlock.Update), "lock")
	sc.clock += 60_000
	sc.must(sc.nowait(sc.lockHolder(other, true), "n", rowlock.Update), "lock of the paused")
	sc.set(tx, "n", "1")
	if err := tx.Commit(sc.ctx); !errors.Is(err, rowlock.ErrTimeout) {
		sc.fail("commit over a lost row lock: %v", err)
	}
}

// deadlockElsewhereIsDetected: each of two processes has a transaction that waits for the other's,
// one of them through a third that waits in memory. The younger of those that wait in the store
// gives in.
func deadlockElsewhereIsDetected(sc *scene) {
	here, there := sc.processes("")
	begin := func(s *txn.Store, id int64) *txn.Txn {
		tx := sc.begin(s)
		o := s.RowLocks().NewOwner(id)
		o.SetPatience(time.Millisecond)
		tx.SetLocking(txn.Locking{Writes: true, Owner: o, Timeout: 5 * time.Second})
		return tx
	}
	a, b, c := begin(here, 1), begin(there, 2), begin(here, 3)
	sc.must(sc.nowait(a, "a", rowlock.Update), "lock")
	sc.must(sc.nowait(b, "b", rowlock.Update), "lock")
	sc.must(sc.nowait(c, "c", rowlock.Update), "lock")
	type end struct {
		tx  *txn.Txn
		err error
	}
	ends := make(chan end, 3)
	for tx, key := range map[*txn.Txn]string{a: "c", b: "a", c: "b"} {
		go func() {
			err := tx.LockCurrent(sc.ctx, []byte(key), rowlock.Update, false)
			_ = tx.Rollback(sc.ctx)
			ends <- end{tx, err}
		}()
	}
	of := map[*txn.Txn]error{}
	for range 3 { // in either order: a victim's locks are others' before its end is
		x := <-ends
		of[x.tx] = x.err
	}
	e := wantError[*rowlock.DeadlockError](sc, "lock of the victim", of[c])
	sc.want("cycle", e.Error(), "deadlock: 3 waits for 2, 2 waits for 1, 1 waits for 3")
	sc.must(of[a], "lock of another")
	sc.must(of[b], "lock of another")
}
