package txn_test

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

// P9, P14 and P15: one phase or two, the order of timestamps, unknown results.
var onePhaseClauses = []clause{
	{"P9 T6 I8", "a commit of several updates takes two phases", groupsTakeTwoPhases},
	{"P9 I15", "a retry of a commit in two phases takes two phases", retryStaysTwoPhase},
	{"P9 I15", "a commit in one phase whose result was lost is found, or prevented",
		lostUpdateIsBarred},
	{"P14 I2", "commit_ts is drawn after every prewrite", commitTSIsDrawnLast},
	{"P15 I4", "a lost result is reported as unknown", noAnswerIsAmbiguous},
	{"T6 I2", "a commit in one phase shows no lock", onePhaseLeavesNoLock},
	{"T6 I2", "a reader above a commit in one phase does not miss it", onePhaseIsSeen},
}

func groupsTakeTwoPhases(sc *scene) {
	s := sc.open(split(), txn.Options{})
	sc.commit(s, "a", "1", "z", "1")
	sc.want("after the commit", sc.read(s, "a", "z"), "a=1 z=1 ")
}

// retryStaysTwoPhase: the first prewrite is lost and tried again, the second is refused.
func retryStaysTwoPhase(sc *scene) {
	f := kvtest.NewFault(split())
	s := sc.openWith(f, txn.Options{}, "", nil)
	sc.commit(s, "z", "0")
	tx := sc.writer(s, "a", "1")
	sc.must(tx.Insert([]byte("z"), nil), "insert")
	f.Plan(kvtest.FaultPlan{At: 1})
	wantError[*txn.AlreadyExistsError](sc, "commit", tx.Commit(sc.ctx))
	sc.want("all or none", sc.read(s, "a", "z"), "a=- z=0 ")
}

// slow is an engine on which an update can get stuck on its way: its result is unknown, and it
// lands when the test says so, unless one of its rows was written meanwhile. That is what a
// conditional request to a store on the network may do.
type slow struct {
	kv.Engine
	armed bool
	rows  [][]byte // of the update that is stuck
	stuck kv.Batch
}

func (s *slow) Exclusive() bool { return true }

func (s *slow) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if s.armed {
		s.armed, s.rows = false, rows
		snap, err := s.Snapshot()
		if err == nil {
			err = errors.Join(step(snap, &s.stuck), snap.Close())
		}
		return errors.Join(kvtest.ErrInjected, err)
	}
	return s.Engine.Update(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		err := step(r, b)
		if !b.Empty() {
			s.rows = nil
		}
		return err
	})
}

func (s *slow) land(ctx context.Context) error {
	if s.rows == nil {
		return nil
	}
	return s.Engine.Update(ctx, s.rows, func(_ kv.Reader, b *kv.Batch) error {
		for i := range s.stuck.Len() {
			key, value, _ := s.stuck.Op(i)
			b.Set(key, value)
		}
		return nil
	})
}

func lostUpdateIsBarred(sc *scene) {
	e := &slow{Engine: single()}
	s := sc.open(e, txn.Options{})
	sc.commit(s, "warm", "up")
	tx := sc.writer(s, "a", "1")
	e.armed = true
	err := tx.Commit(sc.ctx)
	if err == nil || errors.Is(err, txn.ErrAmbiguous) {
		sc.fail("commit: %v", err)
	}
	sc.must(e.land(sc.ctx), "land")
	sc.want("what was said not to be", sc.read(s, "a"), "a=- ")
}

// commitTSIsDrawnLast: a reader begins between two prewrites, so it is below the commit.
func commitTSIsDrawnLast(sc *scene) {
	var reader *txn.Txn
	s := sc.openWith(split(), txn.Options{}, txn.AfterPrewritePrimary, func(s *txn.Store) bool {
		reader = sc.begin(s)
		sc.want("before its lock", sc.get(reader, "z"), "-")
		return false
	})
	sc.commit(s, "a", "1", "z", "1")
	reader.Idle()
	sc.want("read again", sc.get(reader, "z"), "-")
}

func noAnswerIsAmbiguous(sc *scene) {
	s, err := underFault(sc, kvtest.FaultPlan{At: 2, Times: 1000, Applied: true})
	sc.want("a", sc.read(s, "a"), "a=1 ")
	if err != nil && !errors.Is(err, txn.ErrAmbiguous) {
		sc.fail("it is there, and said to have failed: %w", err)
	}
}

func onePhaseIsSeen(sc *scene) { sc.inFlight(txn.Options{}, 0) }

// onePhaseLeavesNoLock looks at all that is written.
func onePhaseLeavesNoLock(sc *scene) {
	e := &lockCounter{Engine: single()}
	s := sc.open(e, txn.Options{})
	sc.commit(s, "a", "1", "b", "1")
	sc.want("locks written", e.locks, 0)
}

// lockCounter counts the locks that are written.
type lockCounter struct {
	kv.Engine
	locks int
}

