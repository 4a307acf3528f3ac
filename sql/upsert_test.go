package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// TestUpsertLocksTheRowBeforeItsCondition: DO UPDATE … WHERE decides by the row as it is after the
// wait.
func TestUpsertLocksTheRowBeforeItsCondition(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		const upsert = "INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET n = t.n + 10 " +
			"WHERE t.n = 11"
		for _, x := range []struct{ begin, code, want string }{
			{"", "", "21"},
			{"BEGIN ISOLATION LEVEL READ COMMITTED", "", "21"},
			{"BEGIN ISOLATION LEVEL REPEATABLE READ", sqlerr.SerializationFailure, "11"},
			{"BEGIN ISOLATION LEVEL SERIALIZABLE", sqlerr.SerializationFailure, "11"},
		} {
			mustQuery(t, a, "UPDATE t SET n = 10 WHERE id = 1")
			mustQuery(t, a, "BEGIN")
			mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 1")
			if x.begin != "" {
				mustQuery(t, b, x.begin)
				mustQuery(t, b, "SELECT 1 FROM t")
			}
			wait := blocked(t, b, c, upsert)
			mustQuery(t, a, "COMMIT")
			require.Equal(t, x.code, codeOf(<-wait), x.begin)
			mustQuery(t, b, "COMMIT")
			require.Equal(t, "[n]\n"+x.want+"\nSELECT 1\n",
				mustQuery(t, c, "SELECT n FROM t WHERE id = 1"), x.begin)
		}
	})
}

// TestDoNothingWaitsForTheEndOfARow: a key that another transaction is giving up may be free after
// it.
func TestDoNothingWaitsForTheEndOfARow(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		for end, want := range map[string]string{"COMMIT": "5", "ROLLBACK": "20"} {
			mustQuery(t, a, "UPDATE t SET n = 20 WHERE id = 2")
			mustQuery(t, a, "BEGIN")
			mustQuery(t, a, "DELETE FROM t WHERE id = 2")
			wait := blocked(t, b, c, "INSERT INTO t VALUES (2, 5) ON CONFLICT DO NOTHING")
			mustQuery(t, a, end)
			require.NoError(t, <-wait)
			require.Equal(t, "[n]\n"+want+"\nSELECT 1\n",
				mustQuery(t, c, "SELECT n FROM t WHERE id = 2"), end)
		}
	})
}
