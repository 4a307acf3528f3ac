package table_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

const (
	ofAll table.ID = 70_001 // observes all columns
	ofA   table.ID = 70_002 // observes a
)

// observed is a table (id int primary key, a int, b text) with an observer of all columns and one
// of a.
func (d *db) observed() *table.Desc {
	return d.create(&table.Desc{
		Name: "t", NextColumnID: 4, NextIndexID: 3,
		Columns: []table.Column{
			{ID: 1, Name: "id", Type: types.TInt4, NotNull: true},
			{ID: 2, Name: "a", Type: types.TInt4},
			{ID: 3, Name: "b", Type: types.TText},
		},
		RowKey: []table.IndexColumn{{ColumnID: 1}},
		Indexes: []table.Index{
			{ID: table.RowIndexID, Name: "t_pkey", Unique: true, Primary: true,
				Columns: []table.IndexColumn{{ColumnID: 1}}},
			{ID: 2, Name: "t_b", Unique: true, Columns: []table.IndexColumn{{ColumnID: 3}}},
		},
		Observers: []table.Observer{
			{ID: ofAll, Name: "all"}, {ID: ofA, Name: "a", Columns: []table.ColumnID{2}}},
	})
}

func abRow(id, a int64, b string) []types.Datum {
	return []types.Datum{types.NewInt(id), types.NewInt(a), types.NewString(b)}
}

// notes lists the notifications on the rows of a table, by key and observer: "(1) all: (1,10,x)".
// Then it takes them away.
func (d *db) notes(desc *table.Desc) (out []string) {
	d.t.Helper()
	ctx := context.Background()
	dec, err := table.NewRowDecoder(desc)
	require.NoError(d.t, err)
	var keys [][]byte
	err = d.store.Notifications(ctx, desc.IndexSpan(table.RowIndexID),
		func(key []byte, n *txn.Notification) error {
			k, ok := table.DecodeKey(key)
			require.True(d.t, ok)
			require.True(d.t, n.Stamped())
			text := fmt.Sprintf("%s %s: ", table.DescribeKey(desc, k),
				desc.Observer(table.ID(n.Observer)).Name)
			if n.HasOld {
				row, err := dec.Decode(key, n.Old)
				require.NoError(d.t, err)
				text += table.FormatRow(desc, row)
			} else {
				text += "none"
			}
			out, keys = append(out, text), append(keys, append([]byte(nil), key...))
			return nil
		})
	require.NoError(d.t, err)
	now, err := d.store.Now(ctx)
	require.NoError(d.t, err)
	for _, key := range keys {
		for i := range desc.Observers {
			require.NoError(d.t,
				d.store.Acknowledge(ctx, key, uint32(desc.Observers[i].ID), now))
		}
	}
	return out
}

// settle reads all rows: that settles what two phases have left.
func (d *db) settle(desc *table.Desc) {
	d.t.Helper()
	d.must(func(tx *txn.Txn) error {
		it, err := tx.Scan(context.Background(), desc.Span(), txn.ScanOptions{})
		require.NoError(d.t, err)
		for it.Next() {
		}
		require.NoError(d.t, it.Err())
		return it.Close()
	})
}

