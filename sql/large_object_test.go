package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// TestTheSecondWriterOfALargeObjectWaits for the first one, also where they write different pages:
// an object conflicts as a row does.
func TestTheSecondWriterOfALargeObjectWaits(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level string) {
		inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
			mustQuery(t, a, "SELECT lo_from_bytea(77, '\\x0000')")
			for _, s := range []*sql.Session{a, b} {
				mustQuery(t, s, "SET default_transaction_isolation = '"+level+"'")
			}
			for _, x := range []struct{ end, second, code, left string }{
				{"ROLLBACK", "SELECT lo_put(77, 4000, '\\x02')", "", "00:02"},
				{"COMMIT", "SELECT lo_put(77, 4000, '\\x03')", "", "01:03"},
				{"ROLLBACK", "SELECT lo_unlink(77)", "", "01:03"},
			} {
				wasLater := x.end == "COMMIT" && level != "read committed"
				mustQuery(t, a, "BEGIN; SELECT lo_put(77, 0, '\\x01')")
				mustQuery(t, b, "BEGIN; SELECT 1 FROM pg_class LIMIT 1")
				wait := blocked(t, b, c, x.second)
				mustQuery(t, a, x.end)
				if err := <-wait; wasLater {
					require.Equal(t, sqlerr.SerializationFailure, codeOf(err))
					mustQuery(t, b, "ROLLBACK")
					mustQuery(t, b, x.second)
				} else {
					require.NoError(t, err)
					mustQuery(t, b, map[bool]string{true: "ROLLBACK", false: "COMMIT"}[x.second ==
						"SELECT lo_unlink(77)"])
				}
				require.Contains(t, mustQuery(t, c, "SELECT encode(lo_get(77, 0, 1), 'hex') || "+
					"':' || encode(lo_get(77, 4000, 1), 'hex')"), "\n"+x.left+"\n")
			}
		})
	})
}

// TestAWriterOfALargeObjectThatIsRemoved waits for the removal, and then finds no object.
func TestAWriterOfALargeObjectThatIsRemoved(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level string) {
		inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
			mustQuery(t, a, "SELECT lo_from_bytea(77, '\\x0000')")
			mustQuery(t, b, "SET default_transaction_isolation = '"+level+"'")
			mustQuery(t, a, "BEGIN; SELECT lo_unlink(77)")
			mustQuery(t, b, "BEGIN; SELECT 1 FROM pg_class LIMIT 1")
			wait := blocked(t, b, c, "SELECT lo_put(77, 4000, '\\x02')")
			mustQuery(t, a, "COMMIT")
			if level == "read committed" {
				require.Equal(t, sqlerr.UndefinedObject, codeOf(<-wait))
			} else {
				require.Equal(t, sqlerr.SerializationFailure, codeOf(<-wait))
			}
			mustQuery(t, b, "ROLLBACK")
			require.Contains(t, mustQuery(t, c, "SELECT count(*) FROM pg_largeobject"), "\n0\n")
		})
	})
}

// TestADescriptorForReadingKeepsItsSnapshot, while one for writing shows what others commit: at
// READ COMMITTED, as PostgreSQL's.
func TestADescriptorForReadingKeepsItsSnapshot(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, _ *sql.Session) {
		mustQuery(t, a, "SELECT lo_from_bytea(77, '\\x0000')")
		mustQuery(t, b, "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT lo_open(77, x'40000'::int), "+
			"lo_open(77, x'60000'::int)")
		mustQuery(t, a, "SELECT lo_put(77, 0, '\\x01')")
		require.Contains(t, mustQuery(t, b, "SELECT loread(0, 1), loread(1, 1)"),
			"\n\\x00|\\x01\n")
		mustQuery(t, b, "COMMIT")
	})
}
