// Command pgx uses pgx 5: types in binary, batches, COPY, prepared statements, pools, user types.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/minidb/minidb/tests/clients/golang/cases"
)

var ctx = context.Background()

func main() {
	conn, err := pgx.Connect(ctx, cases.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(ctx)
	basics(conn)
	userTypes(conn)
	transactions(conn)
	cases.Run("pool under contention", pool)
	cases.Run("every mode of execution", modes)
}

func rows(conn *pgx.Conn, q string, args ...any) error {
	r, err := conn.Query(ctx, q, args...)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(
		r,
		func(row pgx.CollectableRow) ([]any, error) { return row.Values() },
	)
	for _, values := range all {
		cases.Show(values...)
	}
	return err
}

func basics(conn *pgx.Conn) {
	cases.Run("schema", func() error {
		_, err := conn.Exec(ctx, `create table item (id bigserial primary key, sku text unique,
			n numeric(8,2), doc jsonb, tags text[], at timestamptz, d date, iv interval, u uuid,
			raw bytea, ok boolean default true)`)
		return err
	})
	cases.Run("parameters by description", func() error {
		d, err := conn.Prepare(ctx, "ins", `insert into item (sku, n, doc, tags, at, d, iv, u, raw)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id, n`)
		if err != nil {
			return err
		}
		cases.Show(d.ParamOIDs, len(d.Fields))
		return rows(conn, "ins", "a", "1.5", map[string]any{"k": 1}, []string{"x", "y"},
			time.Unix(0, 0).UTC(), time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), time.Hour,
			"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", []byte{0, 255})
	})
	cases.Run("scan into structs", func() error {
		r, _ := conn.Query(ctx, "select id, sku, tags, ok, d, iv from item")
		type item struct {
			ID   int64
			SKU  *string
			Tags []string
			OK   bool
			D    pgtype.Date
			Iv   pgtype.Interval
		}
		got, err := pgx.CollectRows(r, pgx.RowToStructByName[item])
		cases.Show(got)
		return err
	})
	cases.Run("addresses, ranges, bits", func() error {
		var (
			p netip.Prefix
			a netip.Addr
			r pgtype.Range[pgtype.Int4]
			m pgtype.Multirange[pgtype.Range[pgtype.Int8]]
			b pgtype.Bits
			t pgtype.Time
		)
		err := conn.QueryRow(ctx, `select $1::cidr, $2::inet, $3::int4range,
			'{[1,3),[5,8)}'::int8multirange, b'101'::bit(3), time '01:02:03'`,
			netip.MustParsePrefix("10.0.0.0/8"), netip.MustParseAddr("1.2.3.4"),
			pgtype.Range[pgtype.Int4]{Lower: pgtype.Int4{Int32: 1, Valid: true},
				Upper: pgtype.Int4{Int32: 5, Valid: true}, LowerType: pgtype.Inclusive,
				UpperType: pgtype.Exclusive, Valid: true}).Scan(&p, &a, &r, &m, &b, &t)
		cases.Show(p, a, r, m, b, t)
		return err
	})
	traffic(conn)
}

func traffic(conn *pgx.Conn) {
	cases.Run("batch", func() error {
		b := &pgx.Batch{}
		b.Queue("insert into item (sku) values ($1)", "b1")
		b.Queue("select count(*) from item")
		b.Queue("select nope")
		res := conn.SendBatch(ctx, b)
		defer res.Close()
		tag, err := res.Exec()
		cases.Show(tag.String(), err)
		var n int
		err = res.QueryRow().Scan(&n)
		cases.Show(n, err)
		_, err = res.Exec()
		return err
	})
	cases.Run("copy", func() error {
		n, err := conn.CopyFrom(ctx, pgx.Identifier{"item"}, []string{"sku", "n", "tags"},
			pgx.CopyFromRows([][]any{{"c1", "2.25", []string{"z"}}, {"c2", nil, nil}}))
		cases.Show(n)
		if err != nil {
			return err
		}
		return rows(conn, "select sku, n::text, tags from item order by sku")
	})
	cases.Run("errors", func() error {
		for _, q := range []string{"select nope", "select 1/0",
			"insert into item (sku) values ('a')",
			"selec", "select $1::int"} {
			_, err := conn.Exec(ctx, q)
			var e *pgconn.PgError
			if errors.As(err, &e) {
				cases.Show(e.Code, e.Message, e.Position, e.ConstraintName, e.TableName, e.Detail)
			}
		}
		return nil
	})
	interruptions(conn)
}

func interruptions(conn *pgx.Conn) {
	cases.Run("notifications", func() error {
		if _, err := conn.Exec(ctx, "listen ch; notify ch, 'hello'"); err != nil {
			return err
		}
		n, err := conn.WaitForNotification(ctx)
		if err == nil {
			cases.Show(n.Channel, n.Payload)
		}
		return err
	})
	cases.Run("a cancelled context", func() error {
		c, err := pgx.Connect(ctx, cases.URL())
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		_, err = c.Exec(limited, "select pg_sleep(30)")
		cases.Show(errors.Is(err, context.DeadlineExceeded), c.IsClosed())
		return nil
	})
	cases.Run("a plan that a change of the table outlives", func() error {
		for i := range 3 {
			if i == 2 {
				if _, err := conn.Exec(ctx, "alter table item add extra int"); err != nil {
					return err
				}
			}
			if err := rows(
				conn,
				"select * from item where id = $1 and sku = 'nothing'",
				1,
			); err != nil {
				return err
			}
		}
		return nil
	})
}

