// Command migrate runs golang-migrate's migrations over lib/pq and pgx.
package main

import (
	"errors"
	"strings"
	"testing/fstest"

	"github.com/golang-migrate/migrate/v4"
	_ "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	_ "github.com/golang-migrate/migrate/v4/database/postgres"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/minidb/minidb/tests/clients/golang/cases"
)

var files = fstest.MapFS{
	"m/1_first.up.sql": {
		Data: []byte("create table a (id int primary key); create index on a (id);"),
	},
	"m/1_first.down.sql": {Data: []byte("drop table a;")},
	"m/2_next.up.sql": {
		Data: []byte(
			"begin; alter table a add b text default 'x'; insert into a values (1); commit;",
		),
	},
	"m/2_next.down.sql": {Data: []byte("alter table a drop b;")},
	"m/3_bad.up.sql":    {Data: []byte("create table c (id int); select nope;")},
	"m/3_bad.down.sql":  {Data: []byte("drop table if exists c;")},
}

func main() {
	for _, scheme := range []string{"postgres", "pgx5"} {
		url := strings.Replace(cases.URL(), "postgres://", scheme+"://", 1)
		src, err := iofs.New(files, "m")
		if err != nil {
			panic(err)
		}
		var m *migrate.Migrate
		cases.Run(scheme+": open", func() error {
			m, err = migrate.NewWithSourceInstance("iofs", src, url)
			return err
		})
		if m == nil {
			continue
		}
		cases.Run(scheme+": two steps", func() error {
			err := m.Steps(2)
			v, dirty, verr := m.Version()
			cases.Show(v, dirty, verr)
			return err
		})
		cases.Run(scheme+": a migration that fails", func() error {
			err := m.Up()
			v, dirty, _ := m.Version()
			cases.Show(v, dirty, err != nil)
			return m.Force(2)
		})
		cases.Run(scheme+": down and drop", func() error {
			if err := m.Migrate(1); err != nil && !errors.Is(err, migrate.ErrNoChange) {
				return err
			}
			return m.Drop()
		})
		_, _ = m.Close()
	}
}
