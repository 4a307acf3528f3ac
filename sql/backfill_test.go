package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// TestIndexesOfMoreThanABatch have an entry for each row, whether they are made in one transaction
// with the rows or later, and whether or not the transaction holds all of them in memory.
func TestIndexesOfMoreThanABatch(t *testing.T) {
	for _, stream := range []int{0, 1 << 20} {
		on := memkv.New(memkv.Options{})
		t.Cleanup(func() { require.NoError(t, on.Close()) })
		e, store := openEngine(t, on, txn.Options{StreamBytes: stream}, sql.Options{})
		s := newSession(t, e)
		mustQuery(t, s, `CREATE TABLE t (id int PRIMARY KEY, s text, n int[]); BEGIN;
			INSERT INTO t SELECT g, repeat(md5(g::text), 32), ARRAY[g, g % 7] FROM
			generate_series(1, 9000) g; CREATE INDEX t_s ON t (s); COMMIT;
			CREATE INDEX t_n ON t USING gin (n); CREATE INDEX t_p ON t (s DESC, n) WHERE id % 5 > 0;
			CREATE UNIQUE INDEX t_u ON t (s) INCLUDE (n)`)
		require.NoError(t, catalog.Check(t.Context(), store,
			func(p catalog.Problem) { t.Error(p) }, catalog.WithPrograms(sql.Programs())))
	}
}
