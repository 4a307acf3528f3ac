package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/minidb/minidb"
)

// onStoreSchema is the schema in which OnStore works. It is dropped before and afterwards.
const onStoreSchema = "minidb_bench"

// onStoreRows is the size of the table that is read and updated.
const onStoreRows = 2_000

// ErrInUse is returned by OnStore for a store that has tables of others.
var ErrInUse = errors.New("the store has tables outside of schema " + onStoreSchema +
	": measure on one that is not in use, such as another path")

// OnStore measures statements through the embedded handle on a store of any engine, and prints a
// line for each of them. Of the options it takes Round, Rounds and Only.
func OnStore(ctx context.Context, db *minidb.DB, o Options, w io.Writer) (err error) {
	var others int
	err = db.QueryRow(ctx, `SELECT count(*) FROM pg_tables WHERE schemaname NOT IN
		('pg_catalog', 'information_schema', $1)`, onStoreSchema).Scan(&others)
	if err != nil {
		return err
	}
	if others > 0 {
		return ErrInUse
	}
	drop := func(ctx context.Context) error {
		_, err := db.Exec(ctx, "DROP SCHEMA IF EXISTS "+onStoreSchema+" CASCADE")
		return err
	}
	if err := drop(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx))) }()
	_, err = db.Exec(ctx, fmt.Sprintf(`CREATE SCHEMA %[1]s;
		CREATE TABLE %[1]s.doc (id bigint PRIMARY KEY, hash bigint, body text);
		CREATE INDEX ON %[1]s.doc (hash);
		INSERT INTO %[1]s.doc SELECT g, g * 7919, 'body of document ' || g
			FROM generate_series(0, %[2]d) AS s (g)`, onStoreSchema, onStoreRows-1))
	if err != nil {
		return err
	}
	if err := printRow(w, "measurement", columns); err != nil {
		return err
	}
	for _, m := range onStore(db) {
		if !strings.Contains(m.name, o.Only) {
			continue
		}
		if err := m.run(ctx, o, w); err != nil {
			return err
		}
	}
	return nil
}

// onStore lists the measurements.
func onStore(db *minidb.DB) (all []measurement) {
	var next atomic.Int64
	next.Store(onStoreRows)
	id := func(worker, n int) int { return (worker<<20 + n) * 7919 % onStoreRows }
	read := func(query string) func(ctx context.Context, worker, n int) error {
		return func(ctx context.Context, worker, n int) error {
			var body string
			return db.QueryRow(ctx, query, id(worker, n)).Scan(&body)
		}
	}
	write := func(query string, args func(worker, n int) []any) func(context.Context, int,
		int) error {
		return func(ctx context.Context, worker, n int) error {
			_, err := db.Exec(ctx, query, args(worker, n)...)
			return err
		}
	}
	statements := []struct {
		name string
		op   func(ctx context.Context, worker, n int) error
	}{
		{"select by primary key", read("SELECT body FROM minidb_bench.doc WHERE id = $1")},
		{"select by an index",
			read("SELECT body FROM minidb_bench.doc WHERE hash = 7919 * $1::bigint")},
		{"insert, with an index", write("INSERT INTO minidb_bench.doc VALUES ($1, $1, 'new')",
			func(int, int) []any { return []any{next.Add(1)} })},
		{"update of a column without an index",
			write("UPDATE minidb_bench.doc SET body = body || '' WHERE id = $1",
				func(worker, n int) []any { return []any{id(worker, n)} })},
	}
	for _, s := range statements {
		for _, workers := range []int{1, 16} {
			all = append(all, measurement{name: fmt.Sprintf("%s, %d", s.name, workers),
				workers: workers, minidb: side{name: "minidb", op: s.op}})
		}
	}
	return all
}
