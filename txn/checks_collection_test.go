package txn_test

import (
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

// P16: collection.
var collectionClauses = []clause{
	{"P16 I6", "locks below the safepoint are settled first", locksAreSettledFirst},
	{"P16 I6", "the newest version at or below the safepoint stays", newestVersionStays},
	{"P16 I6", "a removal that is the newest version goes with all that it hides",
		removedStaysRemoved},
	{"P16 I6", "a reader below the safepoint is refused", readerBelowIsRefused},
	{"P16 I6", "a running transaction holds the safepoint", runningTransactionHolds},
	{"P16 I25", "a dropped span stays while it may be read", droppedSpanStaysForReaders},
	{"P16 I25", "what is written late in a dropped span is deleted too",
		droppedSpanIsLookedAtAgain},
	{"P16 I25", "a transaction that has read in a dropped span comes before the drop",
		droppedSpanWasRead},
}

func (sc *scene) collect(s *txn.Store) {
	_, err := s.CollectGarbage(sc.ctx)
	sc.must(err, "collect")
}

// locksAreSettledFirst: the status of z is written in the record of a, which is about to be
// dropped.
func locksAreSettledFirst(sc *scene) {
	s := sc.openWith(split(), txn.Options{}, txn.AfterCommitPoint,
		func(*txn.Store) bool { return true })
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

// dropped commits a transaction that drops all keys from r to s.
func (sc *scene) dropped(s *txn.Store) {
	tx := sc.begin(s)
	sc.must(tx.DropSpan(rowsSpan), "drop")
	sc.must(tx.Commit(sc.ctx), "commit of the drop")
}

func droppedSpanStaysForReaders(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "r1", "1")
	old := sc.begin(s)
	sc.dropped(s)
	sc.collect(s)
	old.Idle() // and takes a new snapshot
	sc.commit(s, "a", "1")
	sc.want("at the old snapshot", sc.get(old, "r1"), "1")
}

func droppedSpanIsLookedAtAgain(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "r1", "1")
	sc.dropped(s)
	sc.collect(s)
	row := mvcc.Row([]byte("r2"))
	sc.must(s.Engine().Update(sc.ctx, [][]byte{row}, func(_ kv.Reader, b *kv.Batch) error {
		mvcc.WriteOnePhase(b, 1, 2,
			[]mvcc.Mutation{{Key: []byte("r2"), Row: row, Kind: mvcc.KindPut}})
		return nil
	}), "late write")
	sc.collect(s)
	sc.want("records", sc.records(s, "r2"), 0)
}

func droppedSpanWasRead(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "r1", "1", "x", "1")
	begin := func() *txn.Txn {
		tx, err := s.Begin(sc.ctx, txn.BeginOptions{Serializable: true})
		sc.must(err, "begin")
		return tx
	}
	reader, dropper := begin(), begin()
	sc.want("reader", sc.get(reader, "r1"), "1")
	sc.must(reader.Set([]byte("x"), []byte("2")), "set")
	sc.want("dropper", sc.get(dropper, "x"), "1")
	err := errors.Join(dropper.DropSpan(rowsSpan), dropper.Commit(sc.ctx))
	if err == nil {
		err = reader.Commit(sc.ctx)
	}
	if err == nil {
		sc.fail("both committed, and neither can come first")
	}
	_ = reader.Rollback(sc.ctx)
	_ = dropper.Rollback(sc.ctx)
}
