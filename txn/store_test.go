package txn_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engines are the ways in which every behaviour is tested: one phase, forced two phases, several
// groups, and an engine that does not claim to be exclusive.
var engines = []struct {
	name string
	opts txn.Options
	open func(t *testing.T) kv.Engine
}{
	{"pebble one phase", txn.Options{}, openPebble},
	{"pebble two phases", txn.Options{Protocol: txn.TwoPhase}, openPebble},
	{"memory one phase", txn.Options{},
		func(*testing.T) kv.Engine { return memkv.New(memkv.Options{}) }},
	{"memory groups", txn.Options{},
		func(*testing.T) kv.Engine { return memkv.New(memkv.Options{HashGroups: 3}) }},
	{"memory shared, small batches", txn.Options{BatchKeys: 2}, func(*testing.T) kv.Engine {
		return memkv.New(memkv.Options{Shared: true, HashGroups: 2, Lost: 5})
	}},
	{"memory shared, short snapshots", txn.Options{}, func(*testing.T) kv.Engine {
		// Enough for what needs one state, such as the search for a cycle of waits.
		return memkv.New(memkv.Options{Shared: true, Reads: 1000, Lost: 3})
	}},
}

func openPebble(t *testing.T) kv.Engine {
	e, err := pebblekv.Open("",
		pebblekv.Options{InMemory: true, MemTableBytes: 1 << 20, CacheBytes: 1 << 20})
	require.NoError(t, err)
	return kvtest.NewPoison(e)
}

// still is a clock that does not move. Tests that count what an engine is asked for run on it: by
// the machine's clock the oracle would extend its range in between, the more often the slower the
// machine is.
func still() int64 { return 1000 }

// openStore opens a store that is closed when the test ends.
func openStore(t *testing.T, engine kv.Engine, opts txn.Options) *txn.Store {
	t.Helper()
	s, err := openTxn(context.Background(), engine, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// everywhere runs a test on each of the engines.
func everywhere(t *testing.T, run func(t *testing.T, s *txn.Store)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			engine := e.open(t)
			s, err := openTxn(context.Background(), engine, e.opts)
			require.NoError(t, err)
			run(t, s)
			require.NoError(t, s.Close())
			require.NoError(t, engine.Close())
		})
	}
}

func begin(t testing.TB, s *txn.Store) *txn.Txn {
	tx, err := s.Begin(context.Background(), txn.BeginOptions{})
	require.NoError(t, err)
	return tx
}

func commit(t testing.TB, s *txn.Store, kvs ...string) {
	tx := begin(t, s)
	for i := 0; i < len(kvs); i += 2 {
		require.NoError(t, tx.Set([]byte(kvs[i]), []byte(kvs[i+1])))
	}
	require.NoError(t, tx.Commit(context.Background()))
}

func get(t testing.TB, tx *txn.Txn, key string) any {
	v, err := tx.Get(context.Background(), []byte(key))
	require.NoError(t, err)
	if v == nil {
		return nil
	}
	return string(v)
}

func scan(t testing.TB, tx *txn.Txn, span kv.Span, opts txn.ScanOptions) (out []string) {
	it, err := tx.Scan(context.Background(), span, opts)
	require.NoError(t, err)
	for it.Next() {
		out = append(out, fmt.Sprintf("%s=%s", it.Key(), it.Value()))
	}
	require.NoError(t, it.Err())
	require.NoError(t, it.Close())
	return out
}

func TestWritesAreReadBackAndScanned(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		ctx := context.Background()
		long := string(make([]byte, 1000))
		commit(t, s, "a", "1", "b", "", "c\x00d", long, "c", "3")
		tx := begin(t, s)
		require.Equal(t, "1", get(t, tx, "a"))
		require.Equal(t, "", get(t, tx, "b"))
		require.Equal(t, long, get(t, tx, "c\x00d"))
		require.Nil(t, get(t, tx, "d"))
		require.NoError(t, tx.Set([]byte("bb"), []byte("own")))
		require.NoError(t, tx.Delete([]byte("a")))
		require.NoError(t, tx.Set([]byte("c"), []byte("33")))
		all := []string{"b=", "bb=own", "c=33", "c\x00d=" + long}
		require.Equal(t, all, scan(t, tx, kv.Span{}, txn.ScanOptions{}))
		require.Equal(t, []string{"c\x00d=" + long, "c=33", "bb=own", "b="},
			scan(t, tx, kv.Span{}, txn.ScanOptions{Reverse: true}))
		require.Equal(t, []string{"b=", "bb=own"},
			scan(t, tx, kv.Span{Start: []byte("b"), End: []byte("c")}, txn.ScanOptions{}))
		require.NoError(t, tx.Commit(ctx))
		require.NotZero(t, tx.CommitTS())

		tx = begin(t, s)
		require.Equal(t, all, scan(t, tx, kv.Span{}, txn.ScanOptions{}))
		require.NoError(t, tx.Rollback(ctx))
	})
}

func TestFirstCommitterWins(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		ctx := context.Background()
		commit(t, s, "a", "1")
		t1, t2 := begin(t, s), begin(t, s)
		require.NoError(t, t1.Set([]byte("a"), []byte("2")))
		require.NoError(t, t2.Set([]byte("a"), []byte("3")))
		require.NoError(t, t1.Commit(ctx))
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, t2.Commit(ctx), &conflict)
		require.Equal(t, t1.CommitTS(), conflict.ConflictTS)
		t3 := begin(t, s)
		require.Equal(t, "2", get(t, t3, "a"))
		require.NoError(t, t3.Rollback(ctx))
	})
}

func TestInsertOfALiveKeyFails(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		ctx := context.Background()
		commit(t, s, "a", "1")
		tx := begin(t, s)
		require.NoError(t, tx.Insert([]byte("a"), []byte("2")))
		var exists *txn.AlreadyExistsError
		require.ErrorAs(t, tx.Commit(ctx), &exists)

		tx = begin(t, s)
		require.NoError(t, tx.Delete([]byte("a")))
		require.NoError(t, tx.Insert([]byte("a"), []byte("2")))
		require.NoError(t, tx.Commit(ctx))

		tx = begin(t, s)
		require.NoError(t, tx.Delete([]byte("a")))
		require.NoError(t, tx.Commit(ctx))
		tx = begin(t, s)
		require.NoError(t, tx.Insert([]byte("a"), []byte("4")))
		require.NoError(t, tx.Commit(ctx))
	})
}
