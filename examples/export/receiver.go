package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/minidb/minidb/recipes"
)

// receiver is a connection to the database that the stock is exported to.
type receiver struct {
	url  string
	conn *pgx.Conn
}

// A product that is gone keeps its row, with a NULL: its number refuses what is sent late.
const receiverSchema = `CREATE TABLE IF NOT EXISTS exported_stock (product text PRIMARY KEY,
	seq bigint NOT NULL, quantity int CHECK (quantity >= 0))`

func newReceiver(ctx context.Context, url string) (*receiver, error) {
	r := &receiver{url: url}
	conn, err := r.connected(ctx)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, receiverSchema)
	return r, err
}

// connected returns the connection, a new one if the old one has failed.
func (r *receiver) connected(ctx context.Context) (conn *pgx.Conn, err error) {
	if r.conn == nil || r.conn.IsClosed() {
		r.conn, err = pgx.Connect(ctx, r.url)
	}
	return r.conn, err
}

// send upserts products, all or none, and drops those of which the table has a newer state.
func (r *receiver) send(ctx context.Context, items []recipes.Item[int]) error {
	products, seqs := make([]string, len(items)), make([]int64, len(items))
	quantities := make([]*int, len(items))
	for i := range items {
		products[i], seqs[i] = items[i].Key[0].(string), items[i].Seq
		if !items[i].Gone {
			quantities[i] = &items[i].Value
		}
	}
	conn, err := r.connected(ctx)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `INSERT INTO exported_stock AS s
		SELECT unnest($1::text[]), unnest($2::bigint[]), unnest($3::int[])
		ON CONFLICT (product) DO UPDATE SET seq = excluded.seq, quantity = excluded.quantity
		WHERE s.seq < excluded.seq`, products, seqs, quantities)
	return err
}

// stock reads the table.
func (r *receiver) stock(ctx context.Context) (map[string]int, error) {
	conn, err := r.connected(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx,
		"SELECT product, quantity FROM exported_stock WHERE quantity IS NOT NULL")
	if err != nil {
		return nil, err
	}
	stock := map[string]int{}
	var product string
	var quantity int
	_, err = pgx.ForEachRow(rows, []any{&product, &quantity}, func() error {
		stock[product] = quantity
		return nil
	})
	return stock, err
}
