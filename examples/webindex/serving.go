package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/recipes"
)

// entry is what the serving table says of a cluster.
type entry struct {
	canonical        string // "": there is no document with the text
	members, inlinks int64
	anchors          string // the most frequent ones
}

const topAnchors = 5

// loadEntry makes the entry of a cluster.
func loadEntry(ctx context.Context, tx *minidb.Tx, c minidb.Change) (e entry, err error) {
	var hash string
	var canonical *string
	if err := c.Row.Scan(&hash, &canonical, &e.members, &e.inlinks, nil); err != nil {
		return e, err
	}
	if canonical == nil {
		return e, nil
	}
	e.canonical = *canonical
	rows, err := tx.Query(ctx, `SELECT anchor, n FROM cluster_anchors WHERE hash = $1
		ORDER BY n DESC, anchor LIMIT $2`, hash, topAnchors)
	if err != nil {
		return e, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var anchor string
		var n int64
		if err := rows.Scan(&anchor, &n); err != nil {
			return e, err
		}
		all = append(all, fmt.Sprintf("%s (%d)", anchor, n))
	}
	e.anchors = strings.Join(all, ", ")
	return e, rows.Err()
}

// serving is a connection to the database that serves what was exported: a minidb or a PostgreSQL.
type serving struct {
	url  string
	conn *pgx.Conn
}

// The table keeps the number of a cluster that is gone: an entry that is sent again late is older.
const servingSchema = `CREATE TABLE IF NOT EXISTS entries (hash text PRIMARY KEY,
	seq bigint NOT NULL, canonical text, members bigint, inlinks bigint, anchors text)`

func newServing(ctx context.Context, url string) (*serving, error) {
	s := &serving{url: url}
	conn, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, servingSchema)
	return s, err
}

// connected returns the connection, a new one if the old one has failed.
func (s *serving) connected(ctx context.Context) (conn *pgx.Conn, err error) {
	if s.conn == nil || s.conn.IsClosed() {
		s.conn, err = pgx.Connect(ctx, s.url)
	}
	return s.conn, err
}

func (s *serving) close(ctx context.Context) error {
	if s.conn == nil {
		return nil
	}
	return s.conn.Close(ctx)
}

// send upserts entries, and drops those that the table has a newer state of.
func (s *serving) send(ctx context.Context, items []recipes.Item[entry]) error {
	n := len(items)
	hashes, seqs, canonical := make([]string, n), make([]int64, n), make([]*string, n)
	documents, inlinks, anchors := make([]int64, n), make([]int64, n), make([]string, n)
	for i := range items {
		v := &items[i].Value
		hashes[i], seqs[i] = items[i].Key[0].(string), items[i].Seq
		if v.canonical != "" {
			canonical[i] = &v.canonical
		}
		documents[i], inlinks[i], anchors[i] = v.members, v.inlinks, v.anchors
	}
	conn, err := s.connected(ctx)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `INSERT INTO entries AS e
		SELECT unnest($1::text[]), unnest($2::bigint[]),
			unnest($3::text[]), unnest($4::bigint[]), unnest($5::bigint[]), unnest($6::text[])
		ON CONFLICT (hash) DO UPDATE SET seq = excluded.seq, canonical = excluded.canonical,
			members = excluded.members, inlinks = excluded.inlinks, anchors = excluded.anchors
		WHERE e.seq < excluded.seq`, hashes, seqs, canonical, documents, inlinks, anchors)
	return err
}

// entries reads the table.
func (s *serving) entries(ctx context.Context) (all map[string]entry, err error) {
	conn, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx,
		`SELECT hash, canonical, members, inlinks, anchors
		FROM entries WHERE canonical IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all = map[string]entry{}
	for rows.Next() {
		var hash string
		var e entry
		err := rows.Scan(&hash, &e.canonical, &e.members, &e.inlinks, &e.anchors)
		if err != nil {
			return nil, errors.Join(err, rows.Err())
		}
		all[hash] = e
	}
	return all, rows.Err()
}
