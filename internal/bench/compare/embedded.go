package compare

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the reference

	"github.com/minidb/minidb"
)

// embeddedRows is the size of the table of the embedded works, which lies in both caches.
const embeddedRows = 100_000

// local is a work that both sides do in this process.
type local struct {
	name    string
	reach   float64
	workers int
	// handle: minidb is asked through its own handle, and not through database/sql.
	handle bool
	sql    string
	params func(dice *rand.Rand) []any
	// inserts is how many rows one operation inserts in a transaction; 0: it reads.
	inserts int
}

var locals = []local{
	{name: "embedded select by key, handle", reach: 3, workers: 1, handle: true,
		sql: "SELECT body FROM docs WHERE id = $1", params: anyRow},
	{name: "embedded select by key, database/sql", reach: 2, workers: 1,
		sql: "SELECT body FROM docs WHERE id = $1", params: anyRow},
	{name: "embedded select by secondary index", reach: 2, workers: 1, handle: true,
		sql: "SELECT body FROM docs WHERE hash = $1", params: anyRow},
	{name: "embedded range of 100 rows", reach: 3, workers: 1, handle: true,
		sql: "SELECT body FROM docs WHERE id >= $1 AND id < $1 + 100", params: anyRow},
	{name: "embedded 100 inserts in a transaction", reach: 2, workers: 1, inserts: 100},
	{name: "embedded 64 durable writers", reach: 10, workers: 64, inserts: 1},
}

func anyRow(dice *rand.Rand) []any { return []any{1 + dice.IntN(embeddedRows-100)} }

// engines are the two embedded databases.
type engines struct {
	handle *minidb.DB
	ours   *sql.DB // beside it, on a directory of its own
	theirs *sql.DB
}

const docs = `CREATE TABLE docs (id int PRIMARY KEY, hash int, body text)`

func openEngines(ctx context.Context, dir string) (_ *engines, err error) {
	e := &engines{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.handle, err = minidb.Open(filepath.Join(dir, "handle")); err != nil {
		return nil, err
	}
	if e.ours, err = sql.Open("minidb", filepath.Join(dir, "driver")); err != nil {
		return nil, err
	}
	e.theirs, err = sql.Open("sqlite", "file:"+filepath.Join(dir, "sqlite")+
		"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(60000)")
	if err != nil {
		return nil, err
	}
	series := fmt.Sprintf("generate_series(1, %d) AS s (g)", embeddedRows)
	recursive := fmt.Sprintf("(WITH RECURSIVE s (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM s "+
		"WHERE g < %d) SELECT g FROM s)", embeddedRows)
	for _, q := range []string{docs, "INSERT INTO docs SELECT g, g, 'body of document ' || g FROM ",
		"CREATE INDEX dh ON docs (hash)"} {
		ours, theirs := q, q
		if strings.HasSuffix(q, "FROM ") {
			ours, theirs = q+series, q+recursive
		}
		if _, err := e.handle.Exec(ctx, ours); err != nil {
			return nil, err
		}
		if _, err := e.ours.ExecContext(ctx, ours); err != nil {
			return nil, err
		}
		if _, err := e.theirs.ExecContext(ctx, theirs); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *engines) close() (err error) {
	if e.handle != nil {
		err = e.handle.Close()
	}
	for _, db := range []*sql.DB{e.ours, e.theirs} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// embedded measures minidb in this process beside SQLite.
func (r *runner) embedded(ctx context.Context) (err error) {
	var some bool
	for _, work := range locals {
		some = some || strings.Contains(work.name, r.Only)
	}
	if !some {
		return nil
	}
	e, err := openEngines(ctx, r.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	for i := range locals {
		if work := &locals[i]; strings.Contains(work.name, r.Only) {
			if err := r.local(ctx, e, work); err != nil {
				return fmt.Errorf("%s: %w", work.name, err)
			}
		}
	}
	return nil
}

func (r *runner) local(ctx context.Context, e *engines, work *local) error {
	ops, done, err := e.ops(ctx, work)
	if err != nil {
		return err
	}
	for _, op := range ops {
		if _, err := perSecond(ctx, work.workers, r.Round/4, op); err != nil {
			return errors.Join(err, done())
		}
	}
	err = r.turns(Result{Name: work.name, Reference: "SQLite", Reach: work.reach, PerSecond: true},
		func(i int) (float64, error) { return perSecond(ctx, work.workers, r.Round, ops[i]) })
	return errors.Join(err, done())
}

type operation func(worker int, dice *rand.Rand) error

// ops returns the operation of each side.
func (e *engines) ops(ctx context.Context, work *local) (ops [2]operation, done func() error,
	err error) {
	if work.inserts > 0 {
		return [2]operation{inserts(ctx, e.ours, work.inserts),
			inserts(ctx, e.theirs, work.inserts)}, func() error { return nil }, nil
	}
	theirs, err := e.theirs.PrepareContext(ctx, work.sql)
	if err != nil {
		return ops, nil, err
	}
	ours, err := e.ours.PrepareContext(ctx, work.sql)
	if err != nil {
		return ops, nil, errors.Join(err, theirs.Close())
	}
	done = func() error { return errors.Join(ours.Close(), theirs.Close()) }
	ops = [2]operation{selects(ctx, ours, work), selects(ctx, theirs, work)}
	if work.handle {
		ops[0] = func(_ int, dice *rand.Rand) error {
			rows, err := e.handle.Query(ctx, work.sql, work.params(dice)...)
			if err != nil {
				return err
			}
			return read(rows)
		}
	}
	return ops, done, nil
}

// rowsOf is what both handles return.
type rowsOf interface {
	Next() bool
	Scan(...any) error
	Err() error
	Close() error
}

func read(rows rowsOf) error {
	var body string
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(&body); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	if n == 0 {
		return errors.Join(errors.New("no row"), rows.Err(), rows.Close())
	}
	return errors.Join(rows.Err(), rows.Close())
}

func selects(ctx context.Context, st *sql.Stmt, work *local) operation {
	return func(_ int, dice *rand.Rand) error {
		rows, err := st.QueryContext(ctx, work.params(dice)...)
		if err != nil {
			return err
		}
		return read(rows)
	}
}

// inserts adds rows with new keys, so many in a transaction.
func inserts(ctx context.Context, db *sql.DB, n int) operation {
	const insert = "INSERT INTO docs VALUES ($1, $2, 'new') ON CONFLICT DO NOTHING"
	return func(_ int, dice *rand.Rand) error {
		if n == 1 {
			_, err := db.ExecContext(ctx, insert, embeddedRows+dice.IntN(1<<30), 0)
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for range n {
			if _, err := tx.ExecContext(ctx, insert, embeddedRows+dice.IntN(1<<30), 0); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		return tx.Commit()
	}
}
