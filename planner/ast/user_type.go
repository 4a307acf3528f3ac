package ast

// CreateType is CREATE TYPE name AS ENUM (labels) or AS (attributes).
type CreateType struct {
	Pos        Pos
	Name       Name
	Enum       bool
	Labels     []Label     // of an enum
	Attributes []ColumnDef // of a composite type: names, types and collations
}

// Label is a label of an enum as it is written.
type Label struct {
	Pos  Pos
	Text string
}

// CreateDomain is CREATE DOMAIN. Constraints are "not null", "null", "default" and "check".
type CreateDomain struct {
	Pos         Pos
	Name        Name
	Type        TypeName
	Collation   *Name
	Constraints []ColumnConstraint
}

// AlterType is ALTER TYPE or ALTER DOMAIN. Only actions on attributes come several at a time.
type AlterType struct {
	Pos     Pos
	Kind    ObjectKind // TypeObject or DomainObject
	Name    Name
	Actions []AlterTypeAction
}

// AlterTypeAction is one action of ALTER TYPE or ALTER DOMAIN.
type AlterTypeAction struct {
	Pos Pos
	// Kind is "rename", "set schema", "owner"; of an enum "add value", "rename value"; of a
	// composite type "add attribute", "drop attribute", "alter attribute", "rename attribute"; of a
	// domain "set default", "drop default", "set not null", "drop not null", "add constraint",
	// "drop constraint", "rename constraint", "validate constraint".
	Kind        string
	IfExists    bool // drop attribute, drop constraint
	IfNotExists bool // add value
	Cascade     bool
	Label       Label // add value, rename value: the old one
	NewLabel    Label // rename value
	Before      bool  // add value: Neighbor comes behind the new label
	Neighbor    *Label
	Name        Ident // of an attribute or a constraint
	NewName     Ident // rename, rename attribute, rename constraint, set schema
	Owner       RoleSpec
	Def         *ColumnDef
	Constraint  *TableConstraint // add constraint
	Expr        Expr             // set default
}

func (*CreateType) statement()   {}
func (*CreateDomain) statement() {}
func (*AlterType) statement()    {}
