package minidb_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// pair is a key of the store with its value.
type pair struct{ key, value []byte }

// stored returns the rows of a table without generated keys, and the entries of its other indexes.
func stored(t *testing.T, db *minidb.DB, name string) (rows, entries []pair) {
	ctx := context.Background()
	id := scalar[int64](t, db, "SELECT '"+name+"'::regclass::oid::bigint")
	tx, err := db.Store().Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, it.Close()) }()
	for it.Next() {
		k, ok := table.DecodeKey(it.Key())
		if !ok || int64(k.Storage) != id {
			continue
		}
		p := pair{bytes.Clone(it.Key()), bytes.Clone(it.Value())}
		if k.Index == table.RowIndexID {
			rows = append(rows, p)
		} else {
			entries = append(entries, p)
		}
	}
	require.NoError(t, it.Err())
	return rows, entries
}

// damage writes keys without the entries that belong to them; one without a value is removed.
func damage(t *testing.T, db *minidb.DB, writes ...pair) {
	ctx := context.Background()
	tx, err := db.Store().Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for _, w := range writes {
		if w.value == nil {
			require.NoError(t, tx.Delete(w.key))
			continue
		}
		require.NoError(t, tx.Set(w.key, w.value))
	}
	require.NoError(t, tx.Commit(ctx))
}

// damagedIndexes are tables of two rows with one index, by kind.
var damagedIndexes = map[string]string{
	"gin of an array": "x (k int PRIMARY KEY, v int[]); CREATE INDEX x_i ON x USING gin (v); " +
		"INSERT INTO x VALUES (1, '{1,2}'), (2, '{2,3}')",
	"gin of jsonb": "x (k int PRIMARY KEY, v jsonb); CREATE INDEX x_i ON x USING gin (v); " +
		`INSERT INTO x VALUES (1, '{"a": 1}'), (2, '{"a": [2]}')`,
	"gin of paths": "x (k int PRIMARY KEY, v jsonb); CREATE INDEX x_i ON x USING gin (v " +
		`jsonb_path_ops); INSERT INTO x VALUES (1, '{"a": 1}'), (2, '{"a": [2]}')`,
	"gin of trigrams": "x (k int PRIMARY KEY, v text); CREATE INDEX x_i ON x USING gin (v " +
		"gin_trgm_ops); INSERT INTO x VALUES (1, 'one'), (2, 'two')",
	"partial": "x (k int PRIMARY KEY, v int); CREATE INDEX x_i ON x (v) WHERE k > 0; " +
		"INSERT INTO x VALUES (1, 1), (2, 2), (-1, 3)",
	"expression": "x (k int PRIMARY KEY, v text); CREATE UNIQUE INDEX x_i ON x (lower(v)); " +
		"INSERT INTO x VALUES (1, 'A'), (2, 'B')",
	"enum": "x (k int PRIMARY KEY, v hue); CREATE INDEX x_i ON x (v); " +
		"INSERT INTO x VALUES (1, 'red'), (2, 'blue')",
	"composite": "x (k int PRIMARY KEY, v spot); CREATE INDEX x_i ON x (v); " +
		"INSERT INTO x VALUES (1, '(1,red)'), (2, '(1,blue)')",
	"range": "x (k int PRIMARY KEY, v int4range); CREATE INDEX x_i ON x (v); " +
		"INSERT INTO x VALUES (1, '[1,2)'), (2, '[1,4)')",
	"exclusion": "x (k int PRIMARY KEY, v int4range, CONSTRAINT x_i EXCLUDE USING gist " +
		"(v WITH &&)); INSERT INTO x VALUES (1, '[1,2)'), (2, '[5,8)')",
	"deferrable": "x (k int PRIMARY KEY, v int, CONSTRAINT x_i UNIQUE (v) DEFERRABLE INITIALLY " +
		"DEFERRED); INSERT INTO x VALUES (1, 1), (2, 2)",
	"nulls not distinct": "x (k int PRIMARY KEY, v int UNIQUE NULLS NOT DISTINCT); ALTER INDEX " +
		"x_v_key RENAME TO x_i; INSERT INTO x VALUES (1, 1), (2, NULL)",
}

const damagedTypes = "CREATE EXTENSION pg_trgm; CREATE TYPE hue AS ENUM ('red', 'blue'); " +
	"CREATE TYPE spot AS (n int, h hue); "

// TestCheckNamesDamagedEntries takes an entry away, leaves one without its row, and changes a row
// behind its entries, in an index of each kind. What salvage copies has the entries of its rows.
func TestCheckNamesDamagedEntries(t *testing.T) {
	for kind, definition := range damagedIndexes {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			db, err := minidb.Open(dir, quiet)
			require.NoError(t, err)
			exec(t, db, damagedTypes+"CREATE TABLE "+definition)
			rows, entries := stored(t, db, "x")
			last := rows[len(rows)-1]
			for what, writes := range map[string][]pair{
				"has no entry":   {{key: entries[0].key}},
				"has no such":    {{key: last.key}},
				"another value":  {{key: entries[0].key, value: []byte("x")}},
				"row behind its": {{key: last.key, value: rows[len(rows)-2].value}},
			} {
				damage(t, db, writes...)
				problems := problemsOf(t, db)
				require.NotEmpty(t, problems, what)
				require.Contains(t, strings.Join(problems, "\n"), "index x_i", what)
				damage(t, db, append([]pair{last}, entries...)...)
				require.Empty(t, problemsOf(t, db), what)
			}
			damage(t, db, pair{key: entries[0].key}, pair{key: last.key})
			require.NoError(t, db.Close())
			db, lost := salvaged(t, dir)
			require.Empty(t, lost)
			require.Equal(t, int64(len(rows)-1), scalar[int64](t, db, "SELECT count(*) FROM x"))
		})
	}
}

func problemsOf(t *testing.T, db *minidb.DB) []string {
	problems, err := db.Check(context.Background())
	require.NoError(t, err)
	return problems
}

// TestRowsThatExcludeEachOther puts a row into a table beside one that excludes it, with its entry:
// check names both, and salvage copies the first.
func TestRowsThatExcludeEachOther(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE x (k int PRIMARY KEY, v int4range, CONSTRAINT x_i EXCLUDE USING "+
		"gist (v WITH &&)); INSERT INTO x VALUES (1, '[1,4)'), (2, '[5,8)'), (3, '[8,9)')")
	rows, entries := stored(t, db, "x")
	tail := func(row int) []byte { return rows[row].key[len(rows[row].key)-2:] }
	moved := append(bytes.TrimSuffix(bytes.Clone(entries[0].key), tail(0)), tail(1)...)
	require.NotEqual(t, entries[0].key, moved)
	damage(t, db, pair{rows[1].key, rows[0].value}, pair{key: entries[1].key},
		pair{moved, entries[0].value})
	problems := problemsOf(t, db)
	require.Equal(t, []string{"postgres.public.x: index x_i: rows (1, [1,4)) and (2, [1,4)) " +
		"exclude each other"}, problems)
	require.NoError(t, db.Close())
	db, lost := salvaged(t, dir)
	require.Equal(t, []string{"postgres.public.x: row (2, [1,4)) was not copied: another one " +
		"excludes it by the constraint x_i"}, lost)
	require.Equal(t, int64(2), scalar[int64](t, db, "SELECT count(*) FROM x"))
}
