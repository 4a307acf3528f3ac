package sql_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
)

// TestOnlyCountsAreToldBeforeTheSync: a statement that waited for a row goes on once the commit
// that it waited for is visible, and returns how many rows it changed. Rows, errors and the end of
// a transaction without writes wait until that commit is durable (txn: I18).
func TestOnlyCountsAreToldBeforeTheSync(t *testing.T) {
	for name, c := range map[string]struct {
		waiting string // for the row
		then    string // must not answer before the sync; "": waiting must not
		code    string
	}{
		"rows":       {"UPDATE t SET n = n + 1 WHERE id = 1", "SELECT n FROM t", ""},
		"returning":  {"UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n", "", ""},
		"for update": {"SELECT n FROM t WHERE id = 1 FOR UPDATE", "", ""},
		"error": {"UPDATE t SET n = n + 1 WHERE id = 1",
			"INSERT INTO t SELECT 9, 1 / (n - n) FROM t", sqlerr.DivisionByZero},
		"nothing new": {"DELETE FROM t WHERE id = 1 AND n = 10", "COMMIT", ""},
		"explain":     {"UPDATE t SET n = n + 1 WHERE id = 1", "EXPLAIN ANALYZE SELECT 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fs := testfs.NewCrashFS()
			kv, err := pebblekv.Open("db", pebblekv.Options{FS: fs})
			require.NoError(t, err)
			e := newEngineOn(t, kv, txn.Options{})
			a, b, watcher := newSession(t, e), newSession(t, e), newSession(t, e)
			mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
			mustQuery(t, a, "INSERT INTO t VALUES (1, 10), (2, 20)")
			mustQuery(t, a, "BEGIN")
			mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 1")
			mustQuery(t, b, "BEGIN ISOLATION LEVEL READ COMMITTED")
			waiting := blocked(t, b, watcher, c.waiting)

			release := sync.OnceFunc(fs.HoldSyncs())
			defer release()
			committed := start(a, "COMMIT")
			if c.then != "" {
				require.NoError(t, <-waiting, "%s answers before the sync", c.waiting)
				waiting = start(b, c.then)
			}
			for range 2000 {
				runtime.Gosched()
				select {
				case err := <-waiting:
					t.Fatalf("answered before the sync: %v", err)
				case err := <-committed:
					t.Fatalf("committed before the sync: %v", err)
				default:
				}
			}
			release()
			require.Equal(t, c.code, codeOf(<-waiting))
			require.NoError(t, <-committed)
			mustQuery(t, b, "ROLLBACK")
		})
	}
}
