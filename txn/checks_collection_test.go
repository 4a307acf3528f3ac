package txn_test

import (
	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/txn"
)

// P16: collection.
var collectionClauses = []clause{
	{"P16 I6", "locks below the safepoint are settled first", planted.CollectedBeforeSettled, locksAreSettledFirst},
	{"P16 I6", "the newest version at or below the safepoint stays", planted.CollectedNewest, newestVersionStays},
	{"P16 I6", "unless it is a removal, which goes with all that it hides", planted.ResurrectedByCollection, removedStaysRemoved},
	{"P16 I6", "a reader below the safepoint is refused", planted.ReadBelowSafepoint, readerBelowIsRefused},
	{"P16 I6", "a running transaction holds the safepoint", planted.CollectedPastReader, runningTransactionHolds},
}

func (sc *scene) collect(s *txn.Store) {
	_, err := s.CollectGarbage(sc.ctx)
	sc.must(err, "collect")
}

// locksAreSettledFirst: the fate of z is written in the record of a, which is about to be dropped.
func locksAreSettledFirst(sc *scene) {
	s := sc.openWith(split(), txn.Options{}, txn.AfterCommitPoint, func(*txn.Store) bool { return true })
	_ = sc.writer(s, "a", "1", "z", "1").Commit(sc.ctx)
	sc.commit(s, "a", "2")
	sc.clock += 3_600_000
	sc.collect(s)
	sc.want("after the collection", sc.read(s, "a", "z"), "a=2 z=1 ")
}

func newestVersionStays(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "a", "1")
	sc.commit(s, "a", "2")
	sc.collect(s)
	sc.want("after the collection", sc.read(s, "a"), "a=2 ")
	sc.want("records", sc.records(s, "a"), 1)
}

func removedStaysRemoved(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "a", "1")
	tx := sc.begin(s)
	sc.must(tx.Delete([]byte("a")), "delete")
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.collect(s)
	sc.want("after the collection", sc.read(s, "a"), "a=- ")
	sc.want("records", sc.records(s, "a"), 0)
}

func readerBelowIsRefused(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "a", "1")
	then := sc.now(s)
	sc.commit(s, "a", "2")
	sc.collect(s)
	_, err := s.Begin(sc.ctx, txn.BeginOptions{StartTS: then})
	wantError[*txn.SafepointError](sc, "a reader of what is collected", err)
}

func runningTransactionHolds(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "a", "1")
	old := sc.begin(s)
	sc.commit(s, "a", "2")
	sc.collect(s)
	sc.want("at the old snapshot", sc.get(old, "a"), "1")
}
