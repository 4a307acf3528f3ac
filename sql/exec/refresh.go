package exec

import (
	"bytes"
	"context"
	"hash/maphash"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// refresh writes the difference between the rows that a materialized view has and those that its
// query gives now, as multisets. It reads both before it writes anything:
//
//	query: (1, x) (2, y) (3, z)      view: (1, x) (2, w) (4, v)
//	equal: (1, x)                    gone: (2, w) (4, v)          fresh: (2, y) (3, z)
//
// Two rows are equal if the store keeps the same bytes for them (table.Writer.Image): of SQL's
// equal values, such as 1.0 and 1.00, the view shows the one that its query gives. A gone row and a
// fresh one with the same unique key, here 2, are one row that is updated in its place, so that
// entries of indexes that are the same for both stay. The other gone rows are deleted before the
// other fresh ones are inserted: a key may go from row to row.
type refresh struct {
	modification
	old   operator
	given *rowStore        // the rows of the query
	first map[uint64]int32 // by hash of image: the first row that no row of the view equals so far
	next  []int32          // the next one with the same hash, or -1; taken
	gone  *rowStore        // the view's rows that the query does not give
	seed  maphash.Seed
	rowID int // ordinal of the hidden column
	row   []types.Datum
	other []types.Datum
	image []byte // of row
	same  []byte // of other
}

// taken marks a row of the query that a row of the view equals.
const taken = -2

// What an entry of first and next takes, and one of the map of keys without the key.
const (
	chainedBytes = 40
	keyBytes     = 48
)

func (r *run) buildRefresh(n *physical.Refresh) (operator, error) {
	m, err := r.newModification(n.Child, n.Table, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	f := &refresh{modification: *m, seed: maphash.MakeSeed(),
		rowID: n.Table.ColumnByID(n.Table.RowKey[0].ColumnID)}
	if f.old, err = r.build(n.Old); err != nil {
		return nil, err
	}
	ts := make([]*types.Type, len(n.Table.Columns))
	for i := range ts {
		ts[i] = n.Table.Columns[i].Type
	}
	f.given, f.gone = newRowStore(&r.mem, ts), newRowStore(&r.mem, ts)
	f.row, f.other = make([]types.Datum, len(ts)), make([]types.Datum, len(ts))
	f.before, r.modification = r.modification, &f.modification
	return f, nil
}

func (f *refresh) Open(ctx context.Context) error {
	f.first, f.next = map[uint64]int32{}, f.next[:0]
	f.given.reset()
	f.gone.reset()
	if err := f.old.Open(ctx); err != nil {
		return err
	}
	return f.modification.Open(ctx)
}

func (f *refresh) Close() error {
	f.given.free()
	f.gone.free()
	f.first, f.next = nil, nil
	err := f.old.Close()
	if cerr := f.modification.Close(); err == nil {
		err = cerr
	}
	return err
}

func (f *refresh) Next(ctx context.Context) (*types.Batch, error) {
	if f.done {
		return nil, nil
	}
	f.done = true
	if err := eachBatch(ctx, f.child, f.collect); err != nil {
		return nil, err
	}
	if err := eachBatch(ctx, f.old, f.compare); err != nil {
		return nil, err
	}
	return nil, f.write(ctx)
}

// collect keeps rows of the query.
func (f *refresh) collect(ctx context.Context, b *types.Batch) error {
	f.run.ctx = ctx
	if err := f.given.charge(int64(b.Rows()) * chainedBytes); err != nil {
		return err
	}
	for _, r := range selection(b) {
		readRow(b.Cols, int(r), f.row)
		hash, err := f.hash(f.row)
		if err != nil {
			return err
		}
		head, taken := f.first[hash]
		if !taken {
			head = -1
		}
		if err := f.unrepeated(head); err != nil {
			return err
		}
		f.first[hash] = int32(f.given.len)
		f.next = append(f.next, head)
		if err := f.given.addRow(f.row); err != nil {
			return err
		}
	}
	return nil
}

// hash sets f.image to that of a row, and returns its hash.
func (f *refresh) hash(row []types.Datum) (hash uint64, err error) {
	f.image, err = f.writer.Image(f.image[:0], row)
	return maphash.Bytes(f.seed, f.image), err
}

// equals reports whether f.image is that of row n of the query.
func (f *refresh) equals(n int32) (equal bool, err error) {
	readRow(f.given.cols, int(n), f.other)
	f.same, err = f.writer.Image(f.same[:0], f.other)
	return bytes.Equal(f.image, f.same), err
}

// unrepeated refuses f.row if it has no NULL and equals one of the rows that have its hash, from
// head on: a unique index could not distinguish such rows.
func (f *refresh) unrepeated(head int32) error {
	for i := range f.row {
		if f.row[i].Null && !f.desc.Columns[i].Hidden {
			return nil
		}
	}
	for n := head; n >= 0; n = f.next[n] {
		if equal, err := f.equals(n); err != nil {
			return err
		} else if equal {
			return sqlerr.New(sqlerr.CardinalityViolation, "new data for materialized view \"%s\" "+
				"contains duplicate rows without any null columns", f.desc.Name).
				WithDetail("Row: %s", f.record())
		}
	}
	return nil
}

// record is the text of f.row as a record.
func (f *refresh) record() []byte {
	a := &types.ArrayValue{}
	for i := range f.row {
		if c := &f.desc.Columns[i]; !c.Hidden {
			a.Elems, a.Types = append(a.Elems, f.row[i]), append(a.Types, c.Type)
		}
	}
	return types.AppendText(nil, types.TRecord, types.Datum{Arr: a}, &f.run.ev.Runtime.Format)
}

// compare takes the rows of the query that rows of the view equal out of the chains, one for each,
// and keeps the rows of the view that equal none.
func (f *refresh) compare(ctx context.Context, b *types.Batch) error {
	f.run.ctx = ctx
	for _, r := range selection(b) {
		readRow(b.Cols, int(r), f.row)
		found, err := f.take()
		if err == nil && !found {
			err = f.gone.addRow(f.row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take finds a row of the query that equals f.row, and takes it out of its chain.
func (f *refresh) take() (found bool, err error) {
	hash, err := f.hash(f.row)
	if err != nil {
		return false, err
	}
	n, ok := f.first[hash]
	if !ok {
		return false, nil
	}
	for before := int32(-1); n >= 0; before, n = n, f.next[n] {
		equal, err := f.equals(n)
		if err != nil {
			return false, err
		}
		if !equal {
			continue
		}
		if before < 0 {
			f.first[hash] = f.next[n]
		} else {
			f.next[before] = f.next[n]
		}
		f.next[n] = taken
		return true, nil
	}
	return false, nil
}

// write makes the view's rows those of the query.
func (f *refresh) write(ctx context.Context) error {
	updated, err := f.pairs(ctx)
	if err != nil {
		return err
	}
	// Of each row of the query the gone row that becomes it, or -1.
	place := make([]int32, f.given.len)
	for n := range place {
		place[n] = -1
	}
	for g, n := range updated {
		if n >= 0 {
			place[n] = int32(g)
			continue
		}
		readRow(f.gone.cols, g, f.row)
		f.changed.Deleted++
		if err := f.wrote(ctx, f.writer.Delete(ctx, f.run.env.Tx, f.row)); err != nil {
			return err
		}
	}
	if err := f.update(ctx, place); err != nil {
		return err
	}
	return f.insert(ctx, place)
}

// pairs returns, for each gone row, the row of the query that it becomes in its place, or -1. Both
// have the same keys in all unique indexes, so that no other row is in the way.
func (f *refresh) pairs(ctx context.Context) ([]int32, error) {
	byKey, err := f.goneByKey(ctx)
	if err != nil {
		return nil, err
	}
	updated := make([]int32, f.gone.len)
	for g := range updated {
		updated[g] = -1
	}
	var key []byte
	for n := range f.next {
		if n%types.BatchSize == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if f.next[n] == taken || len(byKey) == 0 {
			continue
		}
		readRow(f.given.cols, n, f.other)
		var unique bool
		if key, unique, err = f.writer.UniqueKey(key[:0], f.other); err != nil {
			return nil, err
		}
		g, found := byKey[string(key)]
		if !unique || !found {
			continue
		}
		delete(byKey, string(key))
		readRow(f.gone.cols, int(g), f.row)
		same, err := f.writer.SameUniqueKeys(ctx, f.row, f.other)
		if err != nil {
			return nil, err
		}
		if same {
			updated[g] = int32(n)
		}
	}
	return updated, nil
}

// goneByKey returns the gone rows by their unique keys, as far as they have one.
func (f *refresh) goneByKey(ctx context.Context) (map[string]int32, error) {
	byKey := map[string]int32{}
	var key []byte
	for g := range f.gone.len {
		if g%types.BatchSize == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		readRow(f.gone.cols, g, f.row)
		var unique bool
		var err error
		if key, unique, err = f.writer.UniqueKey(key[:0], f.row); err != nil {
			return nil, err
		}
		if !unique {
			continue
		}
		if err := f.run.mem.grow(int64(len(key)) + keyBytes); err != nil {
			return nil, err
		}
		byKey[string(key)] = int32(g)
	}
	return byKey, nil
}

// update writes the rows of the query that have a place.
func (f *refresh) update(ctx context.Context, place []int32) error {
	for n, g := range place {
		if g < 0 {
			continue
		}
		readRow(f.gone.cols, int(g), f.row)
		readRow(f.given.cols, n, f.other)
		f.other[f.rowID] = f.row[f.rowID]
		f.changed.Updated++
		err := f.writer.Update(ctx, f.run.env.Tx, f.row, f.other)
		if err := f.wrote(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// insert writes the rows of the query that no row of the view equals or becomes.
func (f *refresh) insert(ctx context.Context, place []int32) error {
	for n, g := range place {
		if g >= 0 || f.next[n] == taken {
			continue
		}
		readRow(f.given.cols, n, f.row)
		f.changed.Inserted++
		if err := f.wrote(ctx, f.writer.Insert(ctx, f.run.env.Tx, f.row)); err != nil {
			return err
		}
	}
	return nil
}

// wrote counts a row, unless err says that it could not be written.
func (f *refresh) wrote(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	f.modification.wrote()
	if f.modification.rows%types.BatchSize == 0 {
		return ctx.Err()
	}
	return nil
}
