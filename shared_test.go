package minidb_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"testing"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// stores are the shared stores of tests, by the path of their URL.
var stores sync.Map

func openMemory(_ context.Context, u kv.URL) (kv.Engine, error) {
	e, _ := stores.LoadOrStore(u.Path,
		memkv.New(memkv.Options{Shared: true, HashGroups: 3, Lost: 5}))
	return lasting{kv.Wrapped{Engine: e.(kv.Engine)}}, nil
}

// lasting stays open for the other processes.
type lasting struct{ kv.Wrapped }

func (lasting) Close() error { return nil }

func joinStore(t *testing.T, opts ...minidb.Option) *minidb.DB {
	t.Cleanup(func() { stores.Delete(t.Name()) })
	db, err := minidb.Open("memory://127.0.0.1/"+t.Name(), append(opts,
		minidb.Engine("memory", openMemory), minidb.Logger(slog.New(slog.DiscardHandler)))...)
	require.NoError(t, err)
	return db
}

// TestProcessesShareAStore: what one writes the other reads, whichever of them serves timestamps,
// and after it has left.
func TestProcessesShareAStore(t *testing.T) {
	ctx := context.Background()
	a, b := joinStore(t), joinStore(t)
	exec(t, a, "CREATE TABLE doc (url text PRIMARY KEY, hash text UNIQUE)")
	exec(t, b, "INSERT INTO doc VALUES ('u1', 'h1')")
	_, err := a.Exec(ctx, "INSERT INTO doc VALUES ('u2', 'h1')")
	require.ErrorContains(t, err, "duplicate key")
	require.NoError(t, a.Close())
	c := joinStore(t)
	exec(t, c, "INSERT INTO doc VALUES ('u3', 'h3')")
	exec(t, b, "CREATE TEMP TABLE own AS SELECT * FROM doc")
	var n int
	require.NoError(t, b.QueryRow(ctx, "SELECT count(*) FROM doc").Scan(&n))
	require.Equal(t, 2, n)
	problems, err := b.Check(ctx)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, b.Close())
	require.NoError(t, c.Close())
}

// TestProcessesMakeADatabaseTogether: a new store is opened by several at once.
func TestProcessesMakeADatabaseTogether(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			db := joinStore(t)
			exec(t, db, fmt.Sprintf("CREATE TABLE t%d (a int PRIMARY KEY)", i))
			require.NoError(t, db.Close())
		})
	}
	all.Wait()
	db := joinStore(t, minidb.MustExist())
	var n int
	require.NoError(t, db.QueryRow(context.Background(),
		"SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&n))
	require.Equal(t, 4, n)
	require.NoError(t, db.Close())
}

// TestViewsFollowOtherProcesses: a process maintains views of tables that others write, and views
// that others have made.
func TestViewsFollowOtherProcesses(t *testing.T) {
	a, b := joinStore(t), joinStore(t)
	exec(t, a, "CREATE TABLE s (id int PRIMARY KEY, g int)")
	exec(t, a, "CREATE MATERIALIZED VIEW n WITH (incremental) AS "+
		"SELECT g, count(*) AS n FROM s GROUP BY g")
	shows := func(db *minidb.DB, want int) {
		for got := -1; got != want; {
			require.NoError(t, db.QueryRow(context.Background(),
				"SELECT coalesce(sum(n), 0)::int FROM n").Scan(&got))
		}
	}
	exec(t, b, "INSERT INTO s VALUES (1, 1), (2, 1), (3, 2)")
	shows(a, 3)
	require.NoError(t, a.Close()) // b goes on with a view that it has not made
	exec(t, b, "INSERT INTO s VALUES (4, 1)")
	shows(b, 4)
	problems, err := b.Check(context.Background())
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, b.Close())
}

// timed is a store with an oracle of its own.
type timed struct {
	lasting
	source tso.Source
}

func (t timed) Oracle() tso.Source { return t.source }

// TestAStoreWithAnOracleOfItsOwn: its timestamps are used, and none is elected.
func TestAStoreWithAnOracleOfItsOwn(t *testing.T) {
	ctx := context.Background()
	elsewhere := memkv.New(memkv.Options{})
	oracle, err := tso.Open(ctx, elsewhere, []byte("mark"), tso.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { stores.Delete(t.Name()) })
	open := func(opts ...minidb.Option) (*minidb.DB, error) {
		// Another machine: an elected oracle would need an address.
		return minidb.Open("timed://10.0.0.1/"+t.Name(), append(opts,
			minidb.Logger(slog.New(slog.DiscardHandler)),
			minidb.Engine("timed", func(ctx context.Context, u kv.URL) (kv.Engine, error) {
				e, err := openMemory(ctx, u)
				return timed{e.(lasting), oracle}, err
			}))...)
	}
	_, err = open(minidb.MustExist())
	require.ErrorContains(t, err, "there is no database")
	_, err = open(minidb.OracleAddress("127.0.0.1:0", ""))
	require.ErrorContains(t, err, "timestamps of its own")
	a, err := open()
	require.NoError(t, err)
	before := oracle.Last()
	exec(t, a, "CREATE TABLE doc (url text PRIMARY KEY)")
	require.Greater(t, oracle.Last(), before)
	b, err := open(minidb.MustExist())
	require.NoError(t, err)
	exec(t, b, "INSERT INTO doc VALUES ('u1')")
	var n int
	require.NoError(t, a.QueryRow(ctx, "SELECT count(*) FROM doc").Scan(&n))
	require.Equal(t, 1, n)
	e, _ := stores.Load(t.Name())
	snap, err := kv.Latest(e.(kv.Engine))
	require.NoError(t, err)
	cell, err := tso.ReadCell(ctx, snap, txn.OracleKey())
	require.NoError(t, err)
	require.Zero(t, cell.Mark)
	require.NoError(t, snap.Close())
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	// A copy of a store whose time was a day ahead.
	ahead := oracle.Last() + tso.New(24*60*60*1000, 0)
	require.NoError(t, tso.Fill(ctx, e.(kv.Engine), txn.OracleKey(), ahead, nil))
	_, err = open()
	require.ErrorContains(t, err, "unfinished copy")
	require.NoError(t, tso.Filled(ctx, e.(kv.Engine), txn.OracleKey()))
	_, err = open()
	require.ErrorContains(t, err, "the store holds a copy as of")
	require.NoError(t, elsewhere.Close())
}

func TestURLsThatOpenNothing(t *testing.T) {
	memory := minidb.Engine("memory", openMemory)
	for store, message := range map[string]string{
		"nosuch://a/b":       "has no engine for nosuch://",
		"memory://a@b/c":     "holds no password",
		"memory://10.0.0.1/": "OracleAddress",
	} {
		_, err := minidb.Open(store, memory)
		require.ErrorContains(t, err, message)
	}
	for message, option := range map[string]minidb.Option{
		"there is no database": minidb.MustExist(),
		"OracleAddress":        minidb.OracleAddress("0.0.0.0:0", ""),
		"commit protocol one-phase is not possible here": minidb.CommitProtocol("one-phase"),
	} {
		_, err := minidb.Open("memory://127.0.0.1/"+url.PathEscape(message), memory, option)
		require.ErrorContains(t, err, message)
	}
}