func userTypes(conn *pgx.Conn) {
	cases.Run("enum", func() error {
		if _, err := conn.Exec(ctx, "create type mood as enum ('sad', 'ok')"); err != nil {
			return err
		}
		for _, name := range []string{"mood", "_mood"} {
			t, err := conn.LoadType(ctx, name)
			if err != nil {
				return err
			}
			conn.TypeMap().RegisterType(t)
		}
		var m string
		var l []string
		err := conn.QueryRow(ctx, "select $1::mood, $2::mood[]", "ok", []string{"sad", "ok"}).
			Scan(&m, &l)
		cases.Show(m, l)
		return err
	})
	cases.Run("composite and row types", func() error {
		if _, err := conn.Exec(
			ctx,
			"create type pair as (a int, b text); create table pt (p pair)",
		); err != nil {
			return err
		}
		for _, name := range []string{"pair", "_pair", "pt"} {
			t, err := conn.LoadType(ctx, name)
			if err != nil {
				return err
			}
			conn.TypeMap().RegisterType(t)
		}
		type pair struct {
			A int32
			B *string
		}
		b := "x"
		if _, err := conn.Exec(ctx, "insert into pt values ($1)", pair{1, &b}); err != nil {
			return err
		}
		var got pair
		if err := conn.QueryRow(ctx, "select p from pt").Scan(&got); err != nil {
			return err
		}
		var l []pair
		err := conn.QueryRow(ctx, "select array_agg(p) from pt").Scan(&l)
		cases.Show(got, l)
		return err
	})
	cases.Run("domain", func() error {
		if _, err := conn.Exec(ctx, "create domain posint as int check (value > 0)"); err != nil {
			return err
		}
		if err := rows(conn, "select 5::posint"); err != nil {
			return err
		}
		return rows(conn, "select $1::posint", -1)
	})
	cases.Run("temporary table", func() error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback(ctx)
		if _, err := tx.Exec(ctx, "create temp table t (a int) on commit drop"); err != nil {
			return err
		}
		n, err := tx.CopyFrom(
			ctx,
			pgx.Identifier{"t"},
			[]string{"a"},
			pgx.CopyFromRows([][]any{{1}, {2}}),
		)
		cases.Show(n)
		if err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
}

func transactions(conn *pgx.Conn) {
	cases.Run("nested transactions", func() error {
		return pgx.BeginTxFunc(
			ctx,
			conn,
			pgx.TxOptions{IsoLevel: pgx.Serializable},
			func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "insert into item (sku) values ('t')"); err != nil {
					return err
				}
				err := pgx.BeginFunc(ctx, tx, func(sub pgx.Tx) error {
					_, err := sub.Exec(ctx, "insert into item (sku) values ('t')")
					return err
				})
				cases.Show(err != nil)
				var n int
				err = tx.QueryRow(ctx, "select count(*) from item where sku = 't'").Scan(&n)
				cases.Show(n)
				return err
			},
		)
	})
	cases.Run("large object", func() error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback(ctx)
		los := tx.LargeObjects()
		oid, err := los.Create(ctx, 0)
		if err != nil {
			return err
		}
		o, err := los.Open(ctx, oid, pgx.LargeObjectModeRead|pgx.LargeObjectModeWrite)
		if err != nil {
			return err
		}
		n, err := o.Write([]byte("hello"))
		cases.Show(n, err)
		at, err := o.Seek(1, 0)
		cases.Show(at, err)
		b := make([]byte, 10)
		n, _ = o.Read(b)
		cases.Show(string(b[:n]))
		return tx.Commit(ctx)
	})
}

func pool() error {
	p, err := pgxpool.New(ctx, cases.URL()+"&pool_max_conns=8")
	if err != nil {
		return err
	}
	defer p.Close()
	if _, err := p.Exec(
		ctx,
		"create table counter (id int primary key, n int); insert into counter values (1, 0)",
	); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make(chan error, 40)
	for range 40 {
		wg.Go(func() {
			errs <- pgx.BeginFunc(ctx, p, func(tx pgx.Tx) error {
				var n int
				err := tx.QueryRow(ctx, "select n from counter where id = 1 for update").Scan(&n)
				if err != nil {
					return err
				}
				_, err = tx.Exec(ctx, "update counter set n = $1 where id = 1", n+1)
				return err
			})
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	var n int
	err = p.QueryRow(ctx, "select n from counter").Scan(&n)
	cases.Show(n)
	return err
}

func modes() error {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement,
		pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		config, err := pgx.ParseConfig(cases.URL())
		if err != nil {
			return err
		}
		config.DefaultQueryExecMode = mode
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return err
		}
		for i := range 2 {
			var id int64
			var s string
			err = conn.QueryRow(ctx, "select $1::int8 + 1, $2::text || 'x'", int64(-i), "it's").
				Scan(&id, &s)
			cases.Show(mode.String(), id, s, err)
		}
		if err := conn.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}
