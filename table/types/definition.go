package types

import (
	"slices"
	"sort"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
)

// Kind is what a user type is.
type Kind uint8

// The kinds of user types.
const (
	KindEnum Kind = iota + 1
	KindDomain
	KindComposite
)

// Definition is what a user type is made of. A Type with a Definition, and everything that the
// Definition refers to, is shared and never changes: ALTER TYPE makes another one, with another
// Version.
type Definition struct {
	Kind    Kind
	Schema  string
	Version uint64

	ArrayOID  OID
	ArrayName string // "_mood"
	array     *Type  // without a modifier; set by NewUserType

	// Labels are those of an enum, in its order.
	Labels []Label

	// Base is what a domain is over, with its modifier; it may be a domain itself.
	Base    *Type
	NotNull bool
	// Collation is that of a domain, "" for that of Base.
	Collation string
	// Default is the source of a domain's DEFAULT, "" when it has none of its own.
	Default string
	Checks  []DomainCheck
	Program DomainProgram // of Checks; nil when there are none

	// Attributes are the fields of a composite type.
	Attributes []Attribute
	// Class is the OID in pg_class of what describes the fields: a relation if it is a RowType.
	Class   OID
	RowType bool
	// Of is the composite type of a typed table, of whose rows this is the type: each is a value of
	// that type too. It is 0 for other types.
	Of OID
	// System: the type is of information_schema or of the rows of a system relation. It is there in
	// every database, and nothing is kept to find what rests on it.
	System bool
}

// Label is a value of an enum.
type Label struct {
	OID  OID
	Name string
	// Key is the value itself: bytes that order as the labels do. It never changes, so that neither
	// a label that is added between two others nor a new name rewrites a row.
	Key string
	// Unsafe: the running transaction has added the label to a type that was there before. No row
	// may have it before that transaction has committed.
	Unsafe bool
}

// DomainCheck is a CHECK constraint of a domain. Text is the source of a condition on VALUE. Those
// of one domain are in the order of their names, in which they are evaluated.
type DomainCheck struct {
	OID      OID
	Name     string
	Text     string
	NotValid bool // values that were stored before it have not been verified
}

// NewUserType completes a user type, whose Name, OID and Def are set but for the array type.
func NewUserType(t *Type) *Type {
	t.Mod, t.Len = NoMod, -1
	switch t.Def.Kind {
	case KindEnum:
		t.Family, t.Len = Enum, 4
	case KindComposite:
		t.Family = Record
	case KindDomain:
		base := t.Def.Base
		t.Family, t.Len, t.Elem, t.Sub = base.Family, base.Len, base.Elem, base.Sub
	}
	if t.Def.ArrayOID != 0 {
		t.Def.array = &Type{OID: t.Def.ArrayOID, Family: Array, Name: t.Def.ArrayName, Mod: NoMod,
			Elem: t, Len: -1}
	}
	return t
}

// IsDomain reports whether the type is a domain.
func (t *Type) IsDomain() bool { return t.Def != nil && t.Def.Kind == KindDomain }

// Base returns what holds the values of a type: for a domain the type below all domains, with the
// modifier that the domain gives it; any other type is its own.
func (t *Type) Base() *Type {
	for t.Def != nil && t.Def.Kind == KindDomain {
		t = t.Def.Base
	}
	return t
}

// Held returns a built-in type whose values lie and order as those of t do. What must be readable
// without the schema is kept by it: a user type may be gone by then.
func (t *Type) Held() *Type {
	t = t.Base()
	switch {
	case t.Family == Enum:
		return TBytea
	case t.Def != nil:
		return TRecord
	case t.Nests():
		return ArrayOf(t.Elem.Held())
	}
	return t
}

// OfSystemRows reports whether values of the type are made of rows of a system relation.
func (t *Type) OfSystemRows() bool {
	t = t.Base()
	switch {
	case t.IsRowType() && t.Def.System:
		return true
	case t.IsComposite():
		return slices.ContainsFunc(t.Fields(),
			func(a Attribute) bool { return a.Type.OfSystemRows() })
	}
	return t.Elem != nil && t.Elem.OfSystemRows()
}

