package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// streaming lists ways to stream that must not show: every write by itself, and a few at a time,
// with keys left over for the commit.
var streaming = []scriptConfig{
	{name: "every write", opts: txn.Options{StreamBytes: 1}, twoPhase: true},
	{name: "a few writes", opts: txn.Options{StreamBytes: 900, BatchKeys: 2}, twoPhase: true},
	{name: "in groups", opts: txn.Options{StreamBytes: 500}, twoPhase: true,
		engine: func() kv.Engine {
			return memkv.New(memkv.Options{HashGroups: 3})
		}},
	{name: "shared", opts: txn.Options{StreamBytes: 500}, twoPhase: true, engine: func() kv.Engine {
		return memkv.New(memkv.Options{Shared: true, Lost: 3})
	}},
}

// TestAStreamingTransactionReadsWhatItWrote runs one seeded list of operations of transactions that
// follow each other, with and without streaming: all answers must be equal (txn: I8, I13).
func TestAStreamingTransactionReadsWhatItWrote(t *testing.T) {
	for range 60 {
		seed := rand.Uint64()
		want := lonelyHistory(t, scriptConfigs[0], seed)
		for _, c := range streaming {
			require.Equal(t, want, lonelyHistory(t, c, seed), "seed %d, %s", seed, c.name)
		}
	}
}

func lonelyHistory(t *testing.T, c scriptConfig, seed uint64) string {
	dice := rand.New(rand.NewPCG(seed, 0))
	s := newScript(t, c)
	defer s.close()
	var out strings.Builder
	frozen := false
	var saved []string // the savepoints that are still wanted
	for range 200 {
		key := fmt.Sprintf("k%d", dice.IntN(8))
		line := []string{
			"get " + key, "get " + key, "scan", "scan reverse", "scan k2 k6", "scan k1 k5 reverse",
			fmt.Sprintf("set %s %d", key, dice.IntN(100)), fmt.Sprintf("set %s %s", key,
				strings.Repeat("v", 256+dice.IntN(9))),
			fmt.Sprintf("set %s %d", key, dice.IntN(100)), "insert " + key + " 1", "delete " +
				key, "delete " + key,
			"savepoint s", "rollback-to s", "rollback-to s", "freeze", "thaw", "commit", "rollback",
			"savepoint s", "forget-after s", "forget",
		}[dice.IntN(22)]
		if s.txns["t"] == nil {
			line, saved, frozen = "begin", nil, false
		}
		switch line {
		case "savepoint s":
			line += fmt.Sprint(len(saved))
			saved = append(saved, line[len("savepoint "):])
		case "forget":
			saved = nil
		case "rollback-to s", "forget-after s":
			if len(saved) == 0 {
				continue
			}
			i := dice.IntN(len(saved))
			line = strings.TrimSuffix(line, "s") + saved[i]
			saved = saved[:i+1]
		}
		switch {
		case line == "freeze" || line == "thaw":
			frozen = line == "freeze"
		case strings.HasPrefix(line, "rollback-to"):
			frozen = false
		case strings.HasPrefix(line, "insert") &&
			(frozen || s.actor("t", []string{"get", key}) != key+" is absent"):
			continue // would fail at different times
		}
		answer := s.actor("t", strings.Fields(line))
		if strings.Contains(answer, "commit") || line == "begin" {
			answer = "done" // what was streamed out and taken back is committed as nothing
		}
		fmt.Fprintf(&out, "%s → %s\n", line, answer)
		if line == "commit" || line == "rollback" {
			delete(s.txns, "t")
			if dice.IntN(8) == 0 {
				// on a shared store the collector is refused, and draws nothing
				now := s.oracle.Now()
				_, _ = s.store.CollectGarbage(context.Background())
				s.oracle.set(now + 10)
			}
		}
	}
	return out.String()
}

