package main

import (
	"context"
	"flag"
	"fmt"
	"net"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv/etcdkv"
)

// documentsSchema is documents and what is derived from them, each of it in another way:
//
//	documents ─┬─▶ clusters ─▶ sizes    observers in Go, in each gateway (runObserving)
//	           ├─▶ lengths              clients that take changes (crawl.take)
//	           └─▶ totals ─▶ counts     views that follow
//
// A change takes out of them what the document was, and puts in what it is: a change that is lost,
// or dealt with twice, makes numbers wrong for good.
const documentsSchema = `
CREATE TABLE IF NOT EXISTS documents (url int PRIMARY KEY, hash int NOT NULL, length int NOT NULL);
CREATE INDEX IF NOT EXISTS documents_hash ON documents (hash, url);
CREATE TABLE IF NOT EXISTS clusters (hash int PRIMARY KEY, members int NOT NULL,
	length int NOT NULL, canonical int);
CREATE TABLE IF NOT EXISTS sizes (members int PRIMARY KEY, n int NOT NULL);
CREATE TABLE IF NOT EXISTS lengths (length int PRIMARY KEY, n int NOT NULL);
CREATE MATERIALIZED VIEW IF NOT EXISTS totals WITH (incremental) AS
	SELECT hash, count(*) AS n, sum(length) AS length, max(url) AS newest
	FROM documents GROUP BY hash;
CREATE UNIQUE INDEX IF NOT EXISTS totals_hash ON totals (hash);
CREATE MATERIALIZED VIEW IF NOT EXISTS counts WITH (incremental) AS
	SELECT n, count(*) AS hashes FROM totals GROUP BY n;
SELECT minidb_create_observer('lengths', 'documents', 1, '{length}', true)`

// runObserving serves a store, as minidb serve does, and runs the observers in the same process, as
// a program does that embeds minidb.
func runObserving(args []string) error {
	flags := flag.NewFlagSet("observing", flag.ContinueOnError)
	listen, store := flags.String("listen", "", ""), flags.String("store", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	db, err := minidb.Open(*store, minidb.Engine("etcd", etcdkv.OpenURL))
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := db.Exec(ctx, documentsSchema); err != nil {
		return err
	}
	if err := db.Observe(ctx, minidb.Observer{Name: "sizes", Table: "clusters",
		Columns: []string{"members"}, Workers: 2}, sizeChanged); err != nil {
		return err
	}
	if err := db.Observe(ctx, minidb.Observer{Name: "clusters", Table: "documents", Workers: 4},
		documentChanged); err != nil {
		return err
	}
	fmt.Println("minidb is ready")
	return db.Serve(l)
}

// documentChanged moves a document from its old cluster into its new one.
func documentChanged(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
	return moved(c, func(image *minidb.Image, by int) error {
		var hash, length int
		if err := image.Get("hash", &hash); err != nil {
			return err
		}
		if err := image.Get("length", &length); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO clusters AS c VALUES ($1, $2, $3,
				(SELECT min(url) FROM documents WHERE hash = $1))
			ON CONFLICT (hash) DO UPDATE SET members = c.members + excluded.members,
				length = c.length + excluded.length, canonical = excluded.canonical`,
			hash, by, by*length); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "DELETE FROM clusters WHERE hash = $1 AND members = 0", hash)
		return err
	})
}

// sizeChanged counts a cluster by the number of its members.
func sizeChanged(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
	return moved(c, func(image *minidb.Image, by int) error {
		var members int
		if err := image.Get("members", &members); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO sizes AS s VALUES ($1, $2)
			ON CONFLICT (members) DO UPDATE SET n = s.n + excluded.n`, members, by)
		return err
	})
}

// moved calls f for the row as it was, with -1, and for the row as it is, with 1.
func moved(c minidb.Change, f func(image *minidb.Image, by int) error) error {
	if c.Before != nil {
		if err := f(c.Before, -1); err != nil {
			return err
		}
	}
	if c.Row == nil {
		return nil
	}
	return f(c.Row, 1)
}
