package table

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// CheckNulls verifies the NOT NULL columns of a new row. Insert and Update do so too. A caller that
// evaluates CHECK constraints calls it before them, as PostgreSQL does.
func (w *Writer) CheckNulls(row []types.Datum) error {
	for _, o := range w.notNull {
		if row[o].Null {
			return NullViolation(w.d, o, row)
		}
	}
	return nil
}

// NullViolation is 23502 for a NULL in column o of a row.
func NullViolation(d *Desc, o int, row []types.Datum) error {
	c := &d.Columns[o]
	e := sqlerr.New(sqlerr.NotNullViolation,
		"null value in column \"%s\" of relation \"%s\" violates not-null constraint", c.Name,
		d.Name)
	e.Schema, e.Table, e.Column = d.Schema, d.Name, c.Name
	e.Cause = &Disclosure{Desc: d, Row: slices.Clone(row)}
	return e.WithDetail("Failing row contains %s.", FormatRow(d, row))
}

// CheckViolation is 23514 for a row that a CHECK constraint refuses.
func CheckViolation(d *Desc, constraint string, row []types.Datum) error {
	e := sqlerr.New(sqlerr.CheckViolation,
		"new row for relation \"%s\" violates check constraint \"%s\"", d.Name, constraint)
	e.Schema, e.Table, e.Constraint = d.Schema, d.Name, constraint
	e.Cause = &Disclosure{Desc: d, Row: slices.Clone(row)}
	return e.WithDetail("Failing row contains %s.", FormatRow(d, row))
}

// CheckOptionViolation is 44000 for a row that a view with WITH CHECK OPTION does not show.
func CheckOptionViolation(d *Desc, view string, row []types.Datum) error {
	return sqlerr.New(sqlerr.WithCheckOptionViolation,
		"new row violates check option for view \"%s\"", view).
		WithDetail("Failing row contains %s.", FormatRow(d, row))
}

// duplicateOf is duplicate, unless the transaction has no place in a serial order with the one that
// wrote the key. The serialization failure is the better error, because a new attempt will see
// another state. later is the commit timestamp of the key if that is above the snapshot; it is zero
// when the snapshot shows the row that has the key.
func duplicateOf(tx *txn.Txn, d *Desc, l *layout, key []byte, later tso.Timestamp,
	row []types.Datum) error {
	if err := tx.Refuse(key, later); err != nil {
		return err
	}
	return duplicate(d, l, row)
}

// duplicate is 23505 for a row whose key in l is taken.
func duplicate(d *Desc, l *layout, row []types.Datum) error {
	e := sqlerr.New(sqlerr.UniqueViolation,
		"duplicate key value violates unique constraint \"%s\"", l.constraint())
	e.Schema, e.Table, e.Constraint = d.Schema, d.Name, l.constraint()
	e.Cause = &Disclosure{Desc: d, Key: l.columnIDs()}
	return e.WithDetail("Key %s already exists.", l.format(row))
}

// TakenKey is 23505 for a key of d that another transaction has taken; nil when k is not all of a
// unique key.
func TakenKey(d *Desc, k Key) error {
	ix := d.Index(k.Index)
	if k.Index != RowIndexID && (ix == nil || !ix.Unique) {
		return nil
	}
	if k.Index == RowIndexID {
		ix = nil
	}
	l, err := layoutOf(d, ix)
	if err != nil {
		return nil
	}
	values, rest, ok := describeColumns(l.key, k.Rest)
	if !ok || len(rest) > 0 {
		return nil
	}
	names := make([]string, len(l.key))
	for i := range l.key {
		names[i] = l.name(l.key[i].ordinal)
	}
	e := sqlerr.New(sqlerr.UniqueViolation,
		"duplicate key value violates unique constraint \"%s\"", l.constraint())
	e.Schema, e.Table, e.Constraint = d.Schema, d.Name, l.constraint()
	e.Cause = &Disclosure{Desc: d, Key: l.columnIDs()}
	return e.WithDetail("Key (%s)=%s already exists.", strings.Join(names, ", "), values)
}

// constraint is the name that errors give a unique key.
func (l *layout) constraint() string {
	if l.index != nil {
		return l.index.Name
	}
	if ix := l.desc.Index(RowIndexID); ix != nil {
		return ix.Name
	}
	return l.desc.Name
}

// withTable adds the table to the error of the key encoding for a type without order. Errors of
// expressions remain as they are.
func (w *Writer) withTable(l *layout, err error) error {
	if e, ok := err.(*sqlerr.Error); ok && e.Table == "" &&
		e.Code == sqlerr.UndefinedFunction {
		e.Schema, e.Table, e.Constraint = w.d.Schema, w.d.Name, l.constraint()
	}
	return err
}

