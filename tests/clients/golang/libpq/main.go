// Command libpq uses lib/pq through database/sql and sqlx: COPY, arrays, notifications, errors.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/minidb/minidb/tests/clients/golang/cases"
)

func main() {
	db, err := sqlx.Connect("postgres", cases.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	cases.Run("schema", func() error {
		_, err := db.Exec(`create table item (id serial primary key, sku text unique, n numeric,
			tags text[], at timestamptz); create index on item (n)`)
		return err
	})
	cases.Run("rows", func() error {
		if _, err := db.NamedExec(
			"insert into item (sku, n, tags) values (:sku, :n, :tags)",
			map[string]any{
				"sku":  "a",
				"n":    1.5,
				"tags": pq.Array([]string{"x", "y"}),
			},
		); err != nil {
			return err
		}
		var got []struct {
			ID   int
			SKU  string
			Tags pq.StringArray
			At   sql.NullTime
		}
		err := db.Select(
			&got,
			"select id, sku, tags, at from item where id = any($1)",
			pq.Array([]int{1, 2}),
		)
		cases.Show(got)
		return err
	})
	cases.Run("errors", func() error {
		for _, q := range []string{"select nope", "select 1/0",
			"insert into item (sku) values ('a')", "selec"} {
			_, err := db.Exec(q)
			var e *pq.Error
			if errors.As(err, &e) {
				cases.Show(e.Code, e.Code.Name(), e.Message, e.Constraint, e.Position)
			}
		}
		return nil
	})
	traffic(db)
}

func traffic(db *sqlx.DB) {
	cases.Run("copy", func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		st, err := tx.Prepare(pq.CopyIn("item", "sku", "n"))
		if err != nil {
			return err
		}
		for i := range 3 {
			if _, err := st.Exec(fmt.Sprint("c", i), i); err != nil {
				return err
			}
		}
		if _, err := st.Exec(); err != nil {
			return err
		}
		if err := st.Close(); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		var n int
		err = db.Get(&n, "select count(*) from item")
		cases.Show(n)
		return err
	})
	cases.Run("listener", func() error {
		// Where a server refuses LISTEN, Listen tries again for good, and says so by an event.
		ends := make(chan error, 1)
		end := func(err error) {
			select {
			case ends <- err:
			default:
			}
		}
		l := pq.NewListener(cases.URL(), time.Second, time.Minute,
			func(_ pq.ListenerEventType, err error) {
				if err != nil {
					end(err)
				}
			})
		defer l.Close()
		go func() { end(l.Listen("ch")) }()
		if err := <-ends; err != nil {
			return err
		}
		if _, err := db.Exec("notify ch, 'hello'"); err != nil {
			return err
		}
		n := <-l.Notify
		cases.Show(n.Channel, n.Extra)
		return nil
	})
	details(db)
}

func details(db *sqlx.DB) {
	cases.Run("isolation", func() error {
		tx, err := db.BeginTx(
			context.Background(),
			&sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true},
		)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		var a, b string
		if err := tx.QueryRow("show transaction_isolation").Scan(&a); err != nil {
			return err
		}
		if err := tx.QueryRow("show transaction_read_only").Scan(&b); err != nil {
			return err
		}
		cases.Show(a, b)
		_, err = tx.Exec("delete from item")
		return err
	})
	cases.Run("column types", func() error {
		r, err := db.Query(
			"select id, sku, n, tags, at, 1::int8, 'x'::varchar(7) from item limit 1",
		)
		if err != nil {
			return err
		}
		defer r.Close()
		types, err := r.ColumnTypes()
		for _, t := range types {
			length, ok := t.Length()
			cases.Show(t.Name(), t.DatabaseTypeName(), length, ok)
		}
		return err
	})
	cases.Run("a cancelled context", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_, err := db.ExecContext(ctx, "select pg_sleep(30)")
		cases.Show(err != nil)
		return nil
	})
}
