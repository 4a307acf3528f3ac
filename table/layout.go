package table

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// layout says how the rows of a table, or the entries of one of its indexes, become keys and
// values.
type layout struct {
	desc   *Desc
	index  *Index // nil: the rows
	at     int    // of the index in desc.Indexes, or -1
	prefix []byte
	key    []keyColumn
	// gin, for a GIN index, has the operator classes of key's columns: an entry has one key that
	// a column's value contains, and the values themselves are not in it.
	gin []*gin.Column
	// exclusion is set for the index of an EXCLUDE constraint.
	exclusion *exclusion
	unique    bool
	// deferrable: several rows may have the same key for some time (deferred.go).
	deferrable bool
	// nullsNotDistinct: NULLs count as equal, so that every key is unique on its own.
	nullsNotDistinct bool
	// row is the row key's columns; entries carry them in their key or value.
	row []keyColumn
	// stored are the ordinals of the columns in the value, ascending by column ID.
	stored []int
	// point is the decoder of the last point read.
	point atomic.Pointer[pointDecoder]
}

// keyColumn is a column as part of a key.
type keyColumn struct {
	ordinal          int
	typ              *types.Type
	desc, nullsFirst bool
	// exact: the key gives back the very value that went in. A numeric's scale, for one, is not
	// part of its order, so 1.0 and 1.00 have one encoding.
	exact bool
}

func (c *keyColumn) append(dst []byte, d types.Datum) ([]byte, error) {
	return codec.AppendKey(dst, c.typ, d, c.desc, c.nullsFirst)
}

func (c *keyColumn) read(b []byte) (types.Datum, []byte, error) {
	return codec.ReadKey(b, c.typ, c.desc, c.nullsFirst)
}

func (c *keyColumn) skip(b []byte) ([]byte, error) {
	return codec.SkipKey(b, c.typ, c.desc, c.nullsFirst)
}

// prepared holds the layouts of a descriptor. It names its owner because a Desc copied by value
// drags the pointer along.
type prepared struct {
	owner   *Desc
	row     *types.Type // of the rows as values; nil: the relation has none
	rows    *layout
	indexes []*layout // parallel to Desc.Indexes; the primary key's may be the rows'
	program RowProgram
}

// Prepare works out the encodings of a descriptor that is complete and about to be shared. p
// computes the expressions and predicates of its indexes; it may be nil if there are none, or if
// no entries will be made.
func (d *Desc) Prepare(program RowProgram) error {
	p, err := d.prepare()
	if err != nil {
		return err
	}
	p.program = program
	d.prepared = p
	for _, s := range d.States() {
		if err := s.Prepare(nil); err != nil {
			return err
		}
	}
	return nil
}

func (d *Desc) prepare() (*prepared, error) {
	p := &prepared{owner: d, row: d.rowType()}
	if !d.HasRows() {
		return p, nil
	}
	rows := &layout{desc: d, prefix: d.indexPrefix(RowIndexID), unique: true}
	var err error
	if rows.key, err = keyColumns(d, d.RowKey); err != nil {
		return nil, err
	}
	for i := range d.Columns {
		k := slices.IndexFunc(rows.key, func(c keyColumn) bool { return c.ordinal == i })
		if k < 0 || !rows.key[k].exact {
			rows.stored = append(rows.stored, i)
		}
	}
	rows.sortStored()
	p.rows = rows
	for i := range d.Indexes {
		l := rows
		if d.Indexes[i].ID != RowIndexID {
			if l, err = indexLayout(d, &d.Indexes[i], rows); err != nil {
				return nil, err
			}
			l.at = i
		}
		p.indexes = append(p.indexes, l)
	}
	return p, nil
}

func indexLayout(d *Desc, ix *Index, rows *layout) (*layout, error) {
	l := &layout{
		desc: d, index: ix, prefix: d.indexPrefix(ix.ID), unique: ix.Unique,
		nullsNotDistinct: ix.NullsNotDistinct, deferrable: ix.Deferrable, row: rows.key, at: -1,
	}
	var err error
	if l.key, err = keyColumns(d, ix.Columns); err != nil {
		return nil, err
	}
	if ix.GIN() {
		l.gin, err = ginColumns(d, ix, l.key)
		return l, err
	}
	if ix.Exclusion() {
		l.exclusion, l.key = exclusionOf(ix, l.key)
	}
	for _, c := range l.key {
		if !c.exact && !slices.Contains(l.stored, c.ordinal) {
			l.stored = append(l.stored, c.ordinal)
		}
	}
	for _, id := range ix.Include {
		i := d.ColumnByID(id)
		if i < 0 {
			return nil, fmt.Errorf("table %q: index %q includes an unknown column: %w", d.Name,
				ix.Name, kv.ErrCorruption)
		}
		if !slices.Contains(l.stored, i) {
			l.stored = append(l.stored, i)
		}
	}
	l.sortStored()
	return l, nil
}

func (l *layout) sortStored() {
	slices.SortFunc(l.stored, func(a, b int) int { return int(l.id(a)) - int(l.id(b)) })
}

// id returns the ID of the column or expression with an ordinal.
func (l *layout) id(o int) ColumnID {
	if e := l.desc.Expr(o); e != nil {
		return e.ID
	}
	return l.desc.Columns[o].ID
}

// name returns the column or expression with an ordinal as details of errors name it.
func (l *layout) name(o int) string {
	if e := l.desc.Expr(o); e != nil {
		return e.Text
	}
	return sqlname.Quote(l.desc.Columns[o].Name)
}

