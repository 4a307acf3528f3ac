package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

func dump(ctx context.Context, c *command, args []string) (err error) {
	fs := c.flags()
	data := fs.String("data", "", "data directory, which no server may have open")
	table := fs.String("table", "", "only the rows and index entries of this table")
	var o storeOptions
	o.flags(fs)
	if err := c.parseFlags(fs, args); err != nil {
		return err
	}
	if err := errors.Join(o.check(), exclusive(fs, "data", "store")); err != nil {
		return err
	}
	store, done, err := dumped(ctx, *data, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	tx, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback(ctx)) }()
	describer, err := catalog.NewDescriber(ctx, tx)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	found, err := dumpKeys(ctx, store, describer, w, *table)
	if err := errors.Join(err, w.Flush()); err != nil {
		return err
	}
	if *table != "" && !found {
		return fmt.Errorf("there is no table %q with rows", *table)
	}
	return nil
}

// dumpKeys prints each key of a table, or with "" each of the store, and reports whether there was
// one.
func dumpKeys(ctx context.Context, store *txn.Store, d *catalog.Describer, w io.Writer,
	table string) (found bool, err error) {
	snap, err := store.Engine().Snapshot()
	if err != nil {
		return false, err
	}
	err = mvcc.Keys(ctx, snap, kv.Span{}, func(key []byte, cells []mvcc.Cell) error {
		name := d.Key(key)
		if table == "" || ofTable(name, table) {
			found = true
			fmt.Fprintln(w, name)
			printLines(w, linesOf(key, cells, d))
		}
		return nil
	})
	return found, errors.Join(err, snap.Close())
}

// printLines prints a line per timestamp, with what each of Percolator's columns holds at it.
func printLines(w io.Writer, lines []*line) {
	var width [2]int
	for _, l := range lines {
		width[0] = max(width[0], columnWidth(l.data))
		width[1] = max(width[1], columnWidth(l.lock))
	}
	for _, l := range lines {
		fmt.Fprintf(w, "  %-22d data: %s  lock: %s  write: %s%s\n", uint64(l.ts),
			pad(l.data, width[0]), pad(l.lock, width[1]), l.write, l.notify)
	}
}

// widest bounds what a column is padded to: a longer value exceeds its column, and does not push
// the others of its key off the screen.
const widest = 60

func columnWidth(s string) int {
	if n := len([]rune(s)); n <= widest {
		return n
	}
	return 0
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-len([]rune(s)), 0))
}

// ofTable reports whether a described key belongs to the table: /table/16384 docs/….
func ofTable(name, table string) bool {
	name, isTable := strings.CutPrefix(name, "/table/")
	_, rest, _ := strings.Cut(name, " ")
	relation, _, _ := strings.Cut(rest, "/")
	return isTable && relation == table
}

// dumped opens what is to be printed: a directory as it is, or a store that others may have open.
func dumped(ctx context.Context, data string, o storeOptions) (*txn.Store, func() error, error) {
	if o.shared() {
		db, err := o.open("", minidb.MustExist(), minidb.GCInterval(-1), minidb.Logger(quiet()))
		if err != nil {
			return nil, nil, err
		}
		return db.Store(), db.Close, nil
	}
	dir := o.directory(data)
	if dir == "" {
		return nil, nil, usageError("--data or --store is missing")
	}
	engine, err := pebblekv.OpenUnchanged(dir, pebblekv.Options{})
	if errors.Is(err, kv.ErrInUse) {
		return nil, nil, fmt.Errorf("directory %s is in use by this or another process: %w", dir,
			err)
	}
	if err != nil {
		return nil, nil, err
	}
	store, err := txn.Open(ctx, engine, txn.Options{LeaveFoundLocks: true})
	if err != nil {
		return nil, nil, errors.Join(err, engine.Close())
	}
	return store, func() error { return errors.Join(store.Close(), engine.Close()) }, nil
}
