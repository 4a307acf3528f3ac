package types

import (
	"github.com/minidb/minidb/internal/sqlerr"
)

// DomainProgram evaluates the CHECK constraints of one domain. It serves several goroutines at a
// time.
type DomainProgram interface {
	// Broken returns the index in Definition.Checks of the first constraint that a value of the
	// domain's base type violates, -1 when there is none. The format has the settings of the
	// statement, and what runs the statement in its Runtime.
	Broken(d Datum, f *Format) (int, error)
}

// Admit returns an error unless a value of the type that a domain is over is one of the domain:
// 23502 for a NULL that it does not allow, 23514 for a value that violates a constraint. Any other
// type admits every value. The constraints of the domain at the bottom come first.
func (t *Type) Admit(d Datum, f *Format) error {
	if !t.IsDomain() {
		return nil
	}
	if d.Null {
		for u := t; u.IsDomain(); u = u.Def.Base {
			if u.Def.NotNull {
				return t.domainError(sqlerr.NotNullViolation, "", f,
					"domain %s does not allow null values", f.typeName(t))
			}
		}
	}
	return t.check(t, d, f)
}

// check evaluates the constraints of a domain for a value that is to be one of outer, which is the
// domain or one over it.
func (t *Type) check(outer *Type, d Datum, f *Format) error {
	if !t.IsDomain() {
		return nil
	}
	if err := t.Def.Base.check(outer, d, f); err != nil || len(t.Def.Checks) == 0 {
		return err
	}
	if t.Def.Program == nil {
		return sqlerr.New(sqlerr.InternalError, "domain %s has no program for its constraints",
			t.SQLName())
	}
	i, err := t.Def.Program.Broken(d, f)
	if err != nil || i < 0 {
		return err
	}
	name := t.Def.Checks[i].Name
	return outer.domainError(sqlerr.CheckViolation, name, f,
		"value for domain %s violates check constraint \"%s\"", f.typeName(outer), name)
}

func (t *Type) domainError(code, constraint string, f *Format, format string, args ...any) error {
	e := sqlerr.New(code, format, args...)
	e.Schema, e.DataType, e.Constraint = t.Def.Schema, t.Name, constraint
	return e
}

// AdmitAll is Admit for a value and, where the value is an array or a composite, for the values in
// it. It is for values that were made without regard to the constraints.
func (t *Type) AdmitAll(d Datum, f *Format) error {
	if !t.Constrained() {
		return nil
	}
	base := t.Base()
	switch {
	case d.Null:
	case base.Family == Array:
		for _, e := range d.Arr.Elems {
			if err := base.Elem.AdmitAll(e, f); err != nil {
				return err
			}
		}
	case base.Family == Record:
		for i, a := range base.Fields() {
			if i == len(d.Arr.Elems) {
				break
			}
			if err := a.Type.AdmitAll(d.Arr.Elems[i], f); err != nil {
				return err
			}
		}
	}
	return t.Admit(d, f)
}

// Null returns the NULL of a type; an error where the type is a domain that does not allow it.
func (t *Type) Null(f *Format) (Datum, error) { return Null, t.Admit(Null, f) }
