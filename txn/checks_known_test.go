package txn_test

import (
	"github.com/minidb/minidb/txn"
)

// I21: a coordinator that knows its locks to be as it wrote them does not read them again. It does
// as soon as another transaction has touched one.
var knownClauses = []clause{
	{"I21 I4", "a lock that a resolver has settled is not settled again", settledLockIsLookedAt},
	{"I21 I4", "a lock of an async commit that a resolver has settled is not settled again",
		settledAsyncLockIsLookedAt},
	{"I21 I5", "a primary that a resolver has rolled back is not committed",
		expiredPrimaryIsLookedAt},
}

func settledLockIsLookedAt(sc *scene) { lockPassesOn(sc, txn.AfterCommitPoint, txn.Options{}) }

func settledAsyncLockIsLookedAt(sc *scene) {
	lockPassesOn(sc, txn.AfterPrewrite, txn.Options{Protocol: txn.Async})
}

// lockPassesOn: before a committed transaction comes to its secondary, a reader has rolled that
// forward, and a second transaction has locked it, committed and died. Its lock is not the first
// one's to remove.
func lockPassesOn(sc *scene, committed txn.CrashPoint, opts txn.Options) {
	var s *txn.Store
	commits := 0
	opts.CrashPoint = func(p txn.CrashPoint) bool {
		if p != committed {
			return false
		}
		commits++
		first := commits == 1
		if first {
			sc.want("settled by a reader", sc.read(s, "a", "z"), "a=1 z=1 ")
			tx := sc.writer(s, "b", "2", "z", "2")
			if err := tx.Commit(sc.ctx); err == nil {
				sc.fail("the second commit did not die")
			}
		}
		return !first
	}
	s = sc.open(split(), opts)
	sc.commit(s, "a", "1", "z", "1")
	sc.want("all or none of the second", sc.read(s, "b", "z"), "b=2 z=2 ")
}

// expiredPrimaryIsLookedAt: the coordinator pauses before the commit point until its time is over.
func expiredPrimaryIsLookedAt(sc *scene) {
	s := sc.openWith(split(), txn.Options{}, txn.AfterCommitTS, func(s *txn.Store) bool {
		sc.clock += 60_000
		s.TakeForDead()
		sc.commit(s, "z", "2")
		return false
	})
	tx := sc.writer(s, "a", "1", "z", "1")
	wantError[*txn.WriteConflictError](sc, "commit after a rollback", tx.Commit(sc.ctx))
	sc.want("none of it", sc.read(s, "a", "z"), "a=- z=2 ")
}
