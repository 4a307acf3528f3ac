package txn_test

import (
	"github.com/minidb/minidb/txn"
)

// I28: a row that memory has is the row that the transaction would read.
var rowCacheClauses = []clause{
	{"I28 I2", "a row in memory hides no commit", keptRowHidesNoCommit},
	{"I28", "a row that an old snapshot has read is not a later one's", oldReaderKeepsItsTime},
	{"I28", "a reader of the past does not get a row that was read later", keptRowIsNotEarlier},
	{"I28", "a row in memory hides no commit of an earlier process", keptRowHidesNoPast},
	{"I28 I4", "a row in memory hides no lock of a committed transaction", keptRowHidesNoLock},
	{"I28 I10", "a read that memory answers counts for the serial order", keptRowsAreRead},
}

func keptRowHidesNoCommit(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "a", "1", "b", "1")
	for _, v := range []string{"1", "2", "3"} {
		sc.commit(s, "a", v)
		sc.want("read, and read again", sc.read(s, "a", "b", "a"), "a="+v+" b=1 a="+v+" ")
	}
	tx := sc.begin(s)
	sc.must(tx.Delete([]byte("a")), "delete")
	sc.want("deleted here", sc.get(tx, "a"), "-")
	sc.must(tx.Commit(sc.ctx), "commit of the delete")
	sc.want("deleted", sc.read(s, "a", "a"), "a=- a=- ")
}

func oldReaderKeepsItsTime(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "a", "1")
	old := sc.begin(s)
	sc.commit(s, "a", "2")
	sc.want("before the commit", sc.get(old, "a"), "1")
	sc.want("after it", sc.read(s, "a"), "a=2 ")
	old.Idle()
	sc.want("before the commit, again", sc.get(old, "a"), "1")
}

func keptRowIsNotEarlier(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "a", "1")
	old := sc.begin(s)
	sc.commit(s, "a", "2")
	sc.want("after the commit", sc.read(s, "a"), "a=2 ")
	sc.want("before it", sc.get(old, "a"), "1")
}

func keptRowHidesNoPast(sc *scene) {
	e := single()
	s := sc.open(e, txn.Options{})
	sc.commit(s, "a", "1")
	between := sc.now(s)
	sc.commit(s, "a", "2")
	after := sc.now(s)
	sc.must(s.Close(), "close")
	s = sc.open(e, txn.Options{})
	sc.want("between", sc.get(sc.beginAt(s, between), "a"), "1")
	sc.want("after", sc.get(sc.beginAt(s, after), "a"), "2")
}

// keptRowHidesNoLock: the coordinator dies behind the commit point, so one key has a lock only.
func keptRowHidesNoLock(sc *scene) {
	commits := 0
	s := sc.open(split(), txn.Options{CrashPoint: func(p txn.CrashPoint) bool {
		if p == txn.AfterCommitPoint {
			commits++
		}
		return p == txn.AfterCommitPoint && commits > 1
	}})
	sc.commit(s, "a", "1", "z", "1")
	sc.want("before", sc.read(s, "a", "z"), "a=1 z=1 ")
	_ = sc.writer(s, "a", "2", "z", "2").Commit(sc.ctx)
	sc.want("commits", commits, 2)
	sc.want("after", sc.read(s, "a", "z"), "a=2 z=2 ")
}

func keptRowsAreRead(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "x", "on", "y", "on")
	sc.want("both in memory", sc.read(s, "x", "y"), "x=on y=on ")
	oneStays(sc, s)
}
