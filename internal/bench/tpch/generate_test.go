package tpch

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// made returns the rows of a table, by fields.
func made(t *testing.T, g Generator, table string) (rows [][]string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, g.Write(&b, table))
	for line := range strings.Lines(b.String()) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// TestRowsFollowTheBenchmark in how many there are, in their keys, and in what rests on dates.
func TestRowsFollowTheBenchmark(t *testing.T) {
	g := Generator{Scale: 0.002, Seed: 7}
	counts := map[string]int{"region": 5, "nation": 25, "supplier": 100, "customer": 300,
		"part": 400, "partsupp": 1600, "orders": 3000}
	for _, table := range Tables {
		rows := made(t, g, table)
		require.Equal(t, rows, made(t, g, table), "the seed decides")
		if table != "lineitem" {
			require.Len(t, rows, counts[table])
		}
	}
	offered := map[string]bool{}
	for _, row := range made(t, g, "partsupp") {
		offered[row[0]+" "+row[1]] = true
	}
	require.Len(t, offered, 1600)
	lines, status := made(t, g, "lineitem"), map[string]string{}
	require.InDelta(t, 12000, len(lines), 400)
	for _, l := range lines {
		require.True(t, offered[l[1]+" "+l[2]], "a supplier offers the part")
		require.Less(t, l[10], l[12], "shipped before it is received")
		require.Equal(t, l[12] > "1995-06-17", l[8] == "N")
		require.Equal(t, l[10] > "1995-06-17", l[9] == "O")
		if before := status[l[0]]; before != "" && before != l[9] {
			l[9] = "P"
		}
		status[l[0]] = l[9]
	}
	special := 0
	for _, o := range made(t, g, "orders") {
		require.Equal(t, status[o[0]], o[2])
		if _, after, found := strings.Cut(o[8], "special"); found && strings.Contains(after,
			"requests") {
			special++
		}
	}
	require.InDelta(t, 45, special, 30)
	require.Error(t, g.Write(new(bytes.Buffer), "none"))
}

func TestQueriesAreThere(t *testing.T) {
	g := Generator{Scale: 0.1}
	for n := 1; n <= Count; n++ {
		q, err := g.Query(n)
		require.NoError(t, err)
		require.NotContains(t, q, "$")
	}
	q, err := g.Query(11)
	require.NoError(t, err)
	require.Contains(t, q, "* 0.001\n")
	_, err = g.Query(Count + 1)
	require.Error(t, err)
}