func TestAWriterNotesWhatObserversObserve(t *testing.T) {
	ctx := context.Background()
	was := abRow(1, 10, "x")
	for _, c := range []struct {
		name  string
		write func(w *table.Writer, tx *txn.Txn) error
		want  []string
	}{
		{"insert",
			func(w *table.Writer, tx *txn.Txn) error {
				return w.Insert(ctx, tx, abRow(2, 20, "y"))
			},
			[]string{"(2) all: none", "(2) a: none"}},
		{"delete",
			func(w *table.Writer, tx *txn.Txn) error { return w.Delete(ctx, tx, was) },
			[]string{"(1) all: (1, 10, x)", "(1) a: (1, 10, x)"}},
		{"update of an observed column",
			func(w *table.Writer, tx *txn.Txn) error {
				return w.Update(ctx, tx, was, abRow(1, 11, "x"))
			},
			[]string{"(1) all: (1, 10, x)", "(1) a: (1, 10, x)"}},
		{"update of another column",
			func(w *table.Writer, tx *txn.Txn) error {
				return w.Update(ctx, tx, was, abRow(1, 10, "z"))
			},
			[]string{"(1) all: (1, 10, x)"}},
		{"update to NULL",
			func(w *table.Writer, tx *txn.Txn) error {
				return w.Update(ctx, tx, was, []types.Datum{was[0], types.Null, was[2]})
			},
			[]string{"(1) all: (1, 10, x)", "(1) a: (1, 10, x)"}},
		{"update that changes nothing",
			func(w *table.Writer, tx *txn.Txn) error { return w.Update(ctx, tx, was, was) }, nil},
		{"update of the primary key",
			func(w *table.Writer, tx *txn.Txn) error {
				return w.Update(ctx, tx, was, abRow(3, 10, "x"))
			},
			[]string{"(1) all: (1, 10, x)", "(1) a: (1, 10, x)", "(3) all: none", "(3) a: none"}},
		{"two updates keep the first image",
			func(w *table.Writer, tx *txn.Txn) error {
				if err := w.Update(ctx, tx, was, abRow(1, 11, "x")); err != nil {
					return err
				}
				return w.Update(ctx, tx, abRow(1, 11, "x"), abRow(1, 12, "x"))
			},
			[]string{"(1) all: (1, 10, x)", "(1) a: (1, 10, x)"}},
		{"delete and insert keep the image of the row that went",
			func(w *table.Writer, tx *txn.Txn) error {
				if err := w.Delete(ctx, tx, was); err != nil {
					return err
				}
				return w.Insert(ctx, tx, abRow(1, 13, "x"))
			},
			[]string{"(1) all: (1, 10, x)", "(1) a: (1, 10, x)"}},
		{"insert that violates a unique key",
			func(w *table.Writer, tx *txn.Txn) error {
				at := tx.Savepoint()
				require.Error(t, w.Insert(ctx, tx, abRow(1, 14, "y")))
				require.Error(t, w.Insert(ctx, tx, abRow(4, 14, "x")))
				tx.RollbackTo(at)
				return w.Update(ctx, tx, was, abRow(1, 15, "x"))
			},
			[]string{"(1) all: (1, 10, x)", "(1) a: (1, 10, x)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			variants(t, func(t *testing.T, d *db) {
				desc := d.observed()
				d.must(func(tx *txn.Txn) error {
					return table.NewWriter(desc, d.cat).Insert(ctx, tx, was)
				})
				d.settle(desc)
				require.Equal(t, []string{"(1) all: none", "(1) a: none"}, d.notes(desc))
				d.must(func(tx *txn.Txn) error {
					return c.write(table.NewWriter(desc, d.cat), tx)
				})
				d.settle(desc)
				require.Equal(t, c.want, d.notes(desc))
			})
		})
	}
}

// A row that its key holds in full has an empty value, which is not the same as no row.
func TestARowThatIsAllKeyHasAnOldImage(t *testing.T) {
	ctx := context.Background()
	d := memory(t)
	desc := d.create(&table.Desc{
		Name: "k", NextColumnID: 2, NextIndexID: 2,
		Columns: []table.Column{{ID: 1, Name: "id", Type: types.TInt4, NotNull: true}},
		RowKey:  []table.IndexColumn{{ColumnID: 1}},
		Indexes: []table.Index{{ID: table.RowIndexID, Name: "k_pkey", Unique: true, Primary: true,
			Columns: []table.IndexColumn{{ColumnID: 1}}}},
		Observers: []table.Observer{{ID: ofAll, Name: "all"}},
	})
	row := []types.Datum{types.NewInt(1)}
	d.must(func(tx *txn.Txn) error { return table.NewWriter(desc, d.cat).Insert(ctx, tx, row) })
	require.Equal(t, []string{"(1) all: none"}, d.notes(desc))
	d.must(func(tx *txn.Txn) error { return table.NewWriter(desc, d.cat).Delete(ctx, tx, row) })
	require.Equal(t, []string{"(1) all: (1)"}, d.notes(desc))
}

// Of a table without a primary key observers see the visible columns, under the row ID.
func TestAnObserverDoesNotSeeTheRowID(t *testing.T) {
	ctx := context.Background()
	d := memory(t)
	desc := d.create(&table.Desc{
		Name: "h", NextColumnID: 3, NextIndexID: 2,
		Columns: []table.Column{
			{ID: 2, Name: "v", Type: types.TText},
			{ID: 1, Name: "rowid", Type: types.TInt8, NotNull: true, Hidden: true},
		},
		RowKey:    []table.IndexColumn{{ColumnID: 1}},
		Observers: []table.Observer{{ID: ofAll, Name: "all"}},
	})
	row := []types.Datum{types.NewString("x"), types.Null}
	d.must(func(tx *txn.Txn) error { return table.NewWriter(desc, d.cat).Insert(ctx, tx, row) })
	require.Equal(t, []string{"(1) all: none"}, d.notes(desc))
	d.must(func(tx *txn.Txn) error { return table.NewWriter(desc, d.cat).Delete(ctx, tx, row) })
	require.Equal(t, []string{"(1) all: (x)"}, d.notes(desc))

	dec, err := table.NewRowDecoder(desc)
	require.NoError(t, err)
	require.Equal(t, []int{0}, dec.Columns())
	_, err = dec.Decode([]byte("t\x01\x01\x88"), nil)
	require.ErrorIs(t, err, kv.ErrCorruption)
	key := append(desc.IndexSpan(table.RowIndexID).Start, 2, 0x89)
	got, err := dec.Decode(key, nil)
	require.NoError(t, err)
	require.Equal(t, []types.Datum{types.Null}, got)
	_, err = dec.Decode(key, []byte{0xff})
	require.ErrorIs(t, err, kv.ErrCorruption)
}

