package table

import (
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// ginColumns returns the operator classes of the key columns of a GIN index.
func ginColumns(d *Desc, ix *Index, key []keyColumn) ([]*gin.Column, error) {
	out := make([]*gin.Column, len(key))
	for i := range key {
		if out[i] = gin.NewColumn(i+1, ix.Columns[i].OpClass, key[i].typ); out[i] == nil {
			return nil, fmt.Errorf("table %q: index %q has no operator class %q for type %s: %w",
				d.Name, ix.Name, ix.Columns[i].OpClass, key[i].typ, kv.ErrCorruption)
		}
	}
	return out, nil
}

// GINColumn returns column i of a GIN index, nil if the descriptor and the index do not agree.
func GINColumn(d *Desc, ix *Index, i int) *gin.Column {
	l, err := layoutOf(d, ix)
	if err != nil || i >= len(l.gin) {
		return nil
	}
	return l.gin[i]
}

// ginEntries fills l with the entries of a row in a GIN index, one for each key. row has the
// expressions of the index behind its columns.
func (m *entryMaker) ginEntries(l *entryList, row []types.Datum, rowKey []byte) error {
	m.keys = m.keys[:0]
	for i, c := range m.gin {
		var err error
		if m.keys, err = c.AppendKeys(m.keys, row[m.key[i].ordinal]); err != nil {
			return err
		}
	}
	for _, k := range m.keys {
		e := l.add()
		e.key = append(append(append(e.key[:0], m.prefix...), k...), rowKey...)
		e.value, e.unique = e.value[:0], false
	}
	// Keys of a column come in their order, and columns too. No key is the beginning of another, so
	// neither do row keys behind them change that.
	return nil
}

// sameKeys reports whether the values of two rows show, without extracting their keys, that these
// are the same.
func (m *entryMaker) sameKeys(old, new []types.Datum) bool {
	if m.computed || m.partial() {
		return false
	}
	return !slices.ContainsFunc(m.key, func(c keyColumn) bool {
		return !sameText(c.typ, old[c.ordinal], new[c.ordinal])
	})
}

// sameText reports whether two values have the same text; equal values may have different ones.
func sameText(t *types.Type, a, b types.Datum) bool {
	switch {
	case a.Null || b.Null:
		return a.Null && b.Null
	case t.Family.Storage() == types.Str:
		return a.S == b.S
	case t.Family == types.Array:
		return a.Arr == b.Arr || slices.EqualFunc(a.Arr.Elems, b.Arr.Elems,
			func(x, y types.Datum) bool { return sameText(t.Elem, x, y) })
	}
	return types.Compare(t, a, b) == 0
}