func (l *lockCounter) Exclusive() bool { return true }

func (l *lockCounter) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return l.Engine.Update(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		err := step(r, b)
		for i := range b.Len() {
			if key, _, deleted := b.Op(i); !deleted && mvcc.Column(key[0]) == mvcc.ColumnLock {
				l.locks++
			}
		}
		return err
	})
}

// P10 and P11: records that are no versions.
var kindClauses = []clause{
	{"P10 I16", "an insert looks through rollback records", insertLooksThroughRollbacks},
	{"P10 I16", "an insert looks through records of kind lock", insertLooksThroughLocks},
	{"P10 I16", "an insert over an undone streamed write looks for an older value",
		insertLooksBelowItsOwnLock},
	{"P11 I16", "readers skip records of kind lock", undoneWriteIsNone},
	{"P11 I16", "conflict checks see records of kind lock", lockedKeyConflicts},
	{"I13", "a streaming transaction that was rolled back by others reads no more", deadDoNotRead},
	{"I13", "a savepoint takes back what was streamed out", undoneWriteIsNone},
}

func (sc *scene) wantDuplicate(s *txn.Store, key string) {
	tx := sc.begin(s)
	sc.must(tx.Insert([]byte(key), []byte("2")), "insert")
	wantError[*txn.AlreadyExistsError](sc, "commit of an insert", tx.Commit(sc.ctx))
}

func insertLooksThroughRollbacks(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	sc.commit(s, "k", "1")
	sc.must(sc.coordinator(s, "k").rollback("k", true), "rollback")
	sc.wantDuplicate(s, "k")
}

func insertLooksThroughLocks(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	sc.commit(s, "k", "1")
	t := sc.coordinator(s, "k")
	sc.must(t.prewriteKind("k", mvcc.KindLock, ""), "prewrite")
	sc.must(t.commit(sc.now(s), "k"), "commit")
	sc.wantDuplicate(s, "k")
}

// insertLooksBelowItsOwnLock: the first write of the key was no insert, so it was not looked for.
func insertLooksBelowItsOwnLock(sc *scene) {
	s := sc.open(single(), txn.Options{StreamBytes: 1})
	sc.commit(s, "k", "1")
	tx := sc.begin(s)
	sp := tx.Savepoint()
	sc.set(tx, "k", "2")
	tx.RollbackTo(sp)
	err := tx.Insert([]byte("k"), []byte("3"))
	if err == nil {
		err = tx.Commit(sc.ctx)
	}
	wantError[*txn.AlreadyExistsError](sc, "insert", err)
}

// undoneWriteIsNone: what was streamed out and taken back is committed as a record of kind lock.
func undoneWriteIsNone(sc *scene) {
	s := sc.open(single(), txn.Options{StreamBytes: 1})
	sc.commit(s, "k", "1")
	tx := sc.begin(s)
	sp := tx.Savepoint()
	sc.set(tx, "k", "2")
	tx.RollbackTo(sp)
	sc.set(tx, "z", "1")
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("after the commit", sc.read(s, "k", "z"), "k=1 z=1 ")
}

// deadDoNotRead: a resolver has taken the transaction for dead and removed what it had streamed
// out.
func deadDoNotRead(sc *scene) {
	s := sc.open(single(), txn.Options{StreamBytes: 1, LockTTL: time.Hour})
	tx := sc.writer(s, "a", "1", "z", "1")
	sc.want("its own write", sc.get(tx, "z"), "1")
	sc.clock += 2 * time.Hour.Milliseconds()
	s.TakeForDead()
	sc.want("after the time to live", sc.read(s, "a", "z"), "a=- z=- ")
	tx.Idle()
	_, err := tx.Get(sc.ctx, []byte("z"))
	wantError[*txn.WriteConflictError](sc, "its own write", err)
	_, err = tx.Scan(sc.ctx, kv.Span{}, txn.ScanOptions{})
	wantError[*txn.WriteConflictError](sc, "a scan of its own writes", err)
}

// lockedKeyConflicts: one of two doctors locks the other's row instead of writing it, as a store
// that keeps its row locks in the lock column would.
func lockedKeyConflicts(sc *scene) {
	s := sc.open(shared(), txn.Options{})
	sc.commit(s, "x", "on", "y", "on")
	t, other := sc.coordinator(s, "y"), sc.begin(s)
	sc.want("both", sc.get(other, "x")+sc.get(other, "y"), "onon")
	sc.must(t.prewrite("y", "off"), "prewrite")
	sc.must(t.prewriteKind("x", mvcc.KindLock, ""), "prewrite of a lock")
	ts := sc.now(s)
	sc.must(t.commit(ts, "y"), "commit")
	sc.must(t.commit(ts, "x"), "commit")
	sc.set(other, "x", "off")
	wantError[*txn.WriteConflictError](sc, "commit over the locked key", other.Commit(sc.ctx))
}
