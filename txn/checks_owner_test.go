package txn_test

import (
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// P6 and P16 on a store that several processes share: owners with leases, and one safepoint for
// all.
var ownerClauses = []clause{
	{"P6 I19", "a lock whose owner has ended is not waited for", deadOwnerIsNotAwaited},
	{"P6 I19", "a lock whose owner is alive is waited for", livingOwnerIsAwaited},
	{"P6 I19", "an estimate of the oracle's time ends no session", estimateEndsNoSession},
	{"P16 I20", "a reader that outlived its lease is refused", lapsedReaderIsRefused},
	{"P16 I20", "a write of a transaction that outlived its lease is refused",
		lapsedWriterIsRefused},
	{"P16 I20", "a running transaction of another process holds the safepoint",
		othersHoldTheSafepoint},
}

// processes opens two stores on a shared engine, at one oracle; the coordinators of the first die
// at the crash point. A lease is a minute, a time to live an hour.
func (sc *scene) processes(at txn.CrashPoint) (first, second *txn.Store) {
	e := shared()
	opts := txn.Options{LockTTL: time.Hour, Lease: time.Minute}
	first = sc.openWith(e, opts, at, func(*txn.Store) bool { return true })
	opts.Oracle = first.Oracle()
	return first, sc.open(e, opts)
}

// lockRow takes a row lock in a transaction of its own.
func (sc *scene) lockRow(s *txn.Store, key string) error {
	tx := sc.begin(s)
	defer func() { _ = tx.Rollback(sc.ctx) }()
	return tx.LockCurrent(sc.ctx, []byte(key), rowlock.Update, false)
}

func (sc *scene) locks(s *txn.Store) (n int) {
	snap, err := s.Engine().Snapshot()
	sc.must(err, "snapshot")
	defer func() { _ = snap.Close() }()
	sc.must(mvcc.Locks(sc.ctx, snap, kv.Span{}, func([]byte, mvcc.Lock) error { n++; return nil }),
		"locks")
	return n
}

func deadOwnerIsNotAwaited(sc *scene) {
	dead, other := sc.processes(txn.AfterPrewrite)
	_ = sc.writer(dead, "a", "1", "z", "1").Commit(sc.ctx)
	sc.clock += 60_000
	sc.must(sc.lockRow(other, "z"), "its time to live has an hour to go")
	sc.must(sc.lockRow(other, "a"), "neither is its primary's over")
	sc.want("locks", sc.locks(other), 0)
}

func livingOwnerIsAwaited(sc *scene) {
	owner, other := sc.processes(txn.AfterPrewrite)
	_ = sc.writer(owner, "a", "1", "z", "1").Commit(sc.ctx)
	for range 3 {
		sc.clock += 59_000
		sc.must(owner.RenewLease(sc.ctx), "renew")
		wantError[*txn.LockedError](sc, "its owner lives", sc.lockRow(other, "z"))
	}
	sc.want("locks", sc.locks(other), 2)
	sc.clock += 3_600_000
	sc.must(owner.RenewLease(sc.ctx), "renew")
	sc.must(sc.lockRow(other, "z"), "its time to live is over")
}

// hasty is an oracle whose time is estimated an hour ahead of its timestamps.
type hasty struct{ tso.Source }

func (h hasty) Now() tso.Timestamp {
	return h.Source.(*tso.Oracle).Now() + tso.New(time.Hour.Milliseconds(), 0)
}

// estimateEndsNoSession: the owner of a row lock could commit below the end of its lease although
// the lock is another's.
func estimateEndsNoSession(sc *scene) {
	e := shared()
	owner := sc.open(e, txn.Options{Lease: time.Minute})
	other := sc.open(e, txn.Options{Lease: time.Minute, Oracle: hasty{owner.Oracle()}})
	tx := sc.lockHolder(owner, true)
	sc.must(sc.nowait(tx, "guard", rowlock.Share), "lock")
	sc.mustBeLocked(sc.lockHolder(other, true), "guard", rowlock.Update)
	sc.set(tx, "guarded", "1")
	sc.must(tx.Commit(sc.ctx), "commit")
}

// lapsed returns a transaction that has read "1" of a and b when its process was paused beyond its
// lease; another has removed both, and collected.
func (sc *scene) lapsed() *txn.Txn {
	paused, other := sc.processes("")
	sc.commit(other, "a", "1", "b", "1")
	tx := sc.begin(paused)
	sc.want("at first", sc.get(tx, "a")+sc.get(tx, "b"), "11")
	tx.Idle()
	removal := sc.begin(other)
	sc.must(removal.Delete([]byte("a")), "delete")
	sc.must(removal.Delete([]byte("b")), "delete")
	sc.must(removal.Commit(sc.ctx), "commit")
	sc.clock += 60_000
	sc.collect(other)
	sc.want("records", sc.records(other, "a"), 0)
	return tx
}

func lapsedReaderIsRefused(sc *scene) {
	_, err := sc.lapsed().Get(sc.ctx, []byte("a"))
	wantError[*txn.SafepointError](sc, "a read below the safepoint", err)
}

// lapsedWriterIsRefused: no record is left in which it could find a conflict.
func lapsedWriterIsRefused(sc *scene) {
	tx := sc.lapsed()
	sc.set(tx, "a", "2")
	wantError[*txn.SafepointError](sc, "a commit below the safepoint", tx.Commit(sc.ctx))
}

func othersHoldTheSafepoint(sc *scene) {
	other, collector := sc.processes("")
	sc.commit(collector, "a", "1")
	old := sc.begin(other)
	sc.commit(collector, "a", "2")
	sc.clock += 59_000
	sc.collect(collector)
	v, err := old.Get(sc.ctx, []byte("a"))
	sc.must(err, "its session lives")
	sc.want("at the old snapshot", string(v), "1")
}
