package txn_test

import (
	"bytes"
	"errors"

	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

// P1 to P3: rollback records, unique timestamps, steps that may be repeated.
var prewriteClauses = []clause{
	{"P1 I5", "a rollback leaves a record that stops a late prewrite", latePrimaryIsStopped},
	{"P1 I5", "the record of a primary is never collapsed", protectedRollbackStays},
	{"P1 I5", "a run of unprotected records is collapsed", rollbacksCollapse},
	{"P2 I1", "no commit_ts is another transaction's start_ts", rollbackHitsNoRecord},
	{"P3 I15", "a prewrite finds its own rollback record", latePrimaryIsStopped},
	{"P3 I15", "a prewrite may be repeated", lostPrewriteIsRepeated},
	{"P3 I15", "a prewrite may be repeated after the commit", prewriteAfterCommit},
	{"P3 I15", "a commit may be repeated", lostCommitIsRepeated},
	{"P3 I15", "a commit fails when it was rolled back", commitAfterRollback},
	{"P3 I15", "a rollback of a committed transaction fails as committed", rollbackAfterCommit},
}

// latePrimaryIsStopped: the primary's prewrite comes after a resolver has given the transaction up
// and rolled back the secondary.
func latePrimaryIsStopped(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	t := sc.coordinator(s, "p")
	sc.must(t.prewrite("s", "1"), "prewrite")
	sc.clock += 5000
	sc.want("after the time to live", sc.read(s, "s"), "s=- ")
	if t.prewrite("p", "1") == nil {
		_ = t.commit(sc.now(s), "p")
	}
	sc.want("all or none", sc.read(s, "p", "s"), "p=- s=- ")
}

// protectedRollbackStays: as before, and meanwhile another transaction was rolled back on p.
func protectedRollbackStays(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	t, other := sc.coordinator(s, "p"), sc.coordinator(s, "q")
	sc.must(t.prewrite("s", "1"), "prewrite")
	sc.clock += 5000
	sc.want("after the time to live", sc.read(s, "s"), "s=- ")
	sc.must(other.rollback("p", false), "rollback")
	if t.prewrite("p", "1") == nil {
		_ = t.commit(sc.now(s), "p")
	}
	sc.want("all or none", sc.read(s, "p", "s"), "p=- s=- ")
}

func rollbacksCollapse(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	for range 50 {
		sc.must(sc.coordinator(s, "p").rollback("hot", false), "rollback")
	}
	sc.want("records on the hot key", sc.records(s, "hot"), 1)
}

// records counts the write records of a key.
func (sc *scene) records(s *txn.Store, key string) (n int) {
	snap, err := s.Engine().Snapshot()
	sc.must(err, "snapshot")
	defer func() { _ = snap.Close() }()
	sc.must(mvcc.Cells(sc.ctx, snap, func(c mvcc.Cell) error {
		if c.Column == mvcc.ColumnWrite && bytes.Equal(c.Key, []byte(key)) {
			n++
		}
		return nil
	}), "cells")
	return n
}

// rollbackHitsNoRecord: a rollback record lies at start_ts, a write record at commit_ts, and both
// in one column of one row.
func rollbackHitsNoRecord(sc *scene) {
	s := sc.openWith(single(), txn.Options{Protocol: txn.Async}, "", nil)
	sc.commit(s, "z", "0")
	sc.commit(s, "a", "1")
	tx := sc.writer(s, "a", "2")
	sc.must(tx.Insert([]byte("z"), nil), "insert")
	wantError[*txn.AlreadyExistsError](sc, "commit", tx.Commit(sc.ctx))
	sc.want("after the rollback", sc.read(s, "a"), "a=1 ")
}

// underFault commits a=1 in two phases on an engine of which an update fails.
func underFault(sc *scene, plan kvtest.FaultPlan) (s *txn.Store, err error) {
	f := kvtest.NewFault(single())
	s = sc.openWith(f, txn.Options{Protocol: txn.TwoPhase}, "", nil)
	sc.commit(s, "warm", "up")
	tx := sc.writer(s, "a", "1")
	f.Plan(plan)
	err = tx.Commit(sc.ctx)
	f.Plan(kvtest.FaultPlan{})
	sc.clock += 3_600_000
	return s, err
}

func lostPrewriteIsRepeated(sc *scene) {
	s, err := underFault(sc, kvtest.FaultPlan{At: 1, Applied: true})
	sc.must(err, "commit after a lost prewrite")
	sc.want("a", sc.read(s, "a"), "a=1 ")
}

func lostCommitIsRepeated(sc *scene) {
	s, err := underFault(sc, kvtest.FaultPlan{At: 2, Applied: true})
	sc.want("a", sc.read(s, "a"), "a=1 ")
	sc.must(err, "commit whose first answer was lost")
}

func prewriteAfterCommit(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	t := sc.coordinator(s, "p")
	sc.must(t.prewrite("p", "1"), "prewrite")
	sc.must(t.commit(sc.now(s), "p"), "commit")
	wantError[*mvcc.CommittedError](sc, "prewrite after the commit", t.prewrite("p", "1"))
	sc.commit(s, "p", "2")
	wantError[*mvcc.CommittedError](sc, "prewrite below a newer commit", t.prewrite("p", "1"))
	sc.want("p", sc.read(s, "p"), "p=2 ")
}

// commitAfterRollback: a resolver takes the coordinator for dead when all its locks are down.
func commitAfterRollback(sc *scene) {
	s := sc.openWith(shared(), txn.Options{}, txn.AfterPrewrite, func(s *txn.Store) bool {
		sc.clock += 5000
		sc.want("after the time to live", sc.read(s, "a"), "a=- ")
		return false
	})
	wantError[*txn.WriteConflictError](sc, "commit", sc.writer(s, "a", "1").Commit(sc.ctx))
	sc.want("a", sc.read(s, "a"), "a=- ")
}

func rollbackAfterCommit(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	t := sc.coordinator(s, "p")
	sc.must(t.prewrite("p", "1"), "prewrite")
	sc.must(t.commit(sc.now(s), "p"), "commit")
	wantError[*mvcc.CommittedError](sc, "rollback", t.rollback("p", true))
	sc.want("p", sc.read(s, "p"), "p=1 ")
}

// P4 and P5: a primary that is not there.
var absenceClauses = []clause{
	{"P4 I5", "an absent primary is waited for until the time to live is over",
		slowPrimaryIsWaitedFor},
	{"P4 I5", "when the time to live of an absent primary is over, its rollback is written",
		latePrimaryIsStopped},
	{"P4 I4", "the primary is rolled back before a secondary is touched", primaryDecidesFirst},
	{"P5 I4", "the primary is a key that is written", primaryIsWritten},
}

func slowPrimaryIsWaitedFor(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	t := sc.coordinator(s, "p")
	sc.must(t.prewrite("s", "1"), "prewrite")
	_, err := sc.begin(s).Get(sc.ctx, []byte("s"))
	wantError[*txn.LockedError](sc, "read of the secondary", err)
	sc.must(t.prewrite("p", "1"), "prewrite of a primary that was slow")
	sc.must(t.commit(sc.now(s), "p"), "commit")
	sc.want("all or none", sc.read(s, "p", "s"), "p=1 s=1 ")
}

// primaryDecidesFirst: the primary's lock was extended, the secondary's looks as if it had expired.
func primaryDecidesFirst(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	t := sc.coordinator(s, "p")
	sc.must(t.prewrite("p", "1"), "prewrite")
	sc.must(t.prewrite("s", "1"), "prewrite")
	sc.must(t.heartbeat(60_000), "heartbeat")
	sc.clock += 5000
	sc.want("before the commit", sc.read(s, "s"), "s=- ")
	sc.must(t.commit(sc.now(s), "p"), "commit")
	sc.want("all or none", sc.read(s, "p", "s"), "p=1 s=1 ")
}

// primaryIsWritten: the lowest key was inserted and deleted again, so nothing is written there.
func primaryIsWritten(sc *scene) {
	s := sc.openWith(split(), txn.Options{}, txn.AfterCommitPoint,
		func(*txn.Store) bool { return true })
	tx := sc.begin(s)
	sc.must(tx.Insert([]byte("a"), []byte("1")), "insert")
	sc.must(tx.Delete([]byte("a")), "delete")
	sc.set(tx, "b", "1", "z", "1")
	if err := tx.Commit(sc.ctx); !errors.Is(err, txn.ErrAbandoned) {
		sc.fail("commit: %v", err)
	}
	sc.clock += 60_000
	s.TakeForDead()
	sc.want("after the commit point", sc.read(s, "b", "z"), "b=1 z=1 ")
}
