package views

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// TestViewsAreRightAfterACrash takes crashes at writes of statements, of advances, and of what
// removes notifications behind them: MINIDB_VIEW_CRASHES of them in each way to commit. Afterwards
// every view becomes equal to its query, nothing stays pending, and the views go on.
func TestViewsAreRightAfterACrash(t *testing.T) {
	crashes := uint64(24)
	if testing.Short() {
		crashes = 8
	}
	crashes = fromEnv(t, "MINIDB_VIEW_CRASHES", crashes)
	seed := fromEnv(t, "MINIDB_CRASH_SEED", rand.Uint64())
	t.Logf("MINIDB_CRASH_SEED=%d", seed)
	for i, protocol := range []string{"one-phase", "two-phase"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(seed, uint64(i)))
			behind := 0 // crashes that an advance had to follow
			for n := 0; n < int(crashes); {
				for _, c := range crashViews(t, protocol, dice) {
					if n++; recoverViews(t, c, protocol, dice) {
						behind++
					}
				}
			}
			t.Logf("%d crashes left changes that no view had", behind)
			require.Positive(t, behind)
		})
	}
}

// crash is a disk as a power failure has left it.
type crash struct {
	disk *testfs.CrashFS
	what string
}

func openOn(t *testing.T, disk *testfs.CrashFS, protocol string) (*minidb.DB, *testfs.FaultFS) {
	fs := testfs.NewFaultFS(disk)
	db, err := minidb.Open("db", minidb.OnEngine(func(o *pebblekv.Options) {
		o.FS, o.MemTableBytes = fs, 256<<10
	}), minidb.CacheSize(1<<20), minidb.GCInterval(-1), minidb.CommitProtocol(protocol),
		minidb.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	return db, fs
}

// crashViews lets a writer write, and takes crashes of it. What is done is the same for the same
// dice; what maintains the views runs beside it.
func crashViews(t *testing.T, protocol string, dice *rand.Rand) (out []crash) {
	ctx := context.Background()
	disk := testfs.NewCrashFS()
	db, fs := openOn(t, disk, protocol)
	z := sized(60)
	require.NoError(t, create(ctx, db, z, 600))
	var err error
	w := newWriter(z, 0, dice.Uint64())
	w.conn, err = db.Conn(ctx)
	require.NoError(t, err)
	crashDice := rand.New(rand.NewPCG(dice.Uint64(), 1))
	var doing atomic.Value
	doing.Store("")
	fs.Before(func(write int) {
		if crashDice.IntN(40) > 0 {
			return
		}
		percent := []int{0, 0, 20, 50, 80, 100}[crashDice.IntN(6)]
		out = append(out, crash{disk.Crash(percent, crashDice),
			fmt.Sprintf("crash at write %d behind %s, %d%% kept", write, doing.Load(), percent)})
	})
	for i := range 40 {
		var order *statement
		if i%8 == 7 {
			order = &rare[slices.IndexFunc(rare, func(s statement) bool {
				return s.name == "truncate"
			})]
		}
		doing.Store(fmt.Sprintf("statement %d", i))
		require.NoError(t, w.work(ctx, order))
		if dice.IntN(2) == 0 { // else several are in one advance
			require.NoError(t, db.Settle(ctx, 0))
		}
	}
	require.NoError(t, w.conn.Close())
	require.NoError(t, db.Close())
	return out
}

// recoverViews opens the database on what a crash has left. It reports whether the views had to be
// advanced.
func recoverViews(t *testing.T, c crash, protocol string, dice *rand.Rand) (behind bool) {
	ctx := context.Background()
	db, _ := openOn(t, c.disk, protocol)
	first, err := look(ctx, db)
	require.NoError(t, err, c.what)
	require.NoError(t, first.compare(ctx), c.what) // also before it is up to date
	second := requireEqual(t, db, c.what)
	requireNothingPending(t, db, c.what)
	require.NoError(t, checkAll(ctx, db), c.what)

	w := newWriter(sized(60), 1, dice.Uint64())
	w.conn, err = db.Conn(ctx)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, w.work(ctx, nil), c.what)
	}
	require.NoError(t, w.conn.Close())
	requireEqual(t, db, c.what)
	requireNothingPending(t, db, c.what)
	require.NoError(t, db.Close())
	return second.at > first.at
}

// requireNothingPending requires that no row has a notification any more. Settle has returned: what
// an advance leaves it removes before anything that waits for it goes on. What TRUNCATE has left
// goes with the place where the rows were.
func requireNothingPending(t *testing.T, db *minidb.DB, what ...any) {
	t.Helper()
	ctx := context.Background()
	places := map[table.StorageID]bool{}
	rows, err := db.Query(ctx, "SELECT pg_relation_filenode(relname::regclass)::bigint FROM "+
		"pg_class WHERE relname IN ('host', 'doc', 'word')")
	require.NoError(t, err)
	for rows.Next() {
		var id int64
		require.NoError(t, rows.Scan(&id))
		places[table.StorageID(id)] = true
	}
	require.NoError(t, rows.Close())
	require.Len(t, places, 3)
	var left []string
	require.NoError(t, db.Store().Notifications(ctx, kv.Span{},
		func(key []byte, n *txn.Notification) error {
			if k, ok := table.DecodeKey(key); ok && places[k.Storage] {
				left = append(left, fmt.Sprintf("%x: %+v", key, n))
			}
			return nil
		}))
	require.Empty(t, left, what...)
}
