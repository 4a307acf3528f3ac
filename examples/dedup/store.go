package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
)

const schema = `
CREATE TABLE IF NOT EXISTS documents (
	url  text PRIMARY KEY,
	hash bytea NOT NULL,
	body text NOT NULL
);
CREATE INDEX IF NOT EXISTS documents_hash ON documents (hash);
CREATE TABLE IF NOT EXISTS canonical (
	hash bytea PRIMARY KEY,
	url  text NOT NULL UNIQUE
)`

// contents is how many different bodies there are: few, so that writers collide.
const contents = 40

type document struct {
	url, body string
	hash      []byte
}

// newDocument makes document number n of a writer. Its URL says both, so it is new in every life.
func newDocument(writer string, n int) document {
	body := fmt.Sprintf("content %d", rand.IntN(contents))
	sum := sha256.Sum256([]byte(body))
	return document{url: fmt.Sprintf("http://%s/%d", writer, n), body: body, hash: sum[:]}
}

// statements runs SQL on a connection, embedded or over the wire.
type statements interface {
	Exec(ctx context.Context, sql string, args ...any) error
	Exists(ctx context.Context, sql string, args ...any) (bool, error)
}

// store writes a document and, if its content is new, makes it the canonical one: one transaction,
// tried again when it collides with another writer's.
func store(ctx context.Context, db statements, d document) error {
	for {
		err := storeOnce(ctx, db, d)
		if !serializationFailure(err) {
			return err
		}
	}
}

func storeOnce(ctx context.Context, db statements, d document) (err error) {
	if err := db.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = db.Exec(ctx, "ROLLBACK")
		}
	}()
	// After a lost connection the same document comes again: it may be there already.
	err = db.Exec(ctx, "INSERT INTO documents (url, hash, body) VALUES ($1, $2, $3) ON CONFLICT "+
		"(url) DO NOTHING",
		d.url, d.hash, d.body)
	if err != nil {
		return err
	}
	known, err := db.Exists(ctx, "SELECT url FROM canonical WHERE hash = $1", d.hash)
	if err != nil {
		return err
	}
	if !known {
		if err := db.Exec(ctx, "INSERT INTO canonical (hash, url) VALUES ($1, $2)", d.hash,
			d.url); err != nil {
			return err
		}
	}
	return db.Exec(ctx, "COMMIT")
}

// serializationFailure reports whether the transaction lost against another one, in a conflict or a
// deadlock, and may be tried again. A unique violation is the same here: another transaction made
// the content canonical first.
func serializationFailure(err error) bool {
	var coded interface{ SQLState() string }
	if !errors.As(err, &coded) {
		return false
	}
	switch coded.SQLState() {
	case "40001", "40P01", "23505":
		return true
	}
	return false
}
