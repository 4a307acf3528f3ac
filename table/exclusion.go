package table

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// The index of an EXCLUDE constraint has ordinary entries that are not unique. Its key columns with
// the operator = come first, whatever the order in which the constraint names them, so that rows
// which can exclude each other are adjacent: they are a group.
//
//	EXCLUDE USING gist (during WITH &&, room WITH =)
//	't' 16384 3 {room, during}{id} →
//
// For most constraints a row need not be compared with all of its group:
//
//   - Rows of a group whose ranges (or networks) do not overlap are in the order of their ranges.
//     Of those that follow, the next one has the lowest lower bound, so if it does not overlap,
//     none does. Of those before, the last one has the highest upper bound, because they do not
//     overlap each other. So a row is compared with its two neighbours.
//   - Rows of a group in which all values of a column are equal (WITH <>) are compared with the
//     first and the last.
//
// This needs the rows that are there to exclude none of each other. Rows whose check is put off may
// exclude others that wait too, so from the first such row on every row of the transaction is
// checked again (KeyHook). Among the rows of then, if any two overlap, so do two neighbours, one of
// which is new and compared with the other.
type exclusion struct {
	group int   // key columns that form the group
	place []int // of each key column in Index.Columns
	shape exclusionShape
}

type exclusionShape uint8

const (
	compareAll        exclusionShape = iota // with each row of the group
	compareNeighbours                       // with the one before and the one behind
	compareEnds                             // with the first and the last
)

// exclusionOf puts the columns of a key into the order of the index, and says how it is searched.
func exclusionOf(ix *Index, key []keyColumn) (*exclusion, []keyColumn) {
	x := &exclusion{}
	for i := range ix.Columns {
		if ix.Columns[i].Operator == "=" {
			x.place = append(x.place, i)
		}
	}
	x.group = len(x.place)
	for i := range ix.Columns {
		if ix.Columns[i].Operator != "=" {
			x.place = append(x.place, i)
		}
	}
	out := make([]keyColumn, len(key))
	for i, p := range x.place {
		out[i] = key[p]
	}
	if len(key) == x.group+1 {
		switch op := ix.Columns[x.place[x.group]].Operator; {
		case op == "&&" && inOrder(out[x.group].typ):
			x.shape = compareNeighbours
		case op == "<>":
			x.shape = compareEnds
		}
	}
	return x, out
}

// ScalarInGist returns the first column of a gist index of an EXCLUDE constraint over whose type
// gist has no operators without the extension btree_gist, or nil.
func (d *Desc) ScalarInGist(ix *Index) *types.Type {
	if ix.Method != "gist" || !ix.Exclusion() {
		return nil
	}
	for i := range ix.Columns {
		t := d.PartType(d.Part(ix.Columns[i].ColumnID)).Base()
		if t.Family != types.Range && t.Family != types.MultiRange && ix.Columns[i].OpClass == "" {
			return t
		}
	}
	return nil
}

// inOrder reports whether values of a type that do not overlap have one order.
func inOrder(t *types.Type) bool {
	f := t.Base().Family
	return f == types.Range || f == types.Inet
}

// groupPrefix returns the beginning of the keys of an entry's group.
func (l *layout) groupPrefix(key []byte) ([]byte, error) {
	rest := key[len(l.prefix):]
	for i := range l.exclusion.group {
		var err error
		if rest, err = l.key[i].skip(rest); err != nil {
			return nil, err
		}
	}
	return key[:len(key)-len(rest)], nil
}

// keyValues reads the values of an entry's key, in the order of Index.Columns. null reports whether
// one of them is NULL: then the row excludes none.
func (l *layout) keyValues(key []byte) (values []types.Datum, null bool, err error) {
	values = make([]types.Datum, len(l.key))
	rest := key[len(l.prefix):]
	for i := range l.key {
		var v types.Datum
		if v, rest, err = l.key[i].read(rest); err != nil {
			return nil, false, err
		}
		values[l.exclusion.place[i]], null = v, null || v.Null
	}
	return values, null, nil
}

// excluder finds rows that exclude each other. It belongs to one goroutine.
type excluder struct {
	*entryMaker
}

// excludes reports whether the rows of two entries exclude each other.
func (x *excluder) excludes(ctx context.Context, a []types.Datum, key []byte) (bool, error) {
	b, null, err := x.keyValues(key)
	if null || err != nil {
		return false, err
	}
	if x.eval == nil || x.at < 0 {
		return false, errNoProgram
	}
	return x.eval.Excludes(ctx, x.at, a, b)
}

