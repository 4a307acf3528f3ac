package clone_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/clone"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// world is a source with any number of stores on it, as many processes have them. Its clock moves
// only when a test moves it.
type world struct {
	t      testing.TB
	engine kv.Engine
	clock  atomic.Int64
	oracle *tso.Oracle
	opts   txn.Options
}

// minutes are what the clock of a world is moved by.
const minute = int64(60_000)

func newWorld(t testing.TB, e kv.Engine) *world {
	w := &world{t: t, engine: e}
	w.clock.Store(100 * minute)
	oracle, err := tso.Open(context.Background(), e, txn.OracleKey(),
		tso.Options{Clock: w.clock.Load, AcceptClock: true})
	require.NoError(t, err)
	w.oracle = oracle
	w.opts = txn.Options{Oracle: oracle, LeaseRenewal: -1, Lease: time.Hour,
		Logger: slog.New(slog.DiscardHandler)}
	return w
}

func (w *world) store() *txn.Store {
	s, err := txn.Open(context.Background(), w.engine, w.opts)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// set commits keys and values; "-" deletes the key.
func set(t testing.TB, s *txn.Store, pairs ...string) tso.Timestamp {
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "-" {
			require.NoError(t, tx.Delete([]byte(pairs[i])))
			continue
		}
		require.NoError(t, tx.Set([]byte(pairs[i]), []byte(pairs[i+1])))
	}
	require.NoError(t, tx.Commit(ctx))
	return tx.CommitTS()
}

// notified commits a change that an observer is to see.
func notified(t testing.TB, s *txn.Store, key, old, value string) {
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	tx.Notify([]byte(key), 7, []byte(old))
	require.NoError(t, tx.Set([]byte(key), []byte(value)))
	require.NoError(t, tx.Commit(ctx))
}

// at returns what a store shows at a timestamp, zero for now.
func at(t testing.TB, s *txn.Store, ts tso.Timestamp) (out []string) {
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{ReadOnly: true, StartTS: ts})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{})
	require.NoError(t, err)
	for it.Next() {
		out = append(out, fmt.Sprintf("%s=%s", it.Key(), it.Value()))
	}
	require.NoError(t, it.Err())
	require.NoError(t, it.Close())
	return out
}

// notes returns the notifications of a store.
func notes(t testing.TB, s *txn.Store) (out []string) {
	require.NoError(t, s.Notifications(context.Background(), kv.Span{},
		func(key []byte, n *txn.Notification) error {
			out = append(out, fmt.Sprintf("%s was %s", key, n.Old))
			return nil
		}))
	return out
}

// open opens a copy: on an engine of its own with its own oracle, elsewhere with another one.
func open(t testing.TB, e kv.Engine) *txn.Store {
	w := &world{t: t, engine: e}
	w.clock.Store(100 * minute)
	oracle, err := tso.Open(context.Background(), e, txn.OracleKey(),
		tso.Options{Clock: w.clock.Load, AcceptClock: true})
	require.NoError(t, err)
	s, err := txn.Open(context.Background(), e, txn.Options{Oracle: oracle,
		Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// raw returns all raw cells of an engine, but for the store's own.
func raw(t testing.TB, e kv.Engine) map[string]string {
	ctx := context.Background()
	snap, err := kv.Latest(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, snap.Close()) }()
	out := map[string]string{}
	for _, span := range mvcc.RawSpans(kv.Span{}) {
		it, err := snap.NewIter(ctx, span)
		require.NoError(t, err)
		for ok := it.First(); ok; ok = it.Next() {
			v, err := it.Value()
			require.NoError(t, err)
			out[string(it.Key())] = string(v)
		}
		require.NoError(t, it.Close())
	}
	return out
}

// meta returns the names of the store's own cells.
func meta(t testing.TB, e kv.Engine) (names []string) {
	snap, err := kv.Latest(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, snap.Close()) }()
	it, err := snap.NewIter(context.Background(),
		kv.Span{Start: mvcc.MetaKey(""), End: kv.PrefixEnd(mvcc.MetaKey(""))})
	require.NoError(t, err)
	for ok := it.First(); ok; ok = it.Next() {
		names = append(names, strings.TrimRight(string(it.Key()[1:]), "0123456789abcdef"))
	}
	require.NoError(t, it.Close())
	return names
}

// targets are engines of every kind that a copy treats in another way.
var targets = map[string]func(t testing.TB) kv.Engine{
	"files": func(testing.TB) kv.Engine { return memkv.New(memkv.Options{}) },
	"groups": func(testing.TB) kv.Engine {
		return memkv.New(memkv.Options{Shared: true, HashGroups: 3, Lost: 5})
	},
	"small": func(testing.TB) kv.Engine {
		return memkv.New(memkv.Options{Shared: true, Reads: 40})
	},
	"pebble": func(t testing.TB) kv.Engine {
		e, err := pebblekv.Open("", pebblekv.Options{InMemory: true,
			Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		return e
	},
}

// run copies without an end in between.
func run(t testing.TB, s *txn.Store, target kv.Engine) clone.Result {
	r, err := clone.Run(context.Background(), clone.Options{Source: s, Target: target,
		PageBytes: 500, Differs: func(d clone.Difference) { t.Logf("%q: %s", d.Span, d.What) }})
	require.NoError(t, err)
	return r
}
