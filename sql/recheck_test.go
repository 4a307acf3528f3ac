package sql_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
)

// TestARowThatWasWaitedForIsHeldAgainstTheWholeCondition: not only against what the index through
// which it was found has left of the condition.
func TestARowThatWasWaitedForIsHeldAgainstTheWholeCondition(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		mustQuery(t, a, `CREATE TABLE r (id int PRIMARY KEY, s text, n int[], w int);
			CREATE INDEX r_s ON r (lower(s)); CREATE INDEX r_n ON r USING gin (n);
			CREATE INDEX r_w ON r (w) WHERE n IS NOT NULL`)
		mustQuery(t, b, "SET enable_seqscan = off; SET default_transaction_isolation = "+
			"'read committed'")
		for i, cond := range []string{"lower(s) = 'x'", "n @> '{1}'", "w = 1 AND n IS NOT NULL"} {
			mustQuery(t, a, "DELETE FROM r; INSERT INTO r VALUES (1, 'X', '{1}', 1), "+
				"(2, 'x', '{3,1}', 1)")
			update := "UPDATE r SET id = id + 100 WHERE " + cond
			require.Contains(t, mustQuery(t, b, "EXPLAIN "+update),
				[]string{"r_s", "r_n", "r_w"}[i])
			mustQuery(t, a, fmt.Sprintf("BEGIN; UPDATE r SET %s WHERE id = 1",
				[]string{"s = 'y'", "n = '{2}'", "n = NULL"}[i]))
			done := blocked(t, b, c, update)
			mustQuery(t, a, "COMMIT")
			require.NoError(t, <-done)
			require.Contains(t, mustQuery(t, c, "SELECT string_agg(id::text, ' ' ORDER BY id) "+
				"FROM r"), "\n1 102\n", cond)
		}
	})
}
