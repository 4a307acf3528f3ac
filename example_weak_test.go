package minidb_test

import (
	"context"
	"fmt"
	"log"

	"github.com/minidb/minidb"
)

// Visits of pages are counted. The observer of visits would write few pages again and again, and
// its runs would conflict: it asks for a run on the page, which counts all visits since the last.
func ExampleTx_Notify() {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"CREATE TABLE visits (id int PRIMARY KEY, url text NOT NULL)",
		"CREATE TABLE pages (url text PRIMARY KEY, title text, visits int8)",
	} {
		if _, err := db.Exec(ctx, q); err != nil {
			log.Fatal(err)
		}
	}
	err = db.Observe(ctx, minidb.Observer{Name: "visits", Table: "visits", Workers: 4},
		func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			var url string
			if err := c.Row.Get("url", &url); err != nil {
				return err
			}
			return tx.Notify(ctx, "pages", url)
		})
	if err != nil {
		log.Fatal(err)
	}
	err = db.Observe(ctx, minidb.Observer{Name: "pages", Table: "pages",
		Columns: []string{"title"}},
		func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			_, err := tx.Exec(ctx, `INSERT INTO pages (url, visits)
				SELECT $1, count(*) FROM visits WHERE url = $1
				ON CONFLICT (url) DO UPDATE SET visits = excluded.visits`, c.Key[0])
			return err
		})
	if err != nil {
		log.Fatal(err)
	}
	for id, url := range []string{"a", "b", "a", "a", "b"} {
		if _, err := db.Exec(ctx, "INSERT INTO visits VALUES ($1, $2)", id, url); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Settle(ctx, 0); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(ctx, "SELECT url, visits FROM pages ORDER BY url")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var url string
		var visits int64
		if err := rows.Scan(&url, &visits); err != nil {
			log.Fatal(err)
		}
		fmt.Println(url, visits)
	}
	// Output:
	// a 3
	// b 2
}
