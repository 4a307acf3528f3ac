package table

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/table/types"
)

// RowProgram computes the expressions and predicates of a table's indexes. It is compiled above
// this package, by the caller that hands the descriptor out, and may be used from many goroutines.
type RowProgram interface {
	// Evaluator returns an evaluator for one goroutine.
	Evaluator() RowEvaluator
}

// RowEvaluator evaluates a RowProgram. Its errors are those of the functions that are called; the
// statement that writes the row fails with them.
type RowEvaluator interface {
	// Expression computes Desc.Exprs[i] of a row.
	Expression(ctx context.Context, i int, row []types.Datum) (types.Datum, error)
	// Predicate reports whether the predicate of Desc.Indexes[i] is true for a row.
	Predicate(ctx context.Context, i int, row []types.Datum) (bool, error)
	// Excludes reports whether the operators of Desc.Indexes[i], of an EXCLUDE constraint, are all
	// true for the values that two rows have in its columns.
	Excludes(ctx context.Context, i int, a, b []types.Datum) (bool, error)
}

// errNoProgram is the error for an entry of an index whose descriptor came without a program, or
// was changed since it was prepared.
var errNoProgram = errors.New("the expressions of the table's indexes have not been compiled")

// entryMaker makes the entries of one index. It belongs to one goroutine.
type entryMaker struct {
	*layout
	computed bool // an expression is part of the key
	eval     RowEvaluator
	row      []types.Datum // a row with the expressions of the index behind its columns
	keys     [][]byte      // of GIN, in the making
}

func (l *layout) maker() *entryMaker {
	m := new(entryMaker)
	l.prepare(m)
	return m
}

// prepare makes m the maker of the index.
func (l *layout) prepare(m *entryMaker) {
	*m = entryMaker{layout: l, computed: l.computes()}
	p := l.desc.prepared
	needed := m.computed || l.partial() || l.exclusion != nil
	if needed && p != nil && p.owner == l.desc && p.program != nil {
		m.eval = p.program.Evaluator()
	}
}

// holds reports whether a row has an entry in the index.
func (m *entryMaker) holds(ctx context.Context, row []types.Datum) (bool, error) {
	if !m.partial() {
		return true, nil
	}
	if m.eval == nil || m.at < 0 {
		return false, errNoProgram
	}
	return m.eval.Predicate(ctx, m.at, row[:len(m.desc.Columns)])
}

// extend returns the row with the expressions of the index behind its columns. The result is valid
// until the next call.
func (m *entryMaker) extend(ctx context.Context, row []types.Datum) ([]types.Datum, error) {
	if !m.computed {
		return row, nil
	}
	if m.eval == nil {
		return nil, errNoProgram
	}
	n := len(m.desc.Columns)
	m.row = append(m.row[:0], row[:n]...)
	for range m.desc.Exprs {
		m.row = append(m.row, types.Null)
	}
	for i := range m.key {
		o := m.key[i].ordinal
		if o < n {
			continue
		}
		v, err := m.eval.Expression(ctx, o-n, row[:n])
		if err != nil {
			return nil, err
		}
		m.row[o] = v
	}
	return m.row, nil
}

// entryList is the entries of one row in one index, in the order of their keys. Its memory is used
// again for the next row.
type entryList struct {
	list []entry
	n    int
}

func (l *entryList) all() []entry { return l.list[:l.n] }

func (l *entryList) add() *entry {
	if l.n == len(l.list) {
		l.list = append(l.list, entry{})
	}
	l.n++
	return &l.list[l.n-1]
}

// has reports whether an entry has the key.
func (l *entryList) has(key []byte) bool {
	_, found := slices.BinarySearchFunc(l.all(), key,
		func(e entry, key []byte) int { return bytes.Compare(e.key, key) })
	return found
}

// entriesOf fills l with the entries of a row, whose row key without prefix is rowKey: none if the
// row is outside of a partial index.
func (m *entryMaker) entriesOf(ctx context.Context, l *entryList, row []types.Datum,
	rowKey []byte) error {
	l.n = 0
	if has, err := m.holds(ctx, row); err != nil || !has {
		return err
	}
	row, err := m.extend(ctx, row)
	if err != nil {
		return err
	}
	if m.gin != nil {
		return m.ginEntries(l, row, rowKey)
	}
	return m.entry(l.add(), row, rowKey)
}

// uniqueKey appends the key of a row. single is false where other rows may have the same: the row
// has no entry, or its key has a NULL that equals nothing.
func (m *entryMaker) uniqueKey(ctx context.Context, dst []byte, row []types.Datum) (key []byte,
	single bool, err error) {
	if has, err := m.holds(ctx, row); err != nil || !has {
		return dst, false, err
	}
	if row, err = m.extend(ctx, row); err != nil {
		return dst, false, err
	}
	key, null, err := m.appendKey(dst, row)
	return key, !null || m.nullsNotDistinct, err
}

// ExprReader computes expressions of a table's indexes. It belongs to one goroutine.
type ExprReader struct {
	d    *Desc
	eval RowEvaluator
}

// NewExprReader prepares computing the expressions of d.
func NewExprReader(d *Desc) *ExprReader {
	r := &ExprReader{d: d}
	if p := d.prepared; p != nil && p.owner == d && p.program != nil {
		r.eval = p.program.Evaluator()
	}
	return r
}

// Value computes d.Exprs[i] of a row, given in full.
func (r *ExprReader) Value(ctx context.Context, i int, row []types.Datum) (types.Datum, error) {
	if r.eval == nil {
		return types.Null, errNoProgram
	}
	return r.eval.Expression(ctx, i, row)
}

// ExprsOfAllRows lists the places in d.Exprs of the expressions that an index has which is not
// partial: they have a value for every row.
func (d *Desc) ExprsOfAllRows() []int {
	var out []int
	for i := range d.Exprs {
		if slices.ContainsFunc(d.Indexes, func(ix Index) bool {
			return ix.WhereText == "" && slices.ContainsFunc(ix.Columns,
				func(c IndexColumn) bool { return c.ColumnID == d.Exprs[i].ID })
		}) {
			out = append(out, i)
		}
	}
	return out
}
