package txn_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// readOne reads a key in a transaction of its own.
func readOne(t testing.TB, s *txn.Store, key string) string {
	tx := begin(t, s)
	v := get(t, tx, key)
	require.NoError(t, tx.Rollback(context.Background()))
	if v == nil {
		return ""
	}
	return v.(string)
}

// TestATransactionReadsThroughTheSnapshotOfAnEarlierOne counts what the engine is asked for, and
// that what was committed in between is seen (txn: I14).
func TestATransactionReadsThroughTheSnapshotOfAnEarlierOne(t *testing.T) {
	rec := record.New(memkv.New(memkv.Options{}))
	s, err := openTxn(context.Background(), rec, txn.Options{Clock: still})
	require.NoError(t, err)
	commit(t, s, "a", "1", "b", "2")
	require.Equal(t, "1", readOne(t, s, "a"))
	before := rec.Counts()
	require.Equal(t, "1", readOne(t, s, "a"))
	require.Equal(t, "2", readOne(t, s, "b"))
	require.Equal(t, record.Counts{}, rec.Since(before), "nothing was written since")

	commit(t, s, "a", "3")
	before = rec.Counts()
	require.Equal(t, "2", readOne(t, s, "b"))
	require.Equal(t, record.Counts{}, rec.Since(before), "the key was not written since")
	require.Equal(t, "3", readOne(t, s, "a"))
	require.Equal(t, record.Counts{Snapshots: 1, Iters: 1}, rec.Since(before))
	require.Equal(t, "3", readOne(t, s, "a"))

	old := begin(t, s)
	commit(t, s, "a", "4")
	require.Equal(t, "4", readOne(t, s, "a"))
	before = rec.Counts()
	require.Equal(t, "3", get(t, old, "a"), "a snapshot that is younger than the reader shows it "+
		"the past")
	require.Zero(t, rec.Since(before).Snapshots)
	require.NoError(t, old.Rollback(context.Background()))

	commit(t, s, "c", "5")
	tx := begin(t, s)
	require.Equal(t, "2", get(t, tx, "b"))
	require.Equal(t, []string{"a=4", "b=2", "c=5"}, scan(t, tx, kv.Span{}, txn.ScanOptions{}),
		"a span needs a snapshot of everything")
	require.NoError(t, tx.Rollback(context.Background()))
	require.NoError(t, s.Close())
}

// TestASnapshotTakenBesideACommitDoesNotHideIt stops a commit that has its timestamp and is not in
// the engine yet, while a reader above it takes a snapshot and leaves it to others.
func TestASnapshotTakenBesideACommitDoesNotHideIt(t *testing.T) {
	for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
		t.Run(protocol.String(), func(t *testing.T) {
			p := &pausing{Engine: openPebble(t), onKey: "none", reached: make(chan struct{}),
				resume: make(chan struct{})}
			s, err := openTxn(context.Background(), p, txn.Options{Protocol: protocol})
			require.NoError(t, err)
			commit(t, s, "a", "1")
			commit(t, s, "b", "1")
			p.onKey = "a"
			var wg sync.WaitGroup
			wg.Go(func() { commit(t, s, "a", "2") })
			<-p.reached
			require.Equal(t, "1", readOne(t, s, "b"))
			p.resume <- struct{}{}
			wg.Wait()
			require.Equal(t, "1", readOne(t, s, "b"))
			require.Equal(t, "2", readOne(t, s, "a"))
			require.NoError(t, s.Close())
			require.NoError(t, p.Close())
		})
	}
}

// holding counts the snapshots that are open.
type holding struct {
	kv.Engine
	open atomic.Int64
}

type heldSnapshot struct {
	kv.Snapshot
	open *atomic.Int64
}

func (h *holding) Exclusive() bool { return true }

func (h *holding) Snapshot() (kv.Snapshot, error) {
	s, err := h.Engine.Snapshot()
	if err != nil {
		return nil, err
	}
	h.open.Add(1)
	return &heldSnapshot{s, &h.open}, nil
}

