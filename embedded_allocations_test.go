package minidb_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEmbeddedSelectsAllocateLittle bounds what short queries of the handle allocate, with what
// their reader does.
func TestEmbeddedSelectsAllocateLittle(t *testing.T) {
	db := benchDocs(t, 1000)
	for _, c := range []struct {
		query string
		rows  int
		most  float64
	}{
		{"SELECT body FROM docs WHERE id = $1", 1, 14},
		{"SELECT body FROM docs WHERE hash = $1", 1, 54},
		{"SELECT body FROM docs WHERE id >= $1 AND id < $1 + 100", 100, 58},
	} {
		n := testing.AllocsPerRun(200, func() {
			if readBodies(t, db, c.query, 17) != c.rows {
				t.Fatal("not all rows")
			}
		})
		t.Logf("%s: %v", c.query, n)
		require.LessOrEqual(t, n, c.most, c.query)
	}
}
