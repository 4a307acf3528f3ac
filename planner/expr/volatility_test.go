package expr_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestCastsAreAsVolatileAsPostgreSQLs compares casts by functions and by input and output.
func TestCastsAreAsVolatileAsPostgreSQLs(t *testing.T) {
	conn := pgtest.Connect(t)
	// The domains of information_schema have other object IDs there.
	results, err := conn.Exec(t.Context(), `
		SELECT castsource::int, casttarget::int, provolatile
		FROM pg_cast JOIN pg_proc p ON p.oid = castfunc WHERE castsource <> casttarget
		UNION ALL
		SELECT t.oid::int, 25, provolatile FROM pg_type t JOIN pg_proc p ON p.oid = typoutput
		WHERE t.oid NOT IN (SELECT castsource FROM pg_cast WHERE casttarget = 25)
			AND typcategory NOT IN ('S', 'P') AND t.oid < 10000
		UNION ALL
		SELECT 25, t.oid::int, provolatile FROM pg_type t JOIN pg_proc p ON p.oid = typinput
		WHERE t.oid NOT IN (SELECT casttarget FROM pg_cast WHERE castsource = 25)
			AND typcategory NOT IN ('S', 'P') AND t.oid < 10000`).ReadAll()
	require.NoError(t, err)
	compared := 0
	for _, row := range results[0].Rows {
		from, known := typeOf(t, row[0])
		to, also := typeOf(t, row[1])
		if !known || !also {
			continue
		}
		compared++
		assert.Equal(t, string(row[2]) == "s", expr.CastVolatility(from, to) == expr.Stable,
			"%s to %s", from, to)
	}
	require.Greater(t, compared, 150)
}

func typeOf(t *testing.T, oid []byte) (*types.Type, bool) {
	n, err := strconv.ParseUint(string(oid), 10, 32)
	require.NoError(t, err)
	return types.ByOID(types.OID(n))
}
