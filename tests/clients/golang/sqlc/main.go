// Command sqlc uses code that sqlc generated from schema.sql and queries.sql for pgx.
package main

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/minidb/minidb/tests/clients/golang/cases"
	"github.com/minidb/minidb/tests/clients/golang/sqlc/docs"
)

//go:embed schema.sql
var schema string

func main() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, cases.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(ctx)
	q := docs.New(conn)
	cases.Run("schema", func() error {
		_, err := conn.Exec(ctx, schema)
		return err
	})
	cases.Run("create", func() error {
		var price pgtype.Numeric
		if err := price.Scan("2.50"); err != nil {
			return err
		}
		d, err := q.Create(
			ctx,
			docs.CreateParams{Url: "a", Hash: []byte{1}, Status: docs.StatusLive,
				Tags: []string{"x"}, Meta: []byte(`{"k": 1}`), Price: price},
		)
		d.Made = pgtype.Timestamptz{}
		cases.Show(d)
		return err
	})
	cases.Run("load", func() error {
		n, err := q.Load(
			ctx,
			[]docs.LoadParams{
				{Url: "b", Hash: []byte{1}, Status: docs.StatusDraft, Tags: []string{}},
				{Url: "c", Hash: []byte{2}, Status: docs.StatusDraft, Tags: []string{"y"}},
			},
		)
		cases.Show(n)
		return err
	})
	cases.Run("queries", func() error {
		all, err := q.ByHash(ctx, []byte{1})
		cases.Show(all, err)
		found, err := q.Search(ctx, docs.SearchParams{Urls: []string{"a", "b", "c"}, N: 2})
		cases.Show(found, err)
		found, err = q.Search(ctx, docs.SearchParams{Urls: []string{"a", "b"}, N: 9,
			Status: docs.NullStatus{Status: docs.StatusDraft, Valid: true}})
		cases.Show(found, err)
		return err
	})
	cases.Run("publish and count", func() error {
		var price pgtype.Numeric
		if err := price.Scan("1.25"); err != nil {
			return err
		}
		n, err := q.Publish(ctx, docs.PublishParams{ID: 2, Price: price})
		cases.Show(n, err)
		counts, err := q.CountByStatus(ctx)
		cases.Show(counts)
		return err
	})
	cases.Run("in a transaction", func() error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			_, err := q.WithTx(tx).
				Create(ctx, docs.CreateParams{Url: "a", Hash: []byte{1}, Status: "nope"})
			return err
		})
	})
}
