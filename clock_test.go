package minidb_test

import (
	"context"
	"testing"
	"time"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// TestOpenRefusesAnAbsurdClock: the directory was used while the clock of the machine said 2090. It
// can be opened nevertheless, and its time goes on from there.
func TestOpenRefusesAnAbsurdClock(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	require.NoError(t, db.Close())
	e, err := pebblekv.Open(dir, pebblekv.Options{})
	require.NoError(t, err)
	then := time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	s, err := txn.Open(ctx, e, txn.Options{Clock: func() int64 { return then }, AcceptClock: true})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())

	_, err = minidb.Open(dir, quiet)
	var wrong *tso.ClockError
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "newest timestamp in the store is of 2090-01-01")
	require.ErrorContains(t, err, "set the clock, or, if it is right, accept it (with "+
		"minidb.AcceptClock")

	db, err = minidb.Open(dir, quiet, minidb.AcceptClock())
	require.NoError(t, err)
	exec(t, db, "INSERT INTO t VALUES (2)")
	require.EqualValues(t, 2, scalar[int64](t, db, "SELECT count(*) FROM t"))
	for scalar[int64](t, db, "SELECT count(*) FROM t AS OF SYSTEM TIME '-0.000001s'") != 2 {
		continue // the millisecond of the insert is not over
	}
	require.NoError(t, db.Close())
}