// FormatKey shows the key of row in ix as details do: (a, b)=(1, x). A nil index is the row key.
func FormatKey(d *Desc, ix *Index, row []types.Datum) string {
	l, err := layoutOf(d, ix)
	if err != nil {
		return "(?)"
	}
	return l.format(row)
}

func (l *layout) format(row []types.Datum) string {
	m := l.maker()
	row, err := m.extend(context.Background(), row)
	if err != nil {
		return "(?)"
	}
	var names, values strings.Builder
	for i := range l.key {
		if l.exclusion != nil {
			i = slices.Index(l.exclusion.place, i) // as the constraint names them
		}
		if names.Len() > 0 {
			names.WriteString(", ")
			values.WriteString(", ")
		}
		o := l.key[i].ordinal
		names.WriteString(l.name(o))
		values.WriteString(text(l.key[i].typ, row[o]))
	}
	return "(" + names.String() + ")=(" + values.String() + ")"
}

// Disclosure is the cause of an error whose detail shows values of a table: a whole row, or those
// of the columns of a key. The layer that knows the rights of the session takes away what they do
// not cover.
type Disclosure struct {
	Desc *Desc
	Row  []types.Datum // nil: of a key
	Key  []ColumnID    // as in IndexColumn
	// Format is how the values of Row are printed; nil: as in any session, objects as numbers.
	Format *types.Format
	// Otherwise is the detail for a role that may not see the values; "" for none.
	Otherwise string
}

// PrintedBy returns a disclosure of the same row, which is printed by f, and its detail.
func (d *Disclosure) PrintedBy(f *types.Format) (by *Disclosure, detail string) {
	c := *d
	c.Format = f
	return &c, "Failing row contains " + formatRow(d.Desc, d.Row, f) + "."
}

// Error is part of error.
func (d *Disclosure) Error() string { return "the error shows values of " + d.Desc.Name }

// columnIDs are the columns and expressions of the layout's key.
func (l *layout) columnIDs() []ColumnID {
	if l.index != nil {
		out := make([]ColumnID, len(l.index.Columns))
		for i, c := range l.index.Columns {
			out[i] = c.ColumnID
		}
		return out
	}
	out := make([]ColumnID, len(l.desc.RowKey))
	for i, c := range l.desc.RowKey {
		out[i] = c.ColumnID
	}
	return out
}

// FormatColumns shows some columns of the row, as details do if these are not all:
// (a, b) = (1, x).
func (by *Disclosure) FormatColumns(shown func(c *Column) bool) (text string, any bool) {
	d, row, f := by.Desc, by.Row, cmp.Or(by.Format, &types.DefaultFormat)
	some, names := *d, []string{}
	some.Columns = nil
	var values []types.Datum
	for i := range d.Columns {
		if c := &d.Columns[i]; !c.Hidden && shown(c) {
			some.Columns, values = append(some.Columns, *c), append(values, row[i])
			names = append(names, c.Name)
		}
	}
	return "(" + strings.Join(names, ", ") + ") = " + formatRow(&some, values, f), len(names) > 0
}

// maxFieldText is where PostgreSQL cuts a field of "Failing row contains".
const maxFieldText = 64

// FormatRow shows a row as details do: (1, null, x). Hidden columns are left out.
func FormatRow(d *Desc, row []types.Datum) string {
	return formatRow(d, row, &types.DefaultFormat)
}

func formatRow(d *Desc, row []types.Datum, f *types.Format) string {
	var b strings.Builder
	separator := "("
	for i := range d.Columns {
		if d.Columns[i].Hidden {
			continue
		}
		b.WriteString(separator)
		separator = ", "
		s := textBy(d.Columns[i].Type, row[i], f)
		if len(s) > maxFieldText {
			cut := maxFieldText
			for cut > 0 && s[cut]&0xC0 == 0x80 { // not within a character
				cut--
			}
			s = s[:cut] + "..."
		}
		b.WriteString(s)
	}
	if separator == "(" { // it has no columns
		return "()"
	}
	b.WriteByte(')')
	return b.String()
}

func text(t *types.Type, d types.Datum) string { return textBy(t, d, &types.DefaultFormat) }

func textBy(t *types.Type, d types.Datum, f *types.Format) string {
	if d.Null {
		return "null"
	}
	return types.Text(t, d, f)
}
