package txn_test

import (
	"fmt"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/txn"
)

// P6 and P7: who lives, and readers that do not wait for the living.
var livenessClauses = []clause{
	{"P6 I5", "the oracle's time judges the time to live", planted.LocalClockTTL, oracleTimeJudges},
	{"P6 I5", "a long commit extends its lock", planted.NoHeartbeat, longCommitLives},
	{"P6 I5", "a heartbeat does not revive the dead", planted.RevivingHeartbeat, deadStayDead},
	{"P7 I5", "a reader pushes a living writer and does not wait", planted.ReaderWaits, readerDoesNotWait},
	{"P7 I2", "a commit below a push draws again", planted.UnpushedCommitTS, pushedCommitIsAbove},
}

func oracleTimeJudges(sc *scene) {
	s := sc.openWith(split(), txn.Options{}, txn.AfterPrewrite, func(s *txn.Store) bool {
		sc.want("before the commit", sc.read(s, "z"), "z=- ")
		return false
	})
	sc.commit(s, "a", "1", "z", "1")
}

// longCommitLives: ten seconds of prewrites under a lock of three.
func longCommitLives(sc *scene) {
	opts := txn.Options{TwoPhase: true, BatchKeys: 1, Clock: func() int64 { sc.clock += 100; return sc.clock }}
	s := sc.openWith(single(), opts, txn.AfterPrewrite, func(s *txn.Store) bool {
		sc.want("before the commit", sc.read(s, "k00"), "k00=- ")
		return false
	})
	tx := sc.begin(s)
	for i := range 50 {
		sc.set(tx, fmt.Sprintf("k%02d", i), "v")
	}
	sc.must(tx.Commit(sc.ctx), "commit")
}

// deadStayDead: the heartbeat arrives after a stranger has rolled the transaction back.
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
func pushedCommitIsAbove(sc *scene) {
	var reader *txn.Txn
	s := sc.openWith(split(), txn.Options{}, txn.AfterCommitTS, func(s *txn.Store) bool {
		reader = sc.begin(s)
		sc.want("before the commit", sc.get(reader, "z"), "-")
		return false
	})
	sc.commit(s, "a", "1", "z", "1")
	reader.Idle()
	sc.want("read again", sc.get(reader, "a")+sc.get(reader, "z"), "--")
}