// Values differ for an observer when they are not equal or do not print alike.
func TestWhatIsAChangeOfAValue(t *testing.T) {
	value := func(typ *types.Type, text string) types.Datum {
		f := types.DefaultFormat
		d, err := types.ParseText(typ, text, &f)
		require.NoError(t, err)
		return d
	}
	nan := func(bits uint64) types.Datum { return types.NewFloat(math.Float64frombits(bits)) }
	for _, c := range []struct {
		typ    *types.Type
		a, b   types.Datum
		change bool
	}{
		{types.TInt4, types.NewInt(1), types.NewInt(1), false},
		{types.TInt4, types.NewInt(1), types.NewInt(2), true},
		{types.TInt4, types.Null, types.Null, false},
		{types.TInt4, types.Null, types.NewInt(0), true},
		{types.TInt4, types.NewInt(0), types.Null, true},
		{types.TText, types.NewString(""), types.Null, true},
		{types.TText, types.NewString("a"), types.NewString("a "), true},
		{types.TNumeric, value(types.TNumeric, "1.0"), value(types.TNumeric, "1.00"), true},
		{types.TNumeric, value(types.TNumeric, "1.0"), value(types.TNumeric, "1.0"), false},
		{types.TNumeric, value(types.TNumeric, "1e3"), value(types.TNumeric, "1000"), false},
		{types.TNumeric, value(types.TNumeric, "NaN"), value(types.TNumeric, "NaN"), false},
		{types.TFloat8, types.NewFloat(0), types.NewFloat(math.Copysign(0, -1)), true},
		{types.TFloat8, types.NewFloat(0), types.NewFloat(0), false},
		{types.TFloat8, nan(0x7ff8000000000001), nan(0xfff8000000000002), false},
		{types.TFloat8, nan(0x7ff8000000000001), types.NewFloat(1), true},
		{types.TInterval, value(types.TInterval, "1 day"), value(types.TInterval, "24:00:00"),
			true},
		{types.TInterval, value(types.TInterval, "1 day"), value(types.TInterval, "1 day"), false},
		{types.TJSONB, value(types.TJSONB, `{"a": 1.0}`), value(types.TJSONB, `{"a": 1.00}`), true},
		{types.TJSONB, value(types.TJSONB, `{"a": 1}`), value(types.TJSONB, `{ "a" : 1 }`), false},
	} {
		d := &table.Desc{Columns: []table.Column{{ID: 1, Name: "v", Type: c.typ}}}
		o := &table.Observer{ID: ofAll}
		require.Equal(t, c.change, o.Changed(d, []types.Datum{c.a}, []types.Datum{c.b}),
			"%s: %+v %+v", c.typ, c.a, c.b)
		o.Columns = []table.ColumnID{2}
		require.False(t, o.Changed(d, []types.Datum{c.a}, []types.Datum{c.b}))
	}
}

func TestKeysOfAnObserver(t *testing.T) {
	d := memory(t).observed()
	row := append(d.IndexSpan(table.RowIndexID).Start, 2, 0x89)
	for i := range d.Observers {
		o := &d.Observers[i]
		target, span := d.Target(o), table.ObserverSpan(o.ID)
		require.EqualValues(t, o.ID, target.ID)
		require.Equal(t, d.IndexSpan(table.RowIndexID), target.Rows)
		require.Equal(t, table.PrefixSpan(target.State), span)
		for kind := table.ObserverAcknowledgement; kind <= table.ObserverImage; kind++ {
			of := row
			if kind == table.ObserverPlace || kind == table.ObserverWalk {
				of = []byte{0, 0, 0, 9}
			}
			if kind == table.ObserverBackfill {
				of = []byte{}
			}
			key := append(append(span.Start, byte(kind)), of...)
			require.True(t, span.Contains(key))
			id, gotKind, gotRow, ok := table.DecodeObserverKey(key)
			require.True(t, ok)
			require.Equal(t, []any{o.ID, kind, of}, []any{id, gotKind, gotRow})
		}
	}
	for _, key := range []string{"", "o", "o\x00\x00\x00\x01", "o\x00\x00\x00\x01\x00",
		"o\x00\x00\x00\x01\x03x", "o\x00\x00\x00\x01\x05x", "t\x00\x00\x00\x01\x01"} {
		_, _, _, ok := table.DecodeObserverKey([]byte(key))
		require.False(t, ok, "%q", key)
	}
}

// An old snapshot may write rows by a descriptor that has other observers (table.Reconstrained):
// the rows are the same.
func TestObserversDoNotChangeHowRowsAreWritten(t *testing.T) {
	d := memory(t).observed()
	next := d.Clone()
	next.Version++
	next.Observers[1].Columns[0] = 3
	require.Equal(t, []table.ColumnID{2}, d.Observers[1].Columns, "a clone of its own")
	require.True(t, table.Reconstrained(d, next))
	next.Observers = nil
	require.True(t, table.Reconstrained(d, next))
	require.Nil(t, next.Observer(ofA))
	require.Equal(t, "a", d.Observer(ofA).Name)
	require.Equal(t, ofAll, d.ObserverByName("all").ID)
}