// TestOthersAroundAStreamingTransaction: readers do not wait for it and see nothing of it, writers
// of its keys lose or wait, and its commit appears whole.
func TestOthersAroundAStreamingTransaction(t *testing.T) {
	ctx := context.Background()
	e := openPebble(t)
	s, err := openTxn(ctx, e, txn.Options{StreamBytes: 1, LockWait: time.Millisecond})
	require.NoError(t, err)
	var seen []txn.Streamed
	tx, err := s.Begin(ctx, txn.BeginOptions{OnStream: func(
		st txn.Streamed) {
		seen = append(seen, st)
	}})
	require.NoError(t, err)
	for _, k := range []string{"b", "a", "c"} {
		require.NoError(t, tx.Set([]byte(k), []byte("1")))
	}
	require.Equal(t, int64(3), seen[len(seen)-1].Keys)
	reader := begin(t, s)
	require.Empty(t, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
	rival := begin(t, s)
	require.Error(t, rival.Set([]byte("c"), []byte("2")), "it streams too, and meets the lock")
	require.NoError(t, rival.Rollback(ctx))
	require.NoError(t, tx.Commit(ctx))
	require.Greater(t, tx.CommitTS(), reader.StartTS())
	require.Empty(t, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, reader.Rollback(ctx))
	later := begin(t, s)
	require.Equal(t, []string{"a=1", "b=1", "c=1"}, scan(t, later, kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, later.Rollback(ctx))
	require.NoError(t, s.Close())
	checkStore(t, e, "after Close")
	require.NoError(t, e.Close())
}

// TestAStreamIsCancelledAtAnyMoment: the context ends in the middle, and after the rollback nothing
// is left.
func TestAStreamIsCancelledAtAnyMoment(t *testing.T) {
	for n := range 12 {
		ctx, cancel := context.WithCancel(context.Background())
		e := memkv.New(memkv.Options{})
		s, err := openTxn(context.Background(), e, txn.Options{StreamBytes: 2000, BatchKeys: 2,
			CrashPoint: func(p txn.CrashPoint) bool {
				if n == 0 && p == txn.AfterPrewritePrimary {
					cancel() // inside a batch, not between two
				}
				return false
			}})
		require.NoError(t, err)
		streams := 0
		tx, err := s.Begin(ctx, txn.BeginOptions{OnStream: func(txn.Streamed) {
			if streams++; streams == n {
				cancel()
			}
		}})
		require.NoError(t, err)
		for i := 0; i < 100 && err == nil; i++ {
			err = tx.Set(fmt.Appendf(nil, "k%03d", i), []byte("v"))
		}
		if err == nil {
			err = tx.Commit(ctx)
		}
		if ctx.Err() != nil {
			require.ErrorIs(t, err, context.Canceled)
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, tx.Rollback(ctx))
		reader := begin(t, s)
		left := len(scan(t, reader, kv.Span{}, txn.ScanOptions{}))
		require.True(t, left == 0 && ctx.Err() != nil || left == 100 && ctx.Err() == nil, "%d keys",
			left)
		require.NoError(t, reader.Rollback(context.Background()))
		require.NoError(t, s.Close())
		checkStore(t, e, fmt.Sprintf("cancelled after %d of %d: %v", n, streams, err))
		cancel()
	}
}

// TestAStreamDiesWithItsCoordinator stops it at every crash point that it passes: after the time to
// live, others find all or nothing.
func TestAStreamDiesWithItsCoordinator(t *testing.T) {
	ctx := context.Background()
	for stop := 1; stop < 30; stop++ {
		e := memkv.New(memkv.Options{})
		passed, died := 0, txn.CrashPoint("")
		s, err := openTxn(ctx, e,
			txn.Options{StreamBytes: 800, BatchKeys: 2, CrashPoint: func(p txn.CrashPoint) bool {
				if passed++; passed == stop {
					died = p
				}
				return passed == stop
			}})
		require.NoError(t, err)
		tx := begin(t, s)
		for i := 0; i < 10 && err == nil; i++ {
			err = tx.Set(fmt.Appendf(nil, "k%02d", i), []byte("v"))
		}
		if err == nil {
			err = tx.Commit(ctx)
		}
		acked := err == nil
		require.NoError(t, tx.Rollback(ctx))
		require.NoError(t, s.Close())
		s, err = openTxn(ctx, e, txn.Options{})
		require.NoError(t, err)
		reader := begin(t, s)
		left := len(scan(t, reader, kv.Span{}, txn.ScanOptions{}))
		require.Contains(t, []int{0, 10}, left, "died at %s", died)
		require.False(t, acked && left == 0, "died at %s", died)
		require.NoError(t, reader.Rollback(ctx))
		_, err = s.SettleLocks(ctx)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		checkStore(t, e, string(died))
		if died == "" {
			return
		}
	}
	t.Fatal("it never got through")
}

// TestAStreamingTransactionIsKeptAlive: its client thinks for longer than the lock's time to live.
func TestAStreamingTransactionIsKeptAlive(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{Shared: true, Lost: 3})
	var clock atomic.Int64
	clock.Store(1_000_000)
	oracle, err := tso.Open(ctx, e, mvcc.MetaKey("oracle"), tso.Options{Clock: clock.Load})
	require.NoError(t, err)
	s, err := openTxn(ctx, e, txn.Options{StreamBytes: 1, LockTTL: 30 * time.Millisecond,
		Oracle: oracle})
	require.NoError(t, err)
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	ttl := func() (millis uint64) {
		snap, err := kv.Latest(e)
		require.NoError(t, err)
		require.NoError(t, mvcc.Locks(ctx, snap, kv.Span{}, func(_ []byte, l mvcc.Lock) error {
			millis = l.TTLMillis
			return nil
		}))
		require.NoError(t, snap.Close())
		return millis
	}
	first := ttl()
	clock.Add(100)
	for ttl() < first+100 {
		runtime.Gosched()
	}
	reader := begin(t, s)
	require.Nil(t, get(t, reader, "a"))
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, tx.Commit(ctx))
	require.NoError(t, s.Close())
}

// TestAMillionKeysInBoundedMemory writes far more than the transaction may hold. MINIDB_STREAM_KEYS
// sets the number of keys.
func TestAMillionKeysInBoundedMemory(t *testing.T) {
	keys := 60_000
	if v := os.Getenv("MINIDB_STREAM_KEYS"); v != "" {
		_, err := fmt.Sscan(v, &keys)
		require.NoError(t, err)
	}
	const bound = 12 << 20 // 60,000 buffered writes take 21 MiB
	ctx := context.Background()
	// under -race they are on the heap
	e, err := pebblekv.Open(t.TempDir(),
		pebblekv.Options{MemTableBytes: 1 << 20, CacheBytes: 1 << 20})
	require.NoError(t, err)
	s, err := openTxn(ctx, e, txn.Options{StreamBytes: 4 << 20})
	require.NoError(t, err)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	value := strings.Repeat("v", 200)
	for i := range keys {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "key %08d", i), []byte(value)))
		if i%10_000 == 9999 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
		}
	}
	require.NotZero(t, most)
	require.NoError(t, tx.Commit(ctx))
	require.Less(t, most, uint64(bound), "what lives, of %d MiB written", keys*216>>20)
	t.Logf("%d keys, %d MiB at most", keys, most>>20)
	n := 0
	reader := begin(t, s)
	it, err := reader.Scan(ctx, kv.Span{}, txn.ScanOptions{KeysOnly: true})
	require.NoError(t, err)
	for it.Next() {
		n++
	}
	require.NoError(t, errors.Join(it.Err(), it.Close()))
	require.Equal(t, keys, n)
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}
