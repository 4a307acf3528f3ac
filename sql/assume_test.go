package sql_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

// looking counts the snapshots that are taken of a store.
type looking struct {
	kv.Wrapped
	snapshots atomic.Int64
}

func (l *looking) Snapshot() (kv.Snapshot, error) {
	l.snapshots.Add(1)
	return l.Wrapped.Snapshot()
}

// assuming returns sessions of two processes on one store, the first of which has just inserted
// into table t, and so takes its next INSERT for one that needs no look.
func assuming(t *testing.T) (a, b *sql.Session, looks *looking) {
	t.Helper()
	looks = &looking{Wrapped: kv.Wrapped{Engine: memkv.New(memkv.Options{Shared: true,
		HashGroups: 3})}}
	engines, _ := processesWith(t, 2, looks, txn.Options{LeaseRenewal: -1})
	a, b = newSession(t, engines[0]), newSession(t, engines[1])
	mustQuery(t, b, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	for i := range 5 { // until the plan of the statement's shape is kept
		mustQuery(t, a, fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", 100+i, i))
	}
	mustQuery(t, b, "DELETE FROM t")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 1)")
	mustQuery(t, a, "INSERT INTO t VALUES (2, 2)")
	return a, b, looks
}

// TestAnInsertLooksAtNothing before its commit, which takes no snapshot where it finds what it has
// assumed. After a wrong assumption some statements look first.
func TestAnInsertLooksAtNothing(t *testing.T) {
	a, _, looks := assuming(t)
	insert := func(text, code string) int64 {
		t.Helper()
		before := looks.snapshots.Load()
		if code == "" {
			mustQuery(t, a, text)
		} else {
			fails(t, a, text, code)
		}
		return looks.snapshots.Load() - before
	}
	most := insert("INSERT INTO t VALUES (3, 3) ON CONFLICT DO NOTHING", "")
	one := insert("INSERT INTO t VALUES (4, 4)", "")
	require.Less(t, one, most)
	require.Equal(t, one, insert("INSERT INTO t VALUES (5, 5)", ""))
	e := fails(t, a, "INSERT INTO t VALUES (4, 40)", sqlerr.UniqueViolation)
	require.Equal(t, "Key (id)=(4) already exists.", e.Detail)
	require.Less(t, one, insert("INSERT INTO t VALUES (6, 6)", ""), "it looks first now")
	for range 16 {
		mustQuery(t, a, "INSERT INTO t VALUES (7, 7)")
		mustQuery(t, a, "DELETE FROM t WHERE id = 7")
	}
	require.Equal(t, one, insert("INSERT INTO t VALUES (8, 8)", ""))
	insert("INSERT INTO t VALUES (9, 9), (9, 10)", sqlerr.UniqueViolation)
	require.Equal(t, "7", said(t, a, "count(*) FROM t"))
}

// TestAnInsertMeetsAnotherSchema than it has assumed: it does what it would have done had it looked
// first, whether the rows of the old schema would have been refused or taken.
func TestAnInsertMeetsAnotherSchema(t *testing.T) {
	for _, c := range []struct{ change, insert, code, shows, want string }{
		{"CREATE UNIQUE INDEX ON t (n)", "INSERT INTO t VALUES (3, 2)", sqlerr.UniqueViolation,
			"count(*) FROM t", "2"},
		{"CREATE UNIQUE INDEX ON t (n)", "INSERT INTO t VALUES (3, 3)", "",
			"id FROM t WHERE n = 3", "3"},
		{"ALTER TABLE t ALTER n SET NOT NULL", "INSERT INTO t VALUES (3, NULL)",
			sqlerr.NotNullViolation, "count(*) FROM t", "2"},
		{"ALTER TABLE t ADD m int DEFAULT 7", "INSERT INTO t VALUES (3, 3)", "",
			"m FROM t WHERE id = 3", "7"},
		{"ALTER TABLE t DROP n; ALTER TABLE t ADD s text", "INSERT INTO t VALUES (3, 3)", "",
			"s || '!' FROM t WHERE id = 3", "3!"},
		{"ALTER TABLE t RENAME TO u; CREATE TABLE t (x int, y int)", "INSERT INTO t VALUES (1, 1)",
			"", "count(*) FROM u, t", "2"},
		{"DROP TABLE t", "INSERT INTO t VALUES (3, 3)", sqlerr.UndefinedTable, "1", "1"},
		{"ALTER TABLE t ADD CHECK (n < 10)", "INSERT INTO t VALUES (3, 30)", sqlerr.CheckViolation,
			"count(*) FROM t", "2"},
		{"CREATE VIEW v AS SELECT FROM t", "INSERT INTO t VALUES (3, 3)", "", "count(*) FROM v",
			"3"},
	} {
		a, b, _ := assuming(t)
		mustQuery(t, b, c.change)
		if c.code == "" {
			mustQuery(t, a, c.insert)
		} else {
			fails(t, a, c.insert, c.code)
		}
		require.Equal(t, c.want, said(t, b, c.shows), c.change)
	}
	a, b, _ := assuming(t)
	mustQuery(t, b, "ALTER TABLE t ALTER n SET NOT NULL")
	mustQuery(t, a, "INSERT INTO t VALUES (3, 3)")
	mustQuery(t, a, "INSERT INTO t VALUES (4, 4)")
	mustQuery(t, b, "ALTER TABLE t ALTER n DROP NOT NULL")
	mustQuery(t, a, "INSERT INTO t VALUES (5, NULL)") // refused by the schema that it assumes
	require.Equal(t, "5", said(t, b, "count(*) FROM t"))
}
