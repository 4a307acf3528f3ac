package sql_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
)

// TestChangesOfManyRowsAreReadBySeveral: UPDATE and DELETE change each row once that was there when
// they began, while several goroutines read ahead of what they write.
func TestChangesOfManyRowsAreReadBySeveral(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		before := runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	}
	on := record.New(memkv.New(memkv.Options{}))
	s := newSession(t, newEngineOn(t, on, txn.Options{}))
	const rows = 40_000
	must := func(text, result string) {
		t.Helper()
		require.Contains(t, mustQuery(t, s, text), result, text)
	}
	fill := func() {
		must(fmt.Sprintf(`DROP TABLE IF EXISTS t;
			CREATE TABLE t (id int PRIMARY KEY, a int, up int REFERENCES t ON DELETE CASCADE);
			CREATE INDEX ON t (up);
			INSERT INTO t SELECT i, i, nullif(i / 2, 0) FROM generate_series(1, %d) AS s (i);
			ANALYZE t`, rows), "")
	}
	fill()
	before := on.Counts()
	must("UPDATE t SET a = a + 1 WHERE id % 10 = 4", "UPDATE 4000\n")
	require.Greater(t, on.Since(before).Snapshots, int64(1), "several readers")
	must("SELECT sum(a) FROM t", fmt.Sprint(rows*(rows+1)/2+4000))

	// Rows move to where they are not read again.
	fill()
	must("ALTER TABLE t DROP CONSTRAINT t_up_fkey", "")
	must("UPDATE t SET id = id + 100000, a = a + 1", fmt.Sprintf("UPDATE %d\n", rows))
	must("SELECT min(id), max(id), count(*), sum(a) FROM t",
		fmt.Sprintf("100001|%d|%d|%d\n", rows+100000, rows, rows*(rows+1)/2+rows))
	must("UPDATE t SET id = id + 15000 WHERE id % 2 = 0 AND id > 130000", "UPDATE 5000\n")
	must("SELECT count(*), max(id) FROM t", fmt.Sprintf("%d|155000\n", rows))

	// The transaction has written what it reads.
	fill()
	must("BEGIN; UPDATE t SET a = 0 WHERE id > 30000; UPDATE t SET a = a + 1; "+
		"DELETE FROM t WHERE a > 20000; UPDATE t SET a = a + 1", "")
	// Row 40,000 went with row 20,000, to which it refers.
	must("SELECT count(*), sum(a) FROM t", fmt.Sprintf("%d|%d\n", 29_998,
		19_999*20_000/2+2*19_999+2*9_999))
	must("ROLLBACK; SELECT count(*), sum(a) FROM t", fmt.Sprintf("%d|%d\n", rows, rows*(rows+1)/2))

	// The actions of a foreign key delete what is still to be read.
	fill()
	must("DELETE FROM t WHERE id % 10 = 3", "DELETE 4000\n")
	must("SELECT count(*) FROM t a WHERE up IS NOT NULL AND "+
		"NOT EXISTS (SELECT FROM t b WHERE b.id = a.up)", "\n0\n")
	must("DELETE FROM t WHERE a = (SELECT min(a) FROM t) OR id > 20", "DELETE ")
	must("SELECT count(*) FROM t", "\n0\n")
}
