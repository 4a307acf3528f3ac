package minidb_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// A session that asks for its own writes sees them in a view, however far behind the view is.
func TestASessionSeesItsOwnWritesInAView(t *testing.T) {
	db := open(t, minidb.InMemory())
	ctx := context.Background()
	exec := func(text string) {
		_, err := db.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	exec("CREATE TABLE a (id int PRIMARY KEY, g int)")
	exec("CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT g, count(*) n FROM a GROUP BY g")
	exec("CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT sum(n) FROM v")
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			conn, err := db.Conn(ctx)
			require.NoError(t, err)
			defer conn.Close()
			run := func(text string) {
				_, err := conn.Exec(ctx, text)
				require.NoError(t, err, text)
			}
			run("SET minidb.view_freshness = 'own writes'")
			run("SET default_transaction_isolation = '" + level + "'")
			run("TRUNCATE a")
			for i := 1; i <= 100; i++ {
				_, err := conn.Exec(ctx, "INSERT INTO a VALUES ($1, $2)", i, i%7)
				require.NoError(t, err)
				var n, sum int
				require.NoError(t, conn.QueryRow(ctx, "SELECT count(*) FROM v").Scan(&n))
				require.Equal(t, min(i, 7), n)
				run("BEGIN")
				require.NoError(t, conn.QueryRow(ctx, "SELECT * FROM w").Scan(&sum))
				require.Equal(t, i, sum)
				run("COMMIT")
			}
		})
	}
}