func (s *heldSnapshot) Close() error {
	s.open.Add(-1)
	return s.Snapshot.Close()
}

// TestAnIdleStoreHoldsNoSnapshot: what is kept for the next transaction is given up when there is
// none, again and again, and when the store is closed.
func TestAnIdleStoreHoldsNoSnapshot(t *testing.T) {
	h := &holding{Engine: openPebble(t)}
	s, err := openTxn(context.Background(), h, txn.Options{RowCacheBytes: -1})
	require.NoError(t, err)
	commit(t, s, "a", "1")
	for range 2 {
		require.Equal(t, "1", readOne(t, s, "a"))
		require.NotZero(t, h.open.Load())
		for h.open.Load() != 0 {
			runtime.Gosched()
		}
	}
	late := begin(t, s)
	require.Equal(t, "1", get(t, late, "a"))
	require.Equal(t, "1", readOne(t, s, "a"))
	require.NoError(t, s.Close())
	require.NoError(t, late.Rollback(context.Background()))
	require.Zero(t, h.open.Load())
	require.NoError(t, h.Close())
}

// TestAReaderSeesEveryAcknowledgedCommit runs writers and readers of the same few keys side by
// side: what was acknowledged before a transaction began, it reads, twice the same.
func TestAReaderSeesEveryAcknowledgedCommit(t *testing.T) {
	for name, opts := range map[string]txn.Options{
		"one phase": {}, "two phases": {Protocol: txn.TwoPhase},
		"async commit": {Protocol: txn.Async}, "shared": {},
	} {
		t.Run(name, func(t *testing.T) {
			e := kv.Engine(memkv.New(memkv.Options{Shared: true}))
			if name != "shared" {
				e = openPebble(t)
			}
			s, err := openTxn(context.Background(), e, opts)
			require.NoError(t, err)
			const writers, readers, rounds = 3, 3, 300
			var acked [writers]atomic.Int64
			var writing, reading sync.WaitGroup
			stop := make(chan struct{})
			for w := range writers {
				writing.Go(func() {
					for n := range int64(rounds) {
						v := strconv.FormatInt(n+1, 10)
						commit(t, s, fmt.Sprint("k", w), v, fmt.Sprint("l", w), v)
						acked[w].Store(n + 1)
					}
				})
			}
			for range readers {
				reading.Go(func() {
					for w := 0; ; w = (w + 1) % writers {
						select {
						case <-stop:
							return
						default:
						}
						least := acked[w].Load()
						tx := begin(t, s)
						k, l := number(t, tx, "k", w), number(t, tx, "l", w)
						if k < least || k != l || number(t, tx, "k", w) != k {
							t.Errorf("acknowledged %d, read %d and %d", least, k, l)
						}
						newest := newestNumber(t, s, "k", w)
						if newest < k || newestNumber(t, s, "l", w) < newest {
							t.Errorf("read %d, and then without a timestamp %d", k, newest)
						}
						least = newest
						require.NoError(t, tx.Rollback(context.Background()))
						tx = begin(t, s)
						if k := number(t, tx, "k", w); k < least {
							t.Errorf("read %d without a timestamp, and then %d", least, k)
						}
						require.NoError(t, tx.Rollback(context.Background()))
					}
				})
			}
			writing.Wait()
			close(stop)
			reading.Wait()
			require.NoError(t, s.Close())
			require.NoError(t, e.Close())
		})
	}
}

func newestNumber(t testing.TB, s *txn.Store, key string, w int) (n int64) {
	v, err := s.Get(context.Background(), fmt.Append(nil, key, w))
	require.NoError(t, err)
	if v != nil {
		n, err = strconv.ParseInt(string(v), 10, 64)
		require.NoError(t, err)
	}
	return n
}

func number(t testing.TB, tx *txn.Txn, key string, w int) (n int64) {
	if v := get(t, tx, fmt.Sprint(key, w)); v != nil {
		var err error
		n, err = strconv.ParseInt(v.(string), 10, 64)
		require.NoError(t, err)
	}
	return n
}
