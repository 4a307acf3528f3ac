package sql_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// TestObserversOfEachType: a notification names the row by a key of any type, and has the old row.
// A value that is written again as it was makes no notification, whatever indexes there are.
func TestObserversOfEachType(t *testing.T) {
	for _, ty := range sampledTypes {
		t.Run(ty.name, func(t *testing.T) {
			on := memkv.New(memkv.Options{})
			t.Cleanup(func() { require.NoError(t, on.Close()) })
			e, store := openEngine(t, on, txn.Options{}, sql.Options{})
			s := newSession(t, e)
			mustQuery(t, s, sampledDefinitions)
			mustQuery(t, s, fmt.Sprintf("CREATE TABLE t (k %s PRIMARY KEY, v %[1]s, n int); "+
				"CREATE INDEX ON t ((v IS NULL), n) WHERE n > 1; CREATE UNIQUE INDEX ON t (v, n) "+
				"NULLS NOT DISTINCT; INSERT INTO t VALUES (%s, NULL, 1)", ty.typ, ty.literal(0)))
			observe(t, s, "o", "t")
			fails(t, s, fmt.Sprintf("INSERT INTO t VALUES (%s, NULL, 1)", ty.literal(1)),
				sqlerr.UniqueViolation)
			shown := func(i int) string { return ty.values[i] }
			step := func(text string, want ...string) {
				t.Helper()
				mustQuery(t, s, text)
				slices.Sort(want)
				require.Equal(t, want, noted(t, store), text)
			}
			step(fmt.Sprintf("UPDATE t SET v = %s", ty.literal(1)),
				fmt.Sprintf("o (%s): (%[1]s, null, 1)", shown(0)))
			step(fmt.Sprintf("UPDATE t SET v = '%s'", escaped(ty.values[1])))
			step(fmt.Sprintf("UPDATE t SET k = %s, n = 2", ty.literal(1)),
				fmt.Sprintf("o (%s): (%[1]s, %s, 1)", shown(0), shown(1)),
				fmt.Sprintf("o (%s): none", shown(1)))
			step(fmt.Sprintf("MERGE INTO t USING (VALUES (%s), (%s)) s (k) ON t.k = s.k WHEN "+
				"MATCHED THEN UPDATE SET v = s.k WHEN NOT MATCHED THEN INSERT VALUES (k, k, 3)",
				ty.literal(0), ty.literal(1)),
				fmt.Sprintf("o (%s): none", shown(0)))
			step(fmt.Sprintf("DELETE FROM t WHERE v = %s", ty.literal(1)),
				fmt.Sprintf("o (%s): (%[1]s, %[1]s, 2)", shown(1)))
			require.NoError(t, catalog.Check(t.Context(), store,
				func(p catalog.Problem) { t.Error(p) }, catalog.WithPrograms(sql.Programs())))
		})
	}
}

// TestANotificationOutlivesAChangeOfItsTypes: a change that waits for its observer is read by the
// definitions as they are then.
func TestANotificationOutlivesAChangeOfItsTypes(t *testing.T) {
	on := memkv.New(memkv.Options{})
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	e, store := openEngine(t, on, txn.Options{}, sql.Options{})
	s := newSession(t, e)
	mustQuery(t, s, `CREATE TYPE mood AS ENUM ('low', 'high'); CREATE TYPE pair AS (n int, s text);
		CREATE DOMAIN short AS int;
		CREATE TABLE t (k mood PRIMARY KEY, p mood[], d short, w int);
		CREATE TABLE u (k pair PRIMARY KEY, p pair);
		INSERT INTO t VALUES ('low', '{high,low}', 1), ('high', '{low}', 2);
		INSERT INTO u VALUES ('(1,a)', '(2,b)')`)
	observe(t, s, "o", "t")
	observe(t, s, "p", "u")
	mustQuery(t, s, `UPDATE t SET d = d + 1; DELETE FROM u;
		ALTER TYPE mood ADD VALUE 'mid' BEFORE 'high'; ALTER TYPE mood RENAME VALUE 'low' TO 'down';
		ALTER TYPE mood RENAME TO feeling; ALTER DOMAIN short ADD CHECK (VALUE > 1)`)
	require.Equal(t, []string{"o (down): (down, {high,down}, 1, null)",
		"o (high): (high, {down}, 2, null)", "p ((1,a)): ((1,a), (2,b))"}, noted(t, store))
}
