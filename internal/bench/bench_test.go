package bench

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/minidb/minidb"
	"github.com/stretchr/testify/require"
)

func TestEveryMeasurementRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("loads stores")
	}
	var out bytes.Buffer
	require.NoError(t, Run(t.Context(),
		Options{Dir: t.TempDir(), Round: time.Millisecond, Rounds: 1}, &out), out.String())
	for _, name := range []string{"timestamps", "point read", "5-key commit, 1PC",
		"5-key commit, 2PC", "select by primary key"} {
		require.Contains(t, out.String(), name)
	}
}

func TestObserversAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("loads stores")
	}
	var out bytes.Buffer
	require.NoError(t, Observers(t.Context(),
		Options{Dir: t.TempDir(), Round: time.Millisecond, Rounds: 1, Documents: []int{1000}},
		&out), out.String())
	require.Contains(t, out.String(), "puts +1.00, bytes ")
	require.Contains(t, out.String(), "reads +0.00, syncs ")
	require.Contains(t, out.String(), "64 groups")
	require.Contains(t, out.String(), "100 rows a statement")
}

// TestOnStoreLeavesNothingBehind, and touches no store that is in use.
func TestOnStoreLeavesNothingBehind(t *testing.T) {
	db, err := minidb.Open("", minidb.InMemory())
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	var out bytes.Buffer
	o := Options{Round: time.Millisecond, Rounds: 1}
	require.NoError(t, OnStore(t.Context(), db, o, &out), out.String())
	for _, name := range []string{"select by primary key, 1 ", "select by an index, 16",
		"insert, with an index, 16", "update of a column without an index, 1 "} {
		require.Contains(t, out.String(), name)
	}
	var n int
	require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE "+
		"nspname = 'minidb_bench'").Scan(&n))
	require.Zero(t, n)
	_, err = db.Exec(t.Context(), "CREATE TABLE theirs (a int)")
	require.NoError(t, err)
	require.ErrorIs(t, OnStore(t.Context(), db, o, &out), ErrInUse)
}

// TestTurnsAlternate: the sides take turns, and which begins a pair changes, so that neither is
// always the one that comes after the other.
func TestTurnsAlternate(t *testing.T) {
	var order []string
	ops := map[string]int{}
	of := func(name string, syncsPerOp int) side {
		return side{name: name,
			op: func(context.Context, int, int) error {
				if len(order) == 0 || order[len(order)-1] != name {
					order = append(order, name)
				}
				ops[name]++
				return nil
			},
			syncs: func() uint64 { return uint64(ops[name] * syncsPerOp) },
		}
	}
	m := measurement{name: "both", workers: 1, minidb: of("ours", 2), reference: of("theirs", 3)}
	var out bytes.Buffer
	require.NoError(t, m.run(t.Context(), Options{Round: time.Microsecond, Rounds: 4}, &out))
	require.Equal(t, []string{"ours", "theirs", "ours", "theirs", "ours"}, order)

	cells := strings.Fields(out.String())
	require.Equal(t, "2.000", cells[2], "the first side's syncs")
	require.Equal(t, "3.000", cells[5], "the reference's")
}

func TestRatioIsThatOfNeighbours(t *testing.T) {
	// The machine was ten times slower during two pairs and one turn. The medians, 50 and 20, would
	// say 2.5.
	ours, theirs := tally{rates: []float64{50, 60, 5, 6, 50}}, tally{rates: []float64{100, 120, 10,
		12, 20}}
	require.InDelta(t, 0.5, median(pairRatios(ours, theirs)), 1e-9)
	require.InDelta(t, 1.5, median([]float64{3, 1, 2, 0}), 1e-9)
}
