package sql

import (
	"context"
	"strconv"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// materialised is a result that is in memory as a whole: of a cursor that may go backwards, or of
// one that outlives its transaction. at is its position: 0 is before the first row, len(rows)+1
// after the last.
type materialised struct {
	cols []physical.Column
	rows [][]types.Datum
	at   int
	out  *types.Batch

	account *memory.Account // counts bytes of rows
	bytes   int64
}

// grow counts n more bytes. limit bounds the bytes of the whole result; 0: no bound.
func (k *materialised) grow(n, limit int64) error {
	k.bytes += n
	if limit > 0 && k.bytes > limit {
		k.account.Owe(n)
		return sqlerr.New(sqlerr.OutOfMemory, "the rows of a cursor exceed the memory limit of "+
			"the statement").
			WithHint("Raise minidb.statement_memory, or declare the cursor NO SCROLL and WITHOUT " +
				"HOLD.")
	}
	return k.account.Grow(n)
}

// countIn makes another account count the rows.
func (k *materialised) countIn(a *memory.Account) {
	k.account.Move(k.bytes, a)
	k.account = a
}

func (k *materialised) columns() []physical.Column { return k.cols }

func (k *materialised) tag(n int64) string { return "SELECT " + strconv.FormatInt(n, 10) }

func (k *materialised) close() {
	k.account.Shrink(k.bytes)
	k.rows, k.bytes = nil, 0
}

func (k *materialised) next(context.Context) (*types.Batch, error) {
	n := min(len(k.rows)-k.at, types.BatchSize)
	if n <= 0 {
		k.at = len(k.rows) + 1
		return nil, nil
	}
	b := k.batch(k.rows[k.at : k.at+n])
	k.at += n
	return b, nil
}

func (k *materialised) batch(rows [][]types.Datum) *types.Batch {
	if k.out == nil {
		ts := make([]*types.Type, len(k.cols))
		for i := range k.cols {
			ts[i] = k.cols[i].Type
		}
		k.out = types.NewBatch(ts)
	}
	k.out.Reset()
	for _, r := range rows {
		k.out.AppendRow(r)
	}
	return k.out
}

// move goes to row number to and returns that row's batch, nil if there is none.
func (k *materialised) move(to int) *types.Batch {
	k.at = max(0, min(to, len(k.rows)+1))
	if k.at < 1 || k.at > len(k.rows) {
		return nil
	}
	return k.batch(k.rows[k.at-1 : k.at])
}

// add keeps the rows from..to of a batch.
func (k *materialised) add(b *types.Batch, from, to int, limit int64) error {
	had := len(k.rows)
	k.rows = appendRows(k.rows, b, from, to)
	n := int64(0)
	for _, row := range k.rows[had:] {
		n += types.RowSize(row)
	}
	return k.grow(n, limit)
}

// appendRows copies the rows from..to of a batch.
func appendRows(rows [][]types.Datum, b *types.Batch, from, to int) [][]types.Datum {
	for i := from; i < to; i++ {
		row := make([]types.Datum, len(b.Cols))
		for c, v := range b.Cols {
			row[c] = v.Get(b.Row(i))
		}
		rows = append(rows, row)
	}
	return rows
}

// forward moves n rows ahead and returns the rows passed.
func (k *materialised) forward(n int) [][]types.Datum {
	from := min(k.at, len(k.rows))
	to := min(from+n, len(k.rows))
	rows := k.rows[from:to]
	if k.at = to; len(rows) < n {
		k.at = len(k.rows) + 1
	}
	return rows
}

// backward moves n rows back and returns the rows passed, the nearest first.
func (k *materialised) backward(n int) [][]types.Datum {
	var rows [][]types.Datum
	for ; n > 0 && k.at > 0; n-- {
		if k.at--; k.at > 0 {
			rows = append(rows, k.rows[k.at-1])
		}
	}
	return rows
}
