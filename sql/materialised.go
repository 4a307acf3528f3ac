package sql

import (
	"context"
	"strconv"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table/types"
)

// materialised is a result that is kept as a whole: of a cursor that may go backwards, or of one
// that outlives its transaction. at is its position: 0 is before the first row, the number of rows
// plus one after the last.
type materialised struct {
	cols []physical.Column
	rows *exec.Kept
	at   int
	out  *types.Batch
	row  []types.Datum
}

// newMaterialised returns an empty result with columns cols.
func (s *client) newMaterialised(cols []physical.Column) *materialised {
	d := s.settings.Derived()
	env := &exec.Env{Memory: s.memory, MemoryLimit: d.StatementMemory, Spill: s.engine.opts.Spill,
		Database: s.databaseID, WorkMemory: d.WorkMemory, TempLimit: d.TempFileLimit}
	return &materialised{cols: cols, rows: env.NewKept()}
}

func (k *materialised) columns() []physical.Column { return k.cols }

func (k *materialised) tag(n int64) string { return "SELECT " + strconv.FormatInt(n, 10) }

// close gives the rows up. Whether their file was closed well does not matter: it has no name.
func (k *materialised) close() { _ = k.rows.Close() }

func (k *materialised) len() int { return k.rows.Len() }

func (k *materialised) next(context.Context) (*types.Batch, error) {
	n := min(k.len()-k.at, types.BatchSize)
	if n <= 0 {
		k.at = k.len() + 1
		return nil, nil
	}
	b, err := k.read(k.cols, passed{k.at, n, 1})
	k.at += n
	return b, err
}

// passed are rows that a FETCH moves over, in the order in which it does: first, first+step, ….
type passed struct{ first, count, step int }

// read returns rows, with the first columns, which are cols. The batch is valid until the next
// call.
func (k *materialised) read(cols []physical.Column, rows passed) (*types.Batch, error) {
	if k.out == nil {
		ts := make([]*types.Type, len(cols))
		for i := range cols {
			ts[i] = cols[i].Type
		}
		k.out = types.NewBatch(ts)
	}
	k.out.Reset()
	for n := range rows.count {
		var err error
		if k.row, err = k.rows.Row(rows.first+n*rows.step, k.row[:0]); err != nil {
			return nil, err
		}
		k.out.AppendRow(k.row)
	}
	return k.out, nil
}

// move goes to row number to and returns it, if there is one.
func (k *materialised) move(to int) passed {
	k.at = max(0, min(to, k.len()+1))
	if k.at < 1 || k.at > k.len() {
		return passed{}
	}
	return passed{k.at - 1, 1, 1}
}

// add keeps the rows from..to of a batch.
func (k *materialised) add(ctx context.Context, b *types.Batch, from, to int) error {
	return k.rows.Add(ctx, b, from, to)
}

// forward moves n rows ahead and returns the rows passed.
func (k *materialised) forward(n int) passed {
	from := min(k.at, k.len())
	to := min(from+n, k.len())
	if k.at = to; to-from < n {
		k.at = k.len() + 1
	}
	return passed{from, to - from, 1}
}

// backward moves n rows back and returns the rows passed, the nearest first.
func (k *materialised) backward(n int) passed {
	first := k.at - 2
	k.at = max(k.at-n, 0)
	return passed{first, first - max(k.at-1, 0) + 1, -1}
}

// keptSource gives rows of a cursor that are kept: FETCH. The first batch is read before the
// cursor can change.
type keptSource struct {
	k    *materialised
	cols []physical.Column
	rows passed
	read *types.Batch
}

func newKeptSource(k *materialised, cols []physical.Column, rows passed) (*keptSource, error) {
	f := &keptSource{k: &materialised{cols: cols, rows: k.rows}, cols: cols, rows: rows}
	var err error
	f.read, err = f.more()
	return f, err
}

func (f *keptSource) columns() []physical.Column { return f.cols }
func (f *keptSource) close()                     {}

func (f *keptSource) tag(n int64) string { return "FETCH " + strconv.FormatInt(n, 10) }

func (f *keptSource) next(ctx context.Context) (*types.Batch, error) {
	if b := f.read; b != nil {
		f.read = nil
		return b, ctx.Err()
	}
	b, err := f.more()
	if err != nil {
		return nil, err
	}
	return b, ctx.Err()
}

// more reads the next rows; nil at the end, and after the cursor was closed.
func (f *keptSource) more() (*types.Batch, error) {
	part := f.rows
	part.count = min(part.count, types.BatchSize)
	if part.count <= 0 || f.k.len() == 0 {
		return nil, nil
	}
	f.rows.first += part.count * part.step
	f.rows.count -= part.count
	return f.k.read(f.cols, part)
}
