package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// keysNamed returns the keys of the store whose description contains part.
func keysNamed(t *testing.T, store *txn.Store, part string) [][]byte {
	t.Helper()
	ctx := context.Background()
	tx, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	d, err := catalog.NewDescriber(ctx, tx)
	require.NoError(t, err)
	it, err := tx.Scan(ctx, kv.Span{Start: []byte{0}, End: []byte{0xff}}, txn.ScanOptions{})
	require.NoError(t, err)
	var out [][]byte
	for it.Next() {
		if strings.Contains(d.Key(it.Key()), part) {
			out = append(out, bytes.Clone(it.Key()))
		}
	}
	require.NoError(t, it.Err())
	require.NoError(t, it.Close())
	return out
}

func documents(t *testing.T, dir string) {
	t.Helper()
	db, err := minidb.Open(dir)
	require.NoError(t, err)
	_, err = db.Exec(context.Background(), "CREATE TABLE docs(id int PRIMARY KEY, url text "+
		"UNIQUE); INSERT INTO docs VALUES (1, 'a'), (2, 'b')")
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// below opens the transaction layer of a directory without anything above it.
func below(t *testing.T, dir string, o txn.Options, f func(ctx context.Context, s *txn.Store)) {
	t.Helper()
	ctx := context.Background()
	engine, err := pebblekv.Open(dir, pebblekv.Options{})
	require.NoError(t, err)
	o.Logger = slog.New(slog.DiscardHandler)
	store, err := txn.Open(ctx, engine, o)
	require.NoError(t, err)
	f(ctx, store)
	require.NoError(t, store.Close())
	require.NoError(t, engine.Close())
}

func TestCheckFindsALostAndAStrayIndexEntry(t *testing.T) {
	for _, lost := range []string{"docs_url_key/(a)", "row/(1)"} {
		dir := t.TempDir()
		documents(t, dir)
		below(t, dir, txn.Options{}, func(ctx context.Context, s *txn.Store) {
			keys := keysNamed(t, s, lost)
			require.Len(t, keys, 1)
			tx, err := s.Begin(ctx, txn.BeginOptions{})
			require.NoError(t, err)
			require.NoError(t, tx.Delete(keys[0]))
			require.NoError(t, tx.Commit(ctx))
		})
		code, out, _ := runCommand(t, "check", "--data", dir)
		require.Equal(t, 1, code, lost)
		require.Contains(t, out, "docs_url_key")
		require.Contains(t, out, "1 problem")
	}
}

// TestDumpShowsRowLocks that a shared store has in the cells of a row: of the holder, and of the
// transactions in the queue.
func TestDumpShowsRowLocks(t *testing.T) {
	dir := t.TempDir()
	documents(t, dir)
	below(t, dir, txn.Options{}, func(ctx context.Context, s *txn.Store) {
		key := keysNamed(t, s, "docs/row/(1)")[0]
		row := mvcc.Row(key)
		require.NoError(t, s.Engine().Update(ctx, [][]byte{row},
			func(r kv.Reader, b *kv.Batch) error {
				h := mvcc.RowHolder{StartTS: 7, Owner: 5, Mode: rowlock.KeyShare, Client: 12}
				mvcc.QueueRow(b, row,
					mvcc.RowHolder{StartTS: 8, Owner: 6, Mode: rowlock.Update, Place: 9})
				_, err := mvcc.LockRow(ctx, r, b, key,
					mvcc.RowRequest{RowHolder: h, Since: tso.Max})
				return err
			}))
	})
	code, out, errOut := runCommand(t, "dump", "--data", dir, "--table", "docs")
	require.Zero(t, code, errOut)
	require.Regexp(t, `\n  7 .*lock: row lock, key share, session 5, process 12 `, out)
	require.Regexp(t, `\n  8 .*lock: queues since 9 for row lock, update, session 6 `, out)
}

func TestDumpShowsTheLocksOfADeadCoordinator(t *testing.T) {
	dir := t.TempDir()
	documents(t, dir)
	below(t, dir, txn.Options{Protocol: txn.TwoPhase,
		CrashPoint: func(p txn.CrashPoint) bool { return p == txn.AfterPrewrite }},
		func(ctx context.Context, s *txn.Store) {
			tx, err := s.Begin(ctx, txn.BeginOptions{})
			require.NoError(t, err)
			tx.SetStatement(ctx, "DELETE FROM docs")
			tx.SetLocking(txn.Locking{Owner: s.RowLocks().NewOwner(7)})
			for _, key := range append(keysNamed(t, s, "docs/row/(1)"),
				keysNamed(t, s, "docs_url_key/(a)")...) {
				require.NoError(t, tx.Delete(key))
			}
			require.Error(t, tx.Commit(ctx))
		})
	code, out, errOut := runCommand(t, "dump", "--data", dir, "--table", "docs")
	require.Zero(t, code, errOut)
	require.Regexp(t, `lock: primary, session \d+, process 7, for "DELETE FROM docs" `, out)
	require.Regexp(t, `lock: primary@/table/\d+ docs/[^,]*, session \d+ `, out)
}

// TestDumpChangesNothing: a dump reads what is in the log too, and leaves every file as it is.
func TestDumpChangesNothing(t *testing.T) {
	dir := t.TempDir()
	documents(t, dir)
	files := func() map[string]string {
		out := map[string]string{}
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			out[path] = fmt.Sprintf("%x", sha256.Sum256(b))
			return err
		}))
		return out
	}
	before := files()
	code, out, _ := runCommand(t, "dump", "--data", dir, "--table", "docs")
	require.Zero(t, code)
	require.Contains(t, out, "docs_url_key/(a)")
	require.Equal(t, before, files())
}
