package sqlhistory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/tests/history"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fromEnv is a number of the environment, or another one.
func fromEnv(t *testing.T, name string, otherwise uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	require.NoError(t, err, name)
	return n
}

// TestSQLHistories makes histories in every way and checks them: MINIDB_HISTORIES, or 240. With
// MINIDB_HISTORY_WORKLOAD they are of that workload alone. The seed of one that is wrong is printed
// with its way: MINIDB_HISTORY_SEED=… MINIDB_HISTORIES=1 go test -run 'TestSQLHistories/name'
// ./tests/sqlhistory.
func TestSQLHistories(t *testing.T) {
	configs := Configs()
	n := 240
	if testing.Short() {
		n = len(configs)
	}
	n = int(fromEnv(t, "MINIDB_HISTORIES", uint64(n)))
	seed := fromEnv(t, "MINIDB_HISTORY_SEED", rand.Uint64())
	for _, c := range configs {
		c.Workload = os.Getenv("MINIDB_HISTORY_WORKLOAD")
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var sum history.Tally
			for j := range max(1, n/len(configs)) {
				s := seed + uint64(j)
				h, err := Run(c, s)
				require.NoError(t, err, "MINIDB_HISTORY_SEED=%d", s)
				for _, v := range history.Check(h) {
					t.Errorf("MINIDB_HISTORY_SEED=%d MINIDB_HISTORIES=1 go test -run '%s' "+
						"./tests/sqlhistory: %s", s, t.Name(), v)
				}
				sum.Add(h)
				if t.Failed() {
					return
				}
			}
			t.Logf("%s", sum)
		})
	}
}

// TestLookupsGoThroughTheirIndexes proves that what the histories compare with tables comes from
// the indexes.
func TestLookupsGoThroughTheirIndexes(t *testing.T) {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory())
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	r := &run{db: db}
	require.NoError(t, r.setup(ctx))
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	plan := func(table, where string) (plan string) {
		require.NoError(t, conn.QueryRow(ctx, fmt.Sprintf("EXPLAIN (FORMAT json) SELECT k, "+
			"v::text, who FROM %s %s", table, where)).Scan(&plan))
		return plan
	}
	_, err = conn.Exec(ctx, byIndexes)
	require.NoError(t, err)
	for table, list := range lookups {
		for _, p := range list {
			require.Contains(t, plan(table, "WHERE "+p.cond), fmt.Sprintf("%q", p.index))
		}
	}
	_, err = conn.Exec(ctx, "RESET ALL; "+byRows)
	require.NoError(t, err)
	for table := range lookups {
		require.Contains(t, plan(table, ""), "Seq Scan")
	}
}
