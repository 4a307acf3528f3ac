package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/recipes"
)

const schema = `
CREATE TABLE IF NOT EXISTS stock (product text PRIMARY KEY, quantity int NOT NULL);
CREATE TABLE IF NOT EXISTS writers (writer int PRIMARY KEY, changes int NOT NULL)`

// work is the process that is killed: writers, and the observer that exports what they change.
func work(ctx context.Context, o options) (err error) {
	db, err := minidb.Open(filepath.Join(o.dir, "shop"),
		minidb.Logger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.Exec(ctx, schema); err != nil {
		return err
	}
	to, err := newReceiver(ctx, o.receiver)
	if err != nil {
		return err
	}
	export := recipes.Export[int]{
		Observer: minidb.Observer{Name: "export", Table: "stock", Workers: 16, Attempts: 2},
		Load: func(_ context.Context, _ *minidb.Tx, c minidb.Change) (quantity int, err error) {
			return quantity, c.Row.Get("quantity", &quantity)
		},
		Send: to.send}
	if err := export.Open(ctx, db); err != nil {
		return err
	}
	if err := writeAll(ctx, db, o); err != nil {
		return err
	}
	// The receiver has refused these. Their next change is sent with all that was before it.
	_, err = db.Exec(ctx, "UPDATE stock SET quantity = 0 WHERE quantity < 0")
	if err != nil {
		return err
	}
	if err := db.Settle(ctx, 0); err != nil {
		return err
	}
	fmt.Println("settled")
	return nil
}

func writeAll(ctx context.Context, db *minidb.DB, o options) error {
	errs := make([]error, o.writers)
	var wg sync.WaitGroup
	for w := range o.writers {
		wg.Go(func() { errs[w] = write(ctx, db, o, w) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// write makes the changes of one writer that are not made yet. Each says how many there are, in the
// same transaction.
func write(ctx context.Context, db *minidb.DB, o options, writer int) error {
	var made int
	err := db.QueryRow(ctx, "SELECT coalesce(max(changes), 0) FROM writers WHERE writer = $1",
		writer).Scan(&made)
	for ; err == nil && made < o.changes; made++ {
		err = db.Update(ctx, func(tx *minidb.Tx) error {
			if err := change(ctx, tx, o.products); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "INSERT INTO writers VALUES ($1, $2) "+
				"ON CONFLICT (writer) DO UPDATE SET changes = excluded.changes", writer, made+1)
			return err
		})
		if err == nil {
			fmt.Println("changed", writer, made+1)
		}
	}
	return err
}

// change sells or buys, or takes a product out of the stock.
func change(ctx context.Context, tx *minidb.Tx, products int) (err error) {
	product := fmt.Sprintf("product %d", rand.IntN(products))
	if rand.IntN(10) == 0 {
		_, err = tx.Exec(ctx, "DELETE FROM stock WHERE product = $1", product)
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO stock AS s VALUES ($1, $2) "+
		"ON CONFLICT (product) DO UPDATE SET quantity = s.quantity + excluded.quantity",
		product, rand.IntN(100)-40)
	return err
}