// entries are those that a transaction sees, or those at present.
type entries interface {
	Scan(ctx context.Context, span kv.Span, opts txn.ScanOptions) (*txn.Iterator, error)
}

// find returns the entry of a row that excludes the row of an entry; nil when there is none.
func (x *excluder) find(ctx context.Context, at entries, key, group []byte,
	values []types.Datum) ([]byte, error) {
	all := PrefixSpan(group)
	spans, reverse := []kv.Span{all}, []bool{false, true}
	switch x.exclusion.shape {
	case compareNeighbours:
		reverse = []bool{true, false}
		spans = []kv.Span{{Start: all.Start, End: key}, {Start: key, End: all.End}}
	case compareEnds:
		spans = []kv.Span{all, all}
	}
	for i, span := range spans {
		found, err := x.search(ctx, at, span, reverse[i], key, values)
		if found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// search compares a row with the rows of a span: with the first of them, unless it is compared with
// all.
func (x *excluder) search(ctx context.Context, at entries, span kv.Span, reverse bool,
	key []byte, values []types.Datum) (found []byte, err error) {
	it, err := at.Scan(ctx, span, txn.ScanOptions{Reverse: reverse, KeysOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	for it.Next() {
		if bytes.Equal(it.Key(), key) {
			continue
		}
		excluded, err := x.excludes(ctx, values, it.Key())
		if err != nil {
			return nil, err
		}
		if excluded {
			return bytes.Clone(it.Key()), nil
		}
		if x.exclusion.shape != compareAll {
			break
		}
	}
	return nil, it.Err()
}

// Excluded reports whether the row of an entry and one whose entry tx sees exclude each other. No
// two rows whose entries tx sees may do so.
func (b *EntryBuilder) Excluded(ctx context.Context, tx *txn.Txn, e Entry) (bool, error) {
	x := excluder{b.index}
	values, null, err := x.keyValues(e.Key)
	if null || err != nil {
		return false, err
	}
	group, err := x.groupPrefix(e.Key)
	if err != nil {
		return false, err
	}
	other, err := x.find(ctx, tx, e.Key, group, values)
	return other != nil, err
}

// Excluding calls report with pairs of rows of d that an EXCLUDE constraint forbids, by the entries
// of its index, until report returns an error.
func Excluding(ctx context.Context, tx *txn.Txn, d *Desc, ix *Index,
	report func(row, other []types.Datum) error) (err error) {
	l, err := layoutOf(d, ix)
	if err != nil {
		return err
	}
	it, err := tx.Scan(ctx, d.IndexSpan(ix.ID), txn.ScanOptions{KeysOnly: true})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	x := excluder{l.maker()}
	var before [][]byte // entries of the group
	for it.Next() {
		key := bytes.Clone(it.Key())
		values, null, err := l.keyValues(key)
		if err != nil {
			return err
		}
		if null {
			continue
		}
		group, err := l.groupPrefix(key)
		if err != nil {
			return err
		}
		if len(before) > 0 && !bytes.HasPrefix(before[0], group) {
			before = before[:0]
		}
		for _, other := range before {
			excluded, err := x.excludes(ctx, values, other)
			if err != nil {
				return err
			}
			if excluded {
				if err := x.reportPair(ctx, tx, key, other, report); err != nil {
					return err
				}
				break
			}
		}
		if l.exclusion.shape != compareAll {
			before = before[:0] // any two in conflict have neighbours in conflict between them
		}
		before = append(before, key)
	}
	return it.Err()
}

func (x *excluder) reportPair(ctx context.Context, tx *txn.Txn, key, other []byte,
	report func(row, other []types.Datum) error) error {
	var rows [2][]types.Datum
	for i, k := range [][]byte{key, other} {
		rowKey, err := x.rowKeyOf(k)
		if err != nil {
			return err
		}
		value, err := tx.Get(ctx, rowKey)
		if err != nil {
			return err
		}
		if value == nil {
			return fmt.Errorf("table %q: entry without row: %w", x.desc.Name, kv.ErrCorruption)
		}
		if rows[i], err = DecodeRow(x.desc, rowKey, value); err != nil {
			return err
		}
	}
	return report(rows[0], rows[1])
}

// rowKeyOf returns the whole key of the row of an entry.
func (l *layout) rowKeyOf(key []byte) ([]byte, error) {
	rowKey, _, err := l.splitEntry(key[len(l.prefix):], nil)
	if err != nil {
		return nil, err
	}
	return slices.Concat(l.desc.indexPrefix(RowIndexID), rowKey), nil
}
