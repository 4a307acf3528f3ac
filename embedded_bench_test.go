package minidb_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb"
	"github.com/stretchr/testify/require"
)

// benchRows are the rows of the table that the benchmarks of the embedded handle read.
const benchRows = 100_000

func benchDocs(tb testing.TB, rows int) *minidb.DB {
	db, err := minidb.Open(tb.TempDir())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, db.Close()) })
	for _, q := range []string{"CREATE TABLE docs (id int PRIMARY KEY, hash int, body text)",
		fmt.Sprintf("INSERT INTO docs SELECT g, g, 'body of document ' || g "+
			"FROM generate_series(1, %d) AS s (g)", rows),
		"CREATE INDEX dh ON docs (hash)"} {
		_, err := db.Exec(context.Background(), q)
		require.NoError(tb, err)
	}
	return db
}

// readBodies reads the rows of a query of one text column.
func readBodies(tb testing.TB, db *minidb.DB, query string, arg int) int {
	rows, err := db.Query(context.Background(), query, arg)
	require.NoError(tb, err)
	var body string
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(&body); err != nil {
			tb.Fatal(err)
		}
	}
	require.NoError(tb, rows.Err())
	require.NoError(tb, rows.Close())
	return n
}

func BenchmarkEmbeddedSelects(b *testing.B) {
	db := benchDocs(b, benchRows)
	for _, c := range []struct{ name, query string }{
		{"key", "SELECT body FROM docs WHERE id = $1"},
		{"index", "SELECT body FROM docs WHERE hash = $1"},
		{"range", "SELECT body FROM docs WHERE id >= $1 AND id < $1 + 100"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				require.NotZero(b, readBodies(b, db, c.query, 1+rand.IntN(benchRows-100)))
			}
		})
	}
}

func BenchmarkDatabaseSQL(b *testing.B) {
	ctx := context.Background()
	db := minidb.OpenSQL(benchDocs(b, benchRows))
	defer db.Close()
	b.Run("key", func(b *testing.B) {
		st, err := db.PrepareContext(ctx, "SELECT body FROM docs WHERE id = $1")
		require.NoError(b, err)
		defer st.Close()
		b.ReportAllocs()
		for range b.N {
			var body string
			rows, err := st.QueryContext(ctx, 1+rand.IntN(benchRows-100))
			require.NoError(b, err)
			for rows.Next() {
				require.NoError(b, rows.Scan(&body))
			}
			require.NoError(b, rows.Close())
		}
	})
	const insert = "INSERT INTO docs VALUES ($1, $2, 'new') ON CONFLICT DO NOTHING"
	b.Run("100 inserts", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			require.NoError(b, insertHundred(ctx, db, insert))
		}
	})
	b.Run("64 writers", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(32)
		var failed atomic.Value
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, err := db.ExecContext(ctx, insert, benchRows+rand.IntN(1<<30), 0)
				if err != nil {
					failed.Store(err)
				}
			}
		})
		require.Nil(b, failed.Load())
	})
}

func insertHundred(ctx context.Context, db *stdsql.DB, insert string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for range 100 {
		if _, err := tx.ExecContext(ctx, insert, benchRows+rand.IntN(1<<30), 0); err != nil {
			return err
		}
	}
	return tx.Commit()
}
