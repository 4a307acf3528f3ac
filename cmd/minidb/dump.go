package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
	if err := c.parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usageError(fmt.Sprintf("unexpected argument %q", fs.Arg(0)))
	}
	if *data == "" {
		return usageError("--data is missing")
	}
	engine, err := pebblekv.OpenUnchanged(*data, pebblekv.Options{})
	if errors.Is(err, kv.ErrInUse) {
		return fmt.Errorf("directory %s is in use by this or another process: %w", *data, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	store, err := txn.Open(ctx, engine, txn.Options{LeaveFoundLocks: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	tx, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback(ctx)) }()
	describer, err := catalog.NewDescriber(ctx, tx)
	if err != nil {
		return err
	}
	rows, err := readCells(ctx, store)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	found := printCells(w, rows, describer, *table)
	if err := w.Flush(); err != nil {
		return err
	}
	if *table != "" && !found {
		return fmt.Errorf("there is no table %q with rows", *table)
	}
	return nil
}

// cells are the columns of one key: versions newest first, row locks strongest first.
type cells struct {
	key                         []byte
	data, lock, rowLocks, write []mvcc.Cell
	notify                      []mvcc.Cell
}

// readCells gathers every cell of the store by key, in the order of keys: the store keeps each
// column by itself.
func readCells(ctx context.Context, store *txn.Store) ([]*cells, error) {
	snap, err := store.Engine().Snapshot()
	if err != nil {
		return nil, err
	}
	byKey := map[string]*cells{}
	var order orderedKeys
	err = mvcc.Cells(ctx, snap, func(c mvcc.Cell) error {
		if c.Column == mvcc.ColumnMeta {
			return nil
		}
		row := byKey[string(c.Key)]
		if row == nil {
			row = &cells{key: c.Key}
			byKey[string(c.Key)] = row
			order = append(order, row)
		}
		switch c.Column {
		case mvcc.ColumnData:
			row.data = append(row.data, c)
		case mvcc.ColumnLock:
			row.lock = append(row.lock, c)
		case mvcc.ColumnRowLock:
			row.rowLocks = append(row.rowLocks, c)
		case mvcc.ColumnNotify:
			row.notify = append(row.notify, c)
		case mvcc.ColumnWrite:
			row.write = append(row.write, c)
		}
		return nil
	})
	order.sort()
	return order, errors.Join(err, snap.Close())
}

// printCells prints a block for each key: a line per timestamp, with what each of Percolator's
// columns holds at it. It reports whether there was any.
func printCells(w io.Writer, rows []*cells, d *catalog.Describer, table string) (found bool) {
	for _, r := range rows {
		name := d.Key(r.key)
		if table != "" && !strings.HasPrefix(name, "/table/") {
			continue
		}
		if table != "" && !ofTable(name, table) {
			continue
		}
		found = true
		fmt.Fprintln(w, name)
		lines := r.lines(d)
		var width [2]int
		for _, l := range lines {
			width[0], width[1] = max(width[0], columnWidth(l.data)), max(width[1],
				columnWidth(l.lock))
		}
		for _, l := range lines {
			fmt.Fprintf(w, "  %-22d data: %s  lock: %s  write: %s%s\n", uint64(l.ts),
				pad(l.data, width[0]), pad(l.lock, width[1]), l.write, l.notify)
		}
	}
	return found
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
	_, rest, _ := strings.Cut(strings.TrimPrefix(name, "/table/"), " ")
	relation, _, _ := strings.Cut(rest, "/")
	return relation == table
}
