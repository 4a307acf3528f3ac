package txn_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// waitCells is an engine that notes the cells of waits which are written, each with its lengths.
type waitCells struct {
	kv.Engine
	mu      sync.Mutex
	written map[string][]int
}

func (e *waitCells) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	var wrote map[string]int // by the run that counts, with sizes
	err := kv.UpdateLazy(ctx, e.Engine, rows, func(r kv.Reader, b *kv.Batch) error {
		wrote = map[string]int{}
		if err := step(r, b); err != nil {
			return err
		}
		for i := range b.Len() {
			key, value, deleted := b.Op(i)
			if !deleted && bytes.HasPrefix(key, mvcc.MetaKey("wait/")) {
				wrote[string(key)] = len(key) + len(value)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, size := range wrote {
		e.written[key] = append(e.written[key], size)
	}
	return nil
}

// waits lists those in the store.
func (sc *scene) waits(e kv.Engine) (out []lease.Wait) {
	snap, err := e.Snapshot()
	sc.must(err, "snapshot")
	defer func() { _ = snap.Close() }()
	all, err := lease.NewWaits(sc.ctx, snap)
	sc.must(err, "waits")
	sc.must(all.All(func(w lease.Wait) error {
		out = append(out, w)
		return nil
	}), "waits")
	sc.must(all.Close(), "close")
	return out
}

// TestAWaitIsPublishedOnce: while others come and wait, and while publication follows publication,
// the cell of a wait is written once, and its size does not depend on their number (B16). No wait
// is left in the store when no transaction searches for deadlock cycles any more.
func TestAWaitIsPublishedOnce(t *testing.T) {
	require.NoError(t, prove(func(sc *scene) {
		e := &waitCells{Engine: shared(), written: map[string][]int{}}
		opts := txn.Options{LockTTL: time.Hour, Lease: time.Hour}
		here := sc.open(e.Engine, opts)
		opts.Oracle = here.Oracle()
		there := sc.open(e, opts)
		holder := sc.lockHolder(here, true)
		sc.must(sc.nowait(holder, "hot", rowlock.Update), "lock")

		ended := make(chan error)
		began := 0
		wait := func(mode rowlock.Mode) {
			tx, o := sc.begin(there), there.RowLocks().NewOwner(int64(began+1))
			o.SetPatience(time.Millisecond)
			tx.SetLocking(txn.Locking{Writes: true, Owner: o})
			began++
			go func() {
				err := tx.LockCurrent(sc.ctx, []byte("hot"), mode, false)
				_ = tx.Rollback(sc.ctx)
				ended <- err
			}()
		}
		waiters := func() (n int) {
			for _, st := range there.RowLocks().Waits() {
				n += len(st.Waiters)
			}
			return n
		}
		wait(rowlock.Update) // which waits in the store, and lets the others wait in memory
		until(func() bool { return len(there.LockWaits()) == 1 && len(sc.waits(e)) == 1 })
		for _, n := range []int{10, 500} {
			for began <= n {
				wait(rowlock.Update)
			}
			until(func() bool { return waiters() == n })
			for range 3 {
				sc.must(there.RenewLease(sc.ctx), "renew")
			}
			sc.want("waits in the store", len(sc.waits(e)), n+1)
		}
		stored := 0
		for _, w := range sc.waits(e) {
			if w.Stored {
				stored++
				continue
			}
			sc.want("blockers of one in a queue of writers", len(w.Blockers), 1)
			sizes := e.written[string(w.CellKey())]
			sc.want("times that a wait was written", len(sizes), 1)
			if sizes[0] > 150 {
				sc.fail("a wait has %d bytes", sizes[0])
			}
		}
		sc.want("waits in the store for a lock in the store", stored, 1)

		sc.must(holder.Rollback(sc.ctx), "rollback")
		for range began {
			sc.must(<-ended, "lock")
		}
		sc.must(there.RenewLease(sc.ctx), "renew")
		sc.want("waits left in the store", len(sc.waits(e)), 0)
	}))
}

// TestAListedWaitKeepsItsKey when the wait has ended and its caller uses the key's memory again.
func TestAListedWaitKeepsItsKey(t *testing.T) {
	require.NoError(t, prove(func(sc *scene) {
		here, there := sc.processes("")
		holder := sc.lockHolder(here, true)
		sc.must(sc.nowait(holder, "hot", rowlock.Update), "lock")
		tx, key, ended := sc.begin(there), []byte("hot"), make(chan error)
		tx.SetLocking(txn.Locking{Writes: true, Owner: there.RowLocks().NewOwner(1)})
		go func() { ended <- tx.LockCurrent(sc.ctx, key, rowlock.Update, false) }()
		var waits []txn.LockWait
		until(func() bool { waits = there.LockWaits(); return len(waits) == 1 })
		sc.must(holder.Rollback(sc.ctx), "rollback")
		sc.must(<-ended, "lock")
		copy(key, "new")
		sc.want("key of the wait that was listed", string(waits[0].Key), "hot")
		sc.must(tx.Rollback(sc.ctx), "rollback")
	}))
}

// TestWaitsOfTheDeadEnd with a collection, once their session has ended.
func TestWaitsOfTheDeadEnd(t *testing.T) {
	require.NoError(t, prove(func(sc *scene) {
		dead, other := sc.processes("")
		w := lease.Wait{Waiter: sc.begin(dead).StartTS(), ID: 1, Owner: dead.SessionID(),
			Stored: true, Key: []byte("n")}
		sc.must(kv.UpdateLazy(sc.ctx, dead.Engine(), [][]byte{kv.Row(w.CellKey())},
			func(_ kv.Reader, b *kv.Batch) error {
				b.Set(w.CellKey(), w.Cell())
				return nil
			}), "wait")
		sc.collect(other)
		sc.want("waits of the living", len(sc.waits(other.Engine())), 1)
		sc.clock += 60_000
		sc.must(other.RenewLease(sc.ctx), "renew")
		sc.collect(other)
		sc.want("waits of the dead", len(sc.waits(other.Engine())), 0)
	}))
}
