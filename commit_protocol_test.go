package minidb_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

// TestEachCommitProtocolLeavesItsOwnTraces takes a copy of the disk before each write of a commit
// of two rows, and looks which locks are there.
func TestEachCommitProtocolLeavesItsOwnTraces(t *testing.T) {
	for protocol, want := range map[string]string{
		"auto": "", "one-phase": "", "two-phase": "lock", "async": "async lock",
	} {
		t.Run(protocol, func(t *testing.T) {
			disk := testfs.NewCrashFS()
			fs := testfs.NewFaultFS(disk)
			db := openOn(t, fs, minidb.CommitProtocol(protocol))
			ctx := context.Background()
			_, err := db.Exec(ctx, `CREATE TABLE t (id int PRIMARY KEY)`)
			require.NoError(t, err)
			var mu sync.Mutex
			var copies []*testfs.CrashFS
			dice := rand.New(rand.NewPCG(1, 1))
			fs.Before(func(int) {
				mu.Lock()
				defer mu.Unlock()
				copies = append(copies, disk.Crash(100, dice))
			})
			_, err = db.Exec(ctx, `INSERT INTO t VALUES (1), (2)`)
			require.NoError(t, err)
			require.NoError(t, db.Close())
			fs.Before(nil)
			found := map[string]bool{}
			for _, fs := range copies {
				locksIn(t, fs, found)
			}
			if want == "" {
				require.Empty(t, found)
			} else {
				require.Equal(t, map[string]bool{want: true}, found)
			}
			require.Equal(t, []int{1, 2}, idsIn(t, disk))
		})
	}
}

// locksIn adds the kinds of the locks that a disk has.
func locksIn(t *testing.T, fs *testfs.CrashFS, found map[string]bool) {
	e, err := pebblekv.Open("db", pebblekv.Options{FS: fs})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	snap, err := e.Snapshot()
	require.NoError(t, err)
	defer func() { require.NoError(t, snap.Close()) }()
	require.NoError(t, mvcc.Locks(context.Background(), snap, kv.Span{},
		func(_ []byte, l mvcc.Lock) error {
			if l.Async {
				found["async lock"] = true
			} else {
				found["lock"] = true
			}
			return nil
		}))
}

func idsIn(t *testing.T, fs *testfs.CrashFS) (ids []int) {
	db := openOn(t, testfs.NewFaultFS(fs))
	defer func() { require.NoError(t, db.Close()) }()
	rows, err := db.Query(context.Background(), `SELECT id FROM t ORDER BY id`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var id int
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	require.NoError(t, rows.Err())
	return ids
}

func TestAnUnknownCommitProtocolIsRefused(t *testing.T) {
	_, err := minidb.Open("", minidb.InMemory(), minidb.CommitProtocol("three-phase"))
	require.ErrorContains(t, err,
		`commit protocol "three-phase" is none of auto, one-phase, two-phase, async`)
}
