package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/minidb/minidb"
)

// serve is the process that is killed: it owns the data directory, serves PostgreSQL's protocol on
// addr and writes documents through its embedded handle. Each document is announced on standard
// output once it is acknowledged. Its transactions, those of clients included, have the given
// isolation level.
func serve(ctx context.Context, dir, addr, level string, writers, first int) error {
	db, err := minidb.Open(dir, minidb.DefaultIsolation(level))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(ctx, schema); err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- db.Serve(l) }()
	fmt.Println("ready")
	var out sync.Mutex
	for w := range writers {
		go func() {
			name := fmt.Sprintf("embedded%d", w)
			for n := first; ctx.Err() == nil; n++ {
				d := newDocument(name, n)
				if err := store(ctx, &embedded{db: db}, d); err != nil {
					fmt.Fprintln(os.Stderr, name, err)
					return
				}
				out.Lock()
				fmt.Println("ack", d.url, d.body)
				out.Unlock()
			}
		}()
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return nil
	}
}

// embedded is a transaction on the embedded handle that accepts BEGIN, COMMIT and ROLLBACK.
type embedded struct {
	db *minidb.DB
	tx *minidb.Tx
}

func (e *embedded) Exec(ctx context.Context, sql string, args ...any) (err error) {
	switch sql {
	case "BEGIN":
		e.tx, err = e.db.Begin(ctx)
	case "COMMIT":
		err = e.tx.Commit(ctx)
	case "ROLLBACK":
		err = e.tx.Rollback(ctx)
	default:
		_, err = e.tx.Exec(ctx, sql, args...)
	}
	return err
}

func (e *embedded) Exists(ctx context.Context, sql string, args ...any) (bool, error) {
	rows, err := e.tx.Query(ctx, sql, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	found := rows.Next()
	return found, rows.Err()
}
