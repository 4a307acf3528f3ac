package txn_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// Waits in a store that several processes share: their order, and cycles of all kinds of them.
var sharedWaitClauses = []clause{
	{"P12 I22", "a process whose transactions hand a row on keeps no other one out",
		queuedRowIsNotTaken},
	{"P13 I17", "a cycle is found whatever its waits in the store are for",
		cycleThroughACommitIsDetected},
}

// until waits for a fact.
func until(holds func() bool) {
	for !holds() {
		runtime.Gosched()
	}
}

// queue puts a transaction into the queue of a row, as one that has waited for long.
func (sc *scene) queue(tx *txn.Txn, s *txn.Store, key string, mode rowlock.Mode) {
	row := mvcc.Row([]byte(key))
	h := mvcc.RowHolder{StartTS: tx.StartTS(), Owner: s.SessionID(), Mode: mode,
		Place: tx.StartTS()}
	sc.must(kv.UpdateLazy(sc.ctx, s.Engine(), [][]byte{row}, func(_ kv.Reader, b *kv.Batch) error {
		mvcc.QueueRow(b, row, h)
		return nil
	}), "queue")
}

// queuedRowIsNotTaken: of two transactions that wait long for rows of another process, one gives up
// and leaves no trace, and one gets the row in the end. A free row with a queue is not given to a
// transaction that comes then, nor to a commit, but to the first of the queue.
func queuedRowIsNotTaken(sc *scene) {
	here, there := sc.processes("")
	ctx, giveUp := context.WithCancel(sc.ctx)
	defer giveUp()
	holder := sc.lockHolder(here, true)
	wait := func(ctx context.Context, key string) <-chan error {
		sc.must(sc.nowait(holder, key, rowlock.Update), "lock")
		tx, done := sc.lockHolder(there, true), make(chan error, 1)
		go func() { done <- tx.LockCurrent(ctx, []byte(key), rowlock.Update, false) }()
		return done
	}
	impatient, patient := wait(ctx, "given up"), wait(sc.ctx, "had")
	until(func() bool { return sc.rowRecords(here) == 4 })
	giveUp()
	if err := <-impatient; !errors.Is(err, context.Canceled) {
		sc.fail("who gave up: %v", err)
	}
	sc.want("row locks, and those who queue", sc.rowRecords(here), 3)
	sc.must(holder.Rollback(sc.ctx), "rollback")
	sc.must(<-patient, "lock of who queued")

	next, queued := sc.lockHolder(here, true), sc.lockHolder(there, true)
	sc.queue(queued, there, "free", rowlock.Update)
	sc.mustBeLocked(next, "free", rowlock.Update)
	writer := sc.writer(here, "free", "taken")
	writer.SetLocking(txn.Locking{Timeout: time.Millisecond})
	if err := writer.Commit(sc.ctx); !errors.Is(err, rowlock.ErrTimeout) {
		sc.fail("commit of a row that another queues for: %v", err)
	}
	sc.must(sc.nowait(queued, "free", rowlock.Update), "lock of who queues")
	sc.must(sc.nowait(next, "given up", rowlock.Update), "lock of the row that was given up")
}

// cycleThroughACommitIsDetected: an old commit of one process waits for the lock of a younger one
// of another, which waits in memory for a row lock of its own process, whose holder waits for the
// old commit.
func cycleThroughACommitIsDetected(sc *scene) {
	e := shared()
	opts := txn.Options{LockTTL: time.Hour, Lease: time.Hour, LockWait: 20 * time.Second,
		BatchKeys: 1}
	here := sc.openWith(e, opts, "", nil) // with crash points the batches are prewritten in turn
	opts.Oracle = here.Oracle()
	var holder *txn.Txn
	there := sc.openWith(e, opts, txn.BeforePrewrite, func(*txn.Store) bool {
		sc.must(sc.nowait(holder, "c", rowlock.Update), "lock")
		return false
	})
	older, younger := sc.writer(here, "a", "1", "b", "1"), sc.writer(there, "b", "2", "c", "2")
	holder = sc.lockHolder(there, true)
	ends := make(chan error, 2)
	go func() { ends <- younger.Commit(sc.ctx) }()
	until(func() bool { return len(there.RowLocks().Waits()) == 1 })
	go func() { ends <- older.Commit(sc.ctx) }()
	until(func() bool { return len(here.LockWaits()) == 1 })
	d := wantError[*rowlock.DeadlockError](sc, "lock",
		holder.LockCurrent(sc.ctx, []byte("a"), rowlock.Update, false))
	sc.want("waits in the cycle", len(d.Cycle), 3)
	sc.want("victim", d.Cycle[0].OwnerTransaction, uint64(holder.StartTS()))
	sc.must(holder.Rollback(sc.ctx), "rollback")
	first, second := <-ends, <-ends
	wantError[*txn.WriteConflictError](sc, "commit of the older", errors.Join(first, second))
	sc.want("b", sc.read(here, "b"), "b=2 ")
}

// TestThePlaceOfTheDeadInAQueue ends with their session, when a transaction meets it or a tool
// settles all.
func TestThePlaceOfTheDeadInAQueue(t *testing.T) {
	require.NoError(t, prove(func(sc *scene) {
		dead, other := sc.processes("")
		tx := sc.lockHolder(dead, false)
		for _, key := range []string{"n", "unmet"} {
			sc.queue(tx, dead, key, rowlock.Share)
		}
		b := sc.lockHolder(other, true)
		sc.mustBeLocked(b, "n", rowlock.Update)
		sc.must(sc.nowait(b, "n", rowlock.KeyShare), "what goes together with it")
		sc.clock += 59_000
		sc.must(other.RenewLease(sc.ctx), "renew")
		sc.must(b.Rollback(sc.ctx), "rollback")
		b = sc.lockHolder(other, true)
		sc.mustBeLocked(b, "n", rowlock.Update)
		sc.clock += 1_000
		sc.must(sc.nowait(b, "n", rowlock.Update), "its lease is past")
		n, err := other.SettleLocks(sc.ctx)
		sc.must(err, "settle locks")
		sc.want("settled", n, 1)
	}))
}