// Constrained reports whether not every value of what is below a type's domains is one of the type:
// it is a domain, or an array or a composite with one in it.
func (t *Type) Constrained() bool {
	switch {
	case t.IsDomain():
		return true
	case t.Def != nil && t.Def.Kind == KindComposite:
		return slices.ContainsFunc(t.Def.Attributes,
			func(a Attribute) bool { return a.Type.Constrained() })
	}
	return t.Family == Array && t.Elem != nil && t.Elem.Constrained()
}

// Restricts reports whether the type is a domain that refuses a value of what it is over.
func (t *Type) Restricts() bool {
	for ; t.IsDomain(); t = t.Def.Base {
		if t.Def.NotNull || len(t.Def.Checks) > 0 {
			return true
		}
	}
	return false
}

// UserTypes calls f for each user type that a type mentions: itself, its element. The system's own
// are none.
func (t *Type) UserTypes(f func(*Type)) {
	switch {
	case t.Def != nil:
		if !t.Def.System {
			f(t)
		}
	case t.Elem != nil:
		t.Elem.UserTypes(f)
	}
}

// SameDefinition reports whether two types that are Equal are defined alike.
func (t *Type) SameDefinition(o *Type) bool {
	switch {
	case t.Def != nil && o.Def != nil:
		return t.Def.Version == o.Def.Version
	case t.Elem != nil && o.Elem != nil:
		return t.Elem.SameDefinition(o.Elem)
	}
	return t.Def == nil && o.Def == nil
}

// label finds the label of a value; nil when the type has none of it.
func (d *Definition) label(key string) *Label {
	i := sort.Search(len(d.Labels), func(i int) bool { return d.Labels[i].Key >= key })
	if i < len(d.Labels) && d.Labels[i].Key == key {
		return &d.Labels[i]
	}
	return nil
}

// LabelNamed finds a label by its name; nil when there is none.
func (d *Definition) LabelNamed(name string) *Label {
	i := slices.IndexFunc(d.Labels, func(l Label) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Labels[i]
}

// LabelOf returns the text of an enum's value.
func LabelOf(t *Type, key string) string {
	if l := t.Def.label(key); l != nil {
		return l.Name
	}
	return "???"
}

// IsLabelKey reports whether an enum has a value.
func IsLabelKey(t *Type, key string) bool { return t.Def.label(key) != nil }

// parseEnum is the input function of enums.
func parseEnum(t *Type, s string, f *Format) (Datum, error) {
	if l := t.Def.LabelNamed(s); l != nil {
		return l.use(t, f)
	}
	return Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation,
		"invalid input value for enum %s: \"%s\"", f.typeName(t), s)
}

func (l *Label) use(t *Type, f *Format) (Datum, error) {
	if l.Unsafe {
		return Datum{}, UnsafeLabel(t, l, f)
	}
	return Datum{S: l.Key}, nil
}

// UnsafeLabel is 55P04 for a label that its own transaction may not use yet.
func UnsafeLabel(t *Type, l *Label, f *Format) error {
	return sqlerr.New(sqlerr.UnsafeNewEnumValueUsage,
		"unsafe use of new value \"%s\" of enum type %s", l.Name, f.typeName(t)).
		WithHint("New enum values must be committed before they can be used.")
}

// typeName is a type's SQL name in a message, without the schema where the search path finds it.
func (f *Format) typeName(t *Type) string {
	if t.Def != nil && f != nil && f.Reg != nil {
		if name, ok := f.Reg.RegName(OIDRegType, t.OID); ok {
			return name
		}
	}
	return t.SQLName()
}

// userName is the name of a user type as SQL has it. The schema public is on nearly every search
// path, so types in it go without.
func (t *Type) userName() string {
	if t.Def.Schema == "" || t.Def.Schema == "public" {
		return sqlname.Quote(t.Name)
	}
	return sqlname.Qualified(t.Def.Schema, t.Name)
}

// SQLName is the name of a type as messages, regtype and data_type show it: without a modifier, and
// with character and bit where String has bpchar and "bit", since columns of type char(n) and
// bit(n) have that name.
func (t *Type) SQLName() string {
	name := t.WithMod(NoMod).String()
	if base, of := strings.CutPrefix(name, "bpchar"); of {
		return "character" + base
	}
	if base, of := strings.CutPrefix(name, `"bit"`); of {
		return "bit" + base
	}
	return name
}
