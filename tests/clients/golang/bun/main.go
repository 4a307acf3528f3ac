// Command bun uses bun: models with relations, and its migrations.
package main

import (
	"context"
	"database/sql"
	"testing/fstest"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"
	"github.com/uptrace/bun/migrate"

	"github.com/minidb/minidb/tests/clients/golang/cases"
)

type author struct {
	bun.BaseModel `bun:"table:authors"`
	ID            int64          `bun:",pk,autoincrement"`
	Name          string         `bun:",unique,notnull"`
	Tags          []string       `bun:",array"`
	Doc           map[string]any `bun:"type:jsonb"`
	Price         float64        `bun:"type:numeric(8,2),default:1.5"`
	At            time.Time      `bun:",nullzero"`
	Books         []*book        `bun:"rel:has-many,join:id=author_id"`
}

type book struct {
	bun.BaseModel `        bun:"table:books"`
	ID            int64 `bun:",pk,autoincrement"`
	AuthorID      int64
	Title         string
	Author        *author `bun:"rel:belongs-to,join:author_id=id"`
}

func main() {
	ctx := context.Background()
	db := bun.NewDB(
		sql.OpenDB(pgdriver.NewConnector(pgdriver.WithDSN(cases.URL()))),
		pgdialect.New(),
	)
	defer db.Close()
	cases.Run("schema", func() error {
		if _, err := db.NewCreateTable().Model((*author)(nil)).IfNotExists().Exec(ctx); err != nil {
			return err
		}
		_, err := db.NewCreateTable().
			Model((*book)(nil)).
			ForeignKey("(author_id) references authors (id) on delete cascade").
			Exec(ctx)
		if err != nil {
			return err
		}
		_, err = db.NewCreateIndex().
			Model((*book)(nil)).
			Index("book_title").
			Column("title").
			Where("title <> ''").
			Exec(ctx)
		return err
	})
	cases.Run("rows", func() error {
		a := &author{Name: "Ada", Tags: []string{"x"}, Doc: map[string]any{"k": 1}}
		if _, err := db.NewInsert().Model(a).Returning("id, price").Exec(ctx); err != nil {
			return err
		}
		cases.Show(a.ID, a.Price)
		books := []book{{AuthorID: a.ID, Title: "One"}, {AuthorID: a.ID, Title: "Two"}}
		if _, err := db.NewInsert().Model(&books).Exec(ctx); err != nil {
			return err
		}
		_, err := db.NewInsert().
			Model(&author{Name: "Ada", Price: 3}).
			On("CONFLICT (name) DO UPDATE").
			Set("price = EXCLUDED.price").
			Exec(ctx)
		if err != nil {
			return err
		}
		var got []author
		err = db.NewSelect().
			Model(&got).
			Relation("Books", byTitle).
			Where("tags @> ?", pgdialect.Array([]string{"x"})).
			Scan(ctx)
		cases.Show(len(got), got[0].Price, got[0].Doc, len(got[0].Books))
		return err
	})
	changes(ctx, db)
}

func changes(ctx context.Context, db *bun.DB) {
	cases.Run("bulk update with a CTE", func() error {
		books := []book{{ID: 1, Title: "Eins"}, {ID: 2, Title: "Zwei"}}
		r, err := db.NewUpdate().
			With("_data", db.NewValues(&books)).
			Model((*book)(nil)).
			TableExpr("_data").
			Set("title = _data.title").
			Where("book.id = _data.id").
			Exec(ctx)
		if err != nil {
			return err
		}
		n, _ := r.RowsAffected()
		var titles []string
		err = db.NewSelect().Model((*book)(nil)).Column("title").Order("id").Scan(ctx, &titles)
		cases.Show(n, titles)
		return err
	})
	cases.Run("transaction", func() error {
		return db.RunInTx(
			ctx,
			&sql.TxOptions{Isolation: sql.LevelSerializable},
			func(ctx context.Context, tx bun.Tx) error {
				if _, err := tx.NewDelete().
					Model((*book)(nil)).
					Where("title = ?", "Zwei").
					Exec(ctx); err != nil {
					return err
				}
				_, err := tx.NewInsert().Model(&author{Name: "Ada"}).Exec(ctx)
				return err
			},
		)
	})
	cases.Run("migrations", func() error {
		m := migrate.NewMigrations()
		if err := m.Discover(fstest.MapFS{
			"20240101000000_m1.up.sql":   {Data: []byte("create table m1 (a int)")},
			"20240101000000_m1.down.sql": {Data: []byte("drop table m1")},
		}); err != nil {
			return err
		}
		g := migrate.NewMigrator(db, m)
		if err := g.Init(ctx); err != nil {
			return err
		}
		up, err := g.Migrate(ctx)
		if err != nil {
			return err
		}
		down, err := g.Rollback(ctx)
		cases.Show(len(up.Migrations), len(down.Migrations))
		return err
	})
}

func byTitle(q *bun.SelectQuery) *bun.SelectQuery { return q.Order("title") }
