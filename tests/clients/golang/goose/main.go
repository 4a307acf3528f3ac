// Command goose runs goose's migrations, up, down, and with a statement block.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"testing/fstest"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/minidb/minidb/tests/clients/golang/cases"
)

var files = fstest.MapFS{
	"00001_first.sql": {Data: []byte(`-- +goose Up
create table a (id serial primary key, name text);
insert into a (name) values ('one');
-- +goose Down
drop table a;
`)},
	"00002_block.sql": {Data: []byte(`-- +goose Up
-- +goose StatementBegin
insert into a (name)
  select 'two; three';
-- +goose StatementEnd
alter table a add column n int not null default 3;
-- +goose Down
alter table a drop column n;
`)},
	"00003_no_tx.sql": {Data: []byte(`-- +goose NO TRANSACTION
-- +goose Up
create index concurrently a_name on a (name);
-- +goose Down
drop index concurrently a_name;
`)},
}

func main() {
	ctx := context.Background()
	db, err := sql.Open("pgx", cases.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		fmt.Println(err)
		return
	}
	cases.Run("up", func() error {
		done, err := p.Up(ctx)
		for _, r := range done {
			cases.Show(r.Source.Version, r.Direction, r.Empty)
		}
		return err
	})
	cases.Run("status", func() error {
		all, err := p.Status(ctx)
		for _, s := range all {
			cases.Show(s.Source.Version, s.State)
		}
		v, verr := p.GetDBVersion(ctx)
		cases.Show(v, verr)
		return err
	})
	cases.Run("rows", func() error {
		r, err := db.Query("select name, n from a order by id")
		if err != nil {
			return err
		}
		defer r.Close()
		for r.Next() {
			var s string
			var n int
			if err := r.Scan(&s, &n); err != nil {
				return err
			}
			cases.Show(s, n)
		}
		return r.Err()
	})
	cases.Run("down", func() error {
		done, err := p.DownTo(ctx, 0)
		cases.Show(len(done))
		return err
	})
}
