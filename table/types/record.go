package types

import (
	"slices"
	"strconv"
)

// Attribute is a field of a composite type, or of an anonymous record.
type Attribute struct {
	Name string
	Type *Type
	// Number identifies the field of a composite type for ever, from 1: stored values are kept by
	// it, so that fields may be added and dropped.
	Number int
	// Collation is that of the values, "" for that of the type.
	Collation string
}

// RowOf returns the type of anonymous records with these fields. Like any record it is equal to
// TRecord: the fields are known to the statement that makes the records, and to no other.
func RowOf(fields []Attribute) *Type {
	t := *TRecord
	t.Row = fields
	return &t
}

// Fields returns the fields of a composite type, or those of an anonymous record as far as they are
// known; nil for any other type.
func (t *Type) Fields() []Attribute {
	t = t.Base()
	if t.Def != nil && t.Def.Kind == KindComposite {
		return t.Def.Attributes
	}
	return t.Row
}

// IsComposite reports whether a type is a composite type of the catalog.
func (t *Type) IsComposite() bool { return t.Family == Record && t.Def != nil }

// IsRowType reports whether a type is that of the rows of a relation, whose OID is its Def.Class.
func (t *Type) IsRowType() bool { return t.IsComposite() && t.Def.RowType }

// Field returns the index of the field of a name, -1 when there is none. Of several with one name
// it is the first.
func (t *Type) Field(name string) int {
	return slices.IndexFunc(t.Fields(), func(a Attribute) bool { return a.Name == name })
}

// FieldName is the name of field i of an anonymous row: "f1" for 0.
func FieldName(i int) string { return "f" + strconv.Itoa(i+1) }

// Refit returns a value of a type as one of the same type after fields were added to composite
// types in it, or dropped from them: those are NULL, these are not there.
func Refit(d Datum, from, to *Type) Datum {
	from, to = from.Base(), to.Base()
	switch {
	case d.Null || from == to:
		return d
	case from.Nests():
		a := *d.Arr
		a.Elems = slices.Clone(a.Elems)
		for i := range a.Elems {
			a.Elems[i] = Refit(a.Elems[i], from.Elem, to.Elem)
		}
		return Datum{Arr: &a}
	case !from.IsComposite() || !to.IsComposite():
		return d
	}
	elems := make([]Datum, len(to.Fields()))
	for i, a := range to.Fields() {
		elems[i] = Null
		if k := fieldNumbered(from, a.Number); k >= 0 {
			elems[i] = Refit(d.Arr.Elems[k], from.Fields()[k].Type, a.Type)
		}
	}
	return NewRecord(to, elems)
}

// fieldNumbered returns the index of the field with a number, -1 when there is none.
func fieldNumbered(t *Type, number int) int {
	return slices.IndexFunc(t.Fields(), func(a Attribute) bool { return a.Number == number })
}

// FieldIn returns the index that field i of a composite type has in the same type after a change,
// -1 if it was dropped.
func (t *Type) FieldIn(to *Type, i int) int { return fieldNumbered(to, t.Fields()[i].Number) }

// NewRecord returns a value of a type whose Fields are known.
func NewRecord(t *Type, elems []Datum) Datum {
	fields := t.Fields()
	a := &ArrayValue{Elems: elems, Types: make([]*Type, len(fields)),
		Names: make([]string, len(fields))}
	for i, f := range fields {
		a.Types[i], a.Names[i] = f.Type, f.Name
	}
	return Datum{Arr: a}
}
