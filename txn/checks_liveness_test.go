package txn_test

import (
	"fmt"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// P6 and P7: liveness, and readers that do not wait for running writers.
var livenessClauses = []clause{
	{"P6 I5", "the oracle's time judges the time to live", oracleTimeJudges},
	{"P6 I5", "a long commit extends its lock", longCommitLives},
	{"P6 I5", "a heartbeat does not revive an expired lock", deadStayDead},
	{"P7 I5", "a reader pushes a running writer and does not wait", readerDoesNotWait},
	{"P7 I24", "a commit whose timestamp a reader has pushed draws another", pushedCommitIsAbove},
	{"P7 I2", "a commit whose primary a resolver has pushed draws another timestamp",
		pushedCommitElsewhereIsAbove},
	{"P6 I24", "a running transaction does not expire, whatever the clock does", leapDoesNotKill},
}

func oracleTimeJudges(sc *scene) {
	s := sc.openWith(shared(), txn.Options{}, txn.AfterPrewrite, func(s *txn.Store) bool {
		sc.want("before the commit", sc.read(s, "z"), "z=- ")
		return false
	})
	sc.commit(s, "a", "1", "z", "1")
}

// longCommitLives: ten seconds of prewrites under a lock of three.
func longCommitLives(sc *scene) {
	opts := txn.Options{BatchKeys: 1, Lease: time.Hour,
		Clock: func() int64 { sc.clock += 100; return sc.clock }}
	s := sc.openWith(shared(), opts, txn.AfterPrewrite, func(s *txn.Store) bool {
		sc.want("before the commit", sc.read(s, "k00"), "k00=- ")
		return false
	})
	tx := sc.begin(s)
	for i := range 50 {
		sc.set(tx, fmt.Sprintf("k%02d", i), "v")
	}
	sc.must(tx.Commit(sc.ctx), "commit")
}

// deadStayDead: the heartbeat arrives after a resolver has rolled the transaction back.
func deadStayDead(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	t := sc.coordinator(s, "p")
	sc.must(t.prewrite("p", "1"), "prewrite")
	sc.must(t.prewrite("s", "1"), "prewrite")
	sc.clock += 5000
	sc.want("after the time to live", sc.read(s, "p", "s"), "p=- s=- ")
	_ = t.heartbeat(60_000)
	_ = t.commit(sc.now(s), "p")
	sc.want("all or none", sc.read(s, "p", "s"), "p=- s=- ")
}

func readerDoesNotWait(sc *scene) {
	s := sc.openWith(split(), txn.Options{}, txn.AfterPrewrite, func(s *txn.Store) bool {
		sc.want("before the commit", sc.read(s, "a", "z"), "a=- z=- ")
		return false
	})
	sc.commit(s, "a", "1", "z", "1")
	sc.want("after the commit", sc.read(s, "a", "z"), "a=1 z=1 ")
}

// pushedCommitIsAbove: the reader begins, and reads, when commit_ts has been drawn already.
func pushedCommitIsAbove(sc *scene) { pushedCommit(sc, split()) }

func pushedCommitElsewhereIsAbove(sc *scene) { pushedCommit(sc, shared()) }

func pushedCommit(sc *scene, e kv.Engine) {
	var reader *txn.Txn
	s := sc.openWith(e, txn.Options{}, txn.AfterCommitTS, func(s *txn.Store) bool {
		reader = sc.begin(s)
		sc.want("before the commit", sc.get(reader, "z"), "-")
		return false
	})
	sc.commit(s, "a", "1", "z", "1")
	reader.Idle()
	sc.want("read again", sc.get(reader, "a")+sc.get(reader, "z"), "--")
}

// leapDoesNotKill: the clock makes a step of an hour, and half of one backwards, while a
// transaction has locks in the store. A transaction that meets one waits, or reads past it (B5).
func leapDoesNotKill(sc *scene) {
	for _, opts := range []txn.Options{{StreamBytes: 1}, {Protocol: txn.TwoPhase},
		{Protocol: txn.Async, BatchKeys: 1}} {
		leap := func(s *txn.Store) {
			for _, step := range []int64{3_600_000, -1_800_000} {
				sc.clock += step
				_, err := sc.begin(s).LockKey(sc.ctx, []byte("a"), rowlock.Update, true)
				sc.want("a row lock", err, rowlock.ErrNotAvailable)
				if opts.Protocol != txn.Async { // whose locks are not pushed
					sc.want("after a leap", sc.read(s, "a"), "a=- ")
				}
			}
		}
		s := sc.openWith(single(), opts, txn.AfterPrewritePrimary,
			func(s *txn.Store) bool { leap(s); return false })
		sc.commit(s, "a", "1", "z", "1")
		sc.want("after the commit", sc.read(s, "a", "z"), "a=1 z=1 ")
	}
}
