package sql_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// newEngine returns an engine over a store in memory.
func newEngine(t testing.TB) *sql.Engine {
	t.Helper()
	return newEngineOn(t, memkv.New(memkv.Options{}), txn.Options{})
}

// newEngineOn returns an engine over a store of its own; the store is closed with it.
func newEngineOn(t testing.TB, on kv.Engine, opts txn.Options) *sql.Engine {
	t.Helper()
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	e, _ := openEngine(t, on, opts, sql.Options{})
	return e
}

// processes are engines on one store, as so many processes would have it: they share nothing but
// the store and the oracle.
func processes(t *testing.T, n int, on kv.Engine) (engines []*sql.Engine, stores []*txn.Store) {
	t.Helper()
	return processesWith(t, n, on, txn.Options{})
}

// processesWith is processes with options of their stores.
func processesWith(t *testing.T, n int, on kv.Engine, opts txn.Options) (engines []*sql.Engine,
	stores []*txn.Store) {
	t.Helper()
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	for range n {
		e, store := openEngine(t, on, opts, sql.Options{})
		opts.Oracle = store.Oracle()
		engines, stores = append(engines, e), append(stores, store)
	}
	return engines, stores
}

// twoProcesses are processes on a store of several groups.
func twoProcesses(t *testing.T) (here, there *sql.Engine) {
	e, _ := processes(t, 2, memkv.New(memkv.Options{Shared: true, HashGroups: 3, Lost: 5}))
	return e[0], e[1]
}

// openEngine opens what is above a store, without a log, and closes it when the test ends.
func openEngine(t testing.TB, on kv.Engine, opts txn.Options, so sql.Options) (*sql.Engine,
	*txn.Store) {
	t.Helper()
	ctx, quiet := context.Background(), slog.New(slog.DiscardHandler)
	if _, benchmark := t.(*testing.B); !benchmark {
		on = kvtest.NewPoison(on)
	}
	opts.Logger = quiet
	if opts.Oracle == nil && !kv.IsExclusive(on) {
		oracle, err := tso.Open(ctx, on, mvcc.MetaKey("oracle"), tso.Options{Clock: opts.Clock})
		require.NoError(t, err)
		opts.Oracle = oracle
	}
	if opts.Companion == nil {
		opts.Companion = companion(t)
	}
	store, err := txn.Open(ctx, on, opts)
	require.NoError(t, err)
	cat, err := catalog.Open(ctx, store, catalog.WithPrograms(sql.Programs()))
	require.NoError(t, err)
	so.Logger = quiet
	e := sql.NewEngine(store, cat, so)
	t.Cleanup(func() {
		e.Close()
		require.NoError(t, cat.Close(ctx))
		require.NoError(t, store.Close())
	})
	return e, store
}

// companion returns a function that opens a store of temporary tables, in memory, when it is first
// called.
func companion(t testing.TB) func() (*txn.Store, error) {
	return sync.OnceValues(func() (*txn.Store, error) {
		beside, err := txn.Open(context.Background(), memkv.New(memkv.Options{}), txn.Options{})
		t.Cleanup(func() { require.NoError(t, beside.Close()) })
		return beside, err
	})
}

// A session that begins a long statement while the engine closes must not hold the closing up.
func TestNoStatementRunsOnAClosedEngine(t *testing.T) {
	e := newEngine(t)
	s := newSession(t, e)
	mustQuery(t, s, "BEGIN")
	e.Close()
	fails(t, s, "SELECT pg_sleep(3600)", sqlerr.AdminShutdown)
	_, err := e.NewSession(context.Background(), sql.SessionOptions{User: "postgres"})
	require.Error(t, err)
}