// computes reports whether a part of the key is an expression.
func (l *layout) computes() bool {
	return slices.ContainsFunc(l.key,
		func(c keyColumn) bool { return l.desc.Expr(c.ordinal) != nil })
}

// partial reports whether some rows have no entry.
func (l *layout) partial() bool { return l.index != nil && l.index.WhereText != "" }

func keyColumns(d *Desc, cols []IndexColumn) ([]keyColumn, error) {
	out := make([]keyColumn, len(cols))
	for i, c := range cols {
		o := d.Part(c.ColumnID)
		if o < 0 {
			return nil, fmt.Errorf("table %q: a key names an unknown column: %w", d.Name,
				kv.ErrCorruption)
		}
		t := d.PartType(o)
		out[i] = keyColumn{ordinal: o, typ: t, desc: c.Desc, nullsFirst: c.NullsFirst,
			exact: codec.KeyExact(t)}
	}
	return out, nil
}

// layouts returns the encodings of d, which need not be prepared.
func (d *Desc) layouts() (*prepared, error) {
	if p := d.prepared; p != nil && p.owner == d {
		return p, nil
	}
	return d.prepare()
}

// layoutOf returns the layout of an index, or with nil of the rows.
func layoutOf(d *Desc, ix *Index) (*layout, error) {
	p, err := d.layouts()
	if err != nil {
		return nil, err
	}
	if ix == nil || ix.ID == RowIndexID {
		if p.rows == nil {
			return nil, fmt.Errorf("relation %q has no rows of its own", d.Name)
		}
		return p.rows, nil
	}
	for i := range d.Indexes {
		if d.Indexes[i].ID == ix.ID {
			return p.indexes[i], nil
		}
	}
	// An index in the making is not in its table's descriptor yet. It cannot compute anything.
	return indexLayout(d, ix, p.rows)
}

// single reports whether at most one row has a key that is not NULL, at any moment.
func (l *layout) single() bool { return l.unique && !l.deferrable }

// appendKey appends the key columns of row. null reports whether one of them is NULL.
func (l *layout) appendKey(dst []byte, row []types.Datum) (key []byte, null bool, err error) {
	for i := range l.key {
		c := &l.key[i]
		d := row[c.ordinal]
		null = null || d.Null
		if dst, err = c.append(dst, d); err != nil {
			return nil, false, err
		}
	}
	return dst, null, nil
}

// rowKey appends the whole key of a row.
func (l *layout) rowKey(dst []byte, row []types.Datum) ([]byte, error) {
	key, _, err := l.appendKey(append(dst, l.prefix...), row)
	return key, err
}

// rowValue appends the value of a row.
func (l *layout) rowValue(dst []byte, row []types.Datum) ([]byte, error) {
	var err error
	for _, o := range l.stored {
		t := l.desc.PartType(o)
		if dst, err = codec.AppendColumn(dst, uint32(l.id(o)), t, row[o]); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// entry is an index entry in the making. Its slices are reused for the next one.
type entry struct {
	key, value []byte
	// unique: no other row may have this key.
	unique bool
}

// entry fills e with the index entry of row, whose row key without prefix is rowKey. row has the
// expressions of the index behind its columns.
//
// An entry that is unique on its own has the row key in its value; all others have it at the end of
// their key, so that equal values are adjacent.
func (l *layout) entry(e *entry, row []types.Datum, rowKey []byte) error {
	key, null, err := l.appendKey(append(e.key[:0], l.prefix...), row)
	if err != nil {
		return err
	}
	e.unique = l.unique && (!null || l.nullsNotDistinct)
	e.value = e.value[:0]
	if e.unique {
		e.value = binary.AppendUvarint(e.value, uint64(len(rowKey)))
		e.value = append(e.value, rowKey...)
	} else {
		key = append(key, rowKey...)
	}
	e.key = key
	if len(l.stored) > 0 {
		e.value, err = l.rowValue(e.value, row)
	}
	return err
}

// splitEntry finds the row key of an entry, and the part of its value that holds columns. rest is
// the entry's key after the prefix.
func (l *layout) splitEntry(rest, value []byte) (rowKey, columns []byte, err error) {
	if l.gin != nil {
		if rest, err = gin.Skip(l.gin, rest); err != nil {
			return nil, nil, err
		}
		return l.splitAfterKey(rest, value)
	}
	for i := range l.key {
		if rest, err = l.key[i].skip(rest); err != nil {
			return nil, nil, err
		}
	}
	return l.splitAfterKey(rest, value)
}

// splitAfterKey is splitEntry once the key columns are read: after is what follows them.
func (l *layout) splitAfterKey(after, value []byte) (rowKey, columns []byte, err error) {
	if len(after) > 0 {
		return after, value, nil
	}
	n, w := binary.Uvarint(value)
	if w <= 0 || n > uint64(len(value)-w) {
		return nil, nil, fmt.Errorf("index %q of table %q: entry without row key: %w",
			l.index.Name, l.desc.Name, kv.ErrCorruption)
	}
	return value[w : w+int(n)], value[w+int(n):], nil
}

// Covering reports whether the entries of ix alone hold the columns out.
func Covering(d *Desc, ix *Index, out []int) bool {
	l, err := layoutOf(d, ix)
	if err != nil || l.gin != nil {
		return false
	}
	for _, o := range out {
		if !l.gives(o) {
			return false
		}
	}
	return true
}

func (l *layout) gives(o int) bool {
	has := func(cs []keyColumn) bool {
		return slices.ContainsFunc(cs, func(c keyColumn) bool { return c.exact && c.ordinal == o })
	}
	return has(l.key) || has(l.row) || slices.Contains(l.stored, o)
}
