package minidb_test

import (
	"context"
	"fmt"
	"log"

	"github.com/minidb/minidb"
)

// Words of documents are counted, change by change. The function sees a row as it was at its last
// run and as it is, so it adds the difference.
func ExampleDB_Observe() {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"CREATE TABLE documents (url text PRIMARY KEY, body text NOT NULL)",
		"CREATE TABLE words (word text PRIMARY KEY, n int NOT NULL)",
	} {
		if _, err := db.Exec(ctx, q); err != nil {
			log.Fatal(err)
		}
	}
	count := func(ctx context.Context, tx *minidb.Tx, of *minidb.Image, by int) error {
		if of == nil {
			return nil
		}
		var body string
		if err := of.Get("body", &body); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO words
			SELECT word, count(*) * $2::int FROM string_to_table($1, ' ') AS word GROUP BY 1
			ON CONFLICT (word) DO UPDATE SET n = words.n + excluded.n`, body, by)
		return err
	}
	err = db.Observe(ctx, minidb.Observer{Name: "word counts", Table: "documents",
		Columns: []string{"body"}},
		func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			if err := count(ctx, tx, c.Before, -1); err != nil {
				return err
			}
			return count(ctx, tx, c.Row, 1)
		})
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range []string{
		"INSERT INTO documents VALUES ('a', 'to be or not to be'), ('b', 'to do')",
		"UPDATE documents SET body = 'not to do' WHERE url = 'b'",
		"DELETE FROM documents WHERE url = 'a'",
	} {
		if _, err := db.Exec(ctx, q); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Settle(ctx, 0); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(ctx, "SELECT word, n FROM words WHERE n <> 0 ORDER BY word")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var word string
		var n int
		if err := rows.Scan(&word, &n); err != nil {
			log.Fatal(err)
		}
		fmt.Println(word, n)
	}
	// Output:
	// do 1
	// not 1
	// to 1
}
