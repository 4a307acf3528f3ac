package bench

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"path/filepath"

	_ "modernc.org/sqlite" // the reference of the embedded measurements

	"github.com/minidb/minidb"
)

// rows is the size of the table that the select measurements read.
const rows = 20_000

// selects compares a select by primary key through the embedded handle with modernc's SQLite.
func selects(ctx context.Context, o Options) ([]measurement, func() error, error) {
	db, err := minidb.Open(filepath.Join(o.Dir, "select"))
	if err != nil {
		return nil, nil, err
	}
	lite, err := sql.Open("sqlite", "file:"+filepath.Join(o.Dir, "select.sqlite")+
		"?_pragma=journal_mode(wal)")
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	done := func() error { return errors.Join(db.Close(), lite.Close()) }
	if err := fill(ctx, db, lite); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	prepared, err := lite.PrepareContext(ctx, `SELECT body FROM docs WHERE id = ?`)
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	driver, err := sql.Open("minidb", filepath.Join(o.Dir, "select-driver"))
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	if err := fillMinidb(func(q string, args ...any) error {
		_, err := driver.ExecContext(ctx, q, args...)
		return err
	}); err != nil {
		return nil, nil, errors.Join(err, driver.Close(), done())
	}
	viaDriver, err := driver.PrepareContext(ctx, `SELECT body FROM docs WHERE id = $1`)
	if err != nil {
		return nil, nil, errors.Join(err, driver.Close(), done())
	}
	handle := side{name: "minidb", op: func(ctx context.Context, _, _ int) error {
		var body string
		return db.QueryRow(ctx, `SELECT body FROM docs WHERE id = $1`, rand.IntN(rows)).Scan(&body)
	}}
	stmt := func(st *sql.Stmt) func(ctx context.Context, _, _ int) error {
		return func(ctx context.Context, _, _ int) error {
			var body string
			return st.QueryRowContext(ctx, rand.IntN(rows)).Scan(&body)
		}
	}
	sqlite := side{name: "sqlite", op: stmt(prepared)}
	return []measurement{
		{name: "select by primary key, handle", workers: 1, minidb: handle, reference: sqlite},
		{name: "select by primary key, database/sql", workers: 1,
			minidb: side{name: "minidb", op: stmt(viaDriver)}, reference: sqlite},
		{name: "select by primary key, 8 goroutines", workers: 8, minidb: handle,
			reference: sqlite},
	}, func() error { return errors.Join(driver.Close(), done()) }, nil
}

const schema = `CREATE TABLE docs (id bigint PRIMARY KEY, body text)`

func fillMinidb(exec func(q string, args ...any) error) error {
	return errors.Join(exec(schema),
		exec(`INSERT INTO docs SELECT g, 'body of document ' || g
			FROM generate_series(0, $1::bigint - 1) AS s (g)`, rows))
}

func fill(ctx context.Context, db *minidb.DB, lite *sql.DB) error {
	if err := fillMinidb(func(q string, args ...any) error {
		_, err := db.Exec(ctx, q, args...)
		return err
	}); err != nil {
		return err
	}
	if _, err := lite.ExecContext(ctx, schema); err != nil {
		return err
	}
	_, err := lite.ExecContext(ctx, `WITH RECURSIVE s (g) AS (
			SELECT 0 UNION ALL SELECT g + 1 FROM s WHERE g < ? - 1)
		INSERT INTO docs SELECT g, 'body of document ' || g FROM s`, rows)
	return err
}
