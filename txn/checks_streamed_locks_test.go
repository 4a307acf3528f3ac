package txn_test

import (
	"runtime"
	"time"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// P12 of large transactions, which give row locks back.
var streamedLockClauses = []clause{
	{"P12 I13", "a row lock is given back only for a lock of the key in the store",
		streamedLocksStand},
	{"P12 I13", "a transaction that waits for a streamed key does not keep its owner from it",
		streamedKeyStaysItsOwn},
}

// givenBack returns a transaction that has locked a, b and n, and has the lock of n in the store
// alone.
func (sc *scene) givenBack() (*txn.Store, *txn.Txn) {
	s := sc.open(single(), txn.Options{StreamBytes: 1, RowLocks: 1, LockWait: time.Nanosecond})
	sc.commit(s, "a", "1", "b", "1", "n", "1")
	holder := sc.begin(s)
	holder.SetLocking(txn.Locking{Writes: true, Owner: s.RowLocks().NewOwner(7)})
	for _, key := range []string{"a", "b", "n"} {
		sc.must(holder.LockCurrent(sc.ctx, []byte(key), rowlock.Update, false), "lock")
	}
	sc.set(holder, "n", "2")
	sc.want("n is locked in memory", s.RowLocks().Contested(nil, []byte("n"), rowlock.Update),
		false)
	return s, holder
}

func streamedLocksStand(sc *scene) {
	s, holder := sc.givenBack()
	refused := func() {
		for _, key := range []string{"a", "b", "n"} {
			sc.mustBeLocked(sc.lockHolder(s, false), key, rowlock.Update)
			contested, err := sc.lockHolder(s, false).Contested(sc.ctx, []byte(key),
				rowlock.KeyShare)
			sc.must(err, "contested")
			sc.want(key+" is contested", contested, true)
			thief := sc.begin(s)
			thief.SetLocking(txn.Locking{Timeout: time.Nanosecond})
			err = thief.Set([]byte(key), []byte("stolen")) // streams, and may have to wait there
			if err == nil {
				err = thief.Commit(sc.ctx)
			}
			if err == nil {
				sc.fail("commit over the lock of %s", key)
			}
			sc.must(thief.Rollback(sc.ctx), "rollback of the thief")
		}
	}
	refused()
	sp := holder.Savepoint()
	sc.set(holder, "n", "3")
	refused()
	holder.RollbackTo(sp)
	refused()
	sc.must(holder.Commit(sc.ctx), "commit of the holder")
	later := sc.lockHolder(s, false)
	for _, key := range []string{"a", "b", "n"} {
		sc.must(sc.nowait(later, key, rowlock.Update), "lock after the commit")
	}
	sc.want("n", sc.get(later, "n"), "2")
}

func streamedKeyStaysItsOwn(sc *scene) {
	s, holder := sc.givenBack()
	waiter := sc.begin(s)
	waiter.SetLocking(txn.Locking{Writes: true, Owner: s.RowLocks().NewOwner(9)})
	got := make(chan error, 1)
	go func() { got <- waiter.LockCurrent(sc.ctx, []byte("n"), rowlock.Update, false) }()
	for len(s.LockWaits()) == 0 {
		if len(got) > 0 {
			sc.fail("it does not wait: %v", <-got)
		}
		runtime.Gosched()
	}
	sc.must(sc.nowait(holder, "n", rowlock.NoKeyUpdate), "lock of its own key, without a wait")
	sc.must(holder.LockCurrent(sc.ctx, []byte("n"), rowlock.Update, false), "lock of its own key")
	sc.set(holder, "n", "3")
	sc.set(holder, "n", "4")
	if len(got) > 0 {
		sc.fail("it waits no more: %v", <-got)
	}
	sc.must(holder.Commit(sc.ctx), "commit of the holder")
	wantError[*txn.WriteConflictError](sc, "lock", <-got)
}
