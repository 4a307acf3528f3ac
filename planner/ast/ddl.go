package ast

import "strings"

// CreateTable is CREATE [TEMP|UNLOGGED] TABLE; As is set for CREATE TABLE … AS.
type CreateTable struct {
	Pos         Pos
	Name        Name
	IfNotExists bool
	Temp        bool
	Global      bool // GLOBAL TEMP, which PostgreSQL warns of
	Unlogged    bool
	// Of is the composite type of a typed table, whose Columns have no types of their own; nil for
	// any other.
	Of          *TypeName
	Columns     []ColumnDef
	Constraints []TableConstraint
	Likes       []TableLike
	Inherits    []Name
	PartitionBy string // as written, "" for none
	Options     []Option
	OnCommit    string // "", "drop", "delete rows", "preserve rows"
	As          *Select
	AsColumns   []Ident
	WithNoData  bool
}

// TableLike is LIKE source [INCLUDING … | EXCLUDING …] inside CREATE TABLE; options are lower case.
type TableLike struct {
	Source    Name
	Including []string
	Excluding []string
}

// ColumnDef is one column of CREATE TABLE or ADD COLUMN.
type ColumnDef struct {
	Name        Ident
	Type        TypeName
	Compression string // as written, or ""
	Collation   *Name
	Constraints []ColumnConstraint
}

// ColumnConstraint is one of the constraints after a column's type.
type ColumnConstraint struct {
	Pos  Pos
	Name string // CONSTRAINT name, or ""
	// Kind is "not null", "null", "default", "check", "primary key", "unique", "references",
	// "identity" or "generated".
	Kind                          string
	Expr                          Expr // default, check, generated
	Always                        bool // identity: GENERATED ALWAYS
	Sequence                      SequenceOptions
	Ref                           *Reference
	NoInherit                     bool
	NullsNotDistinct              bool
	Options                       []Option // of the index of a key
	Deferrable, InitiallyDeferred bool
}

// TableConstraint is a constraint of a whole table.
type TableConstraint struct {
	Pos  Pos
	Name string
	// Kind is "check", "primary key", "unique", "foreign key" or "exclude".
	Kind                          string
	Columns                       []Ident
	Include                       []Ident
	Expr                          Expr
	Ref                           *Reference
	UsingIndex                    string
	NotValid                      bool
	NoInherit                     bool // of a check: tables that inherit do not get it
	NullsNotDistinct              bool
	Options                       []Option // of the index of a key
	Deferrable, InitiallyDeferred bool
	// Method, Elems with their operators and Where are those of EXCLUDE.
	Method string
	Elems  []IndexElem
	Where  Expr
}

// Reference is the right side of a foreign key. Actions are "no action", "restrict", "cascade",
// "set null" or "set default".
type Reference struct {
	Table    Name
	Columns  []Ident
	Match    string
	OnDelete string
	OnUpdate string
	// OnDeleteColumns are those that ON DELETE SET NULL or SET DEFAULT sets; nil: all.
	OnDeleteColumns []Ident
}

// IndexElem is a column (Expr is a *ColumnRef) or an expression of an index.
type IndexElem struct {
	Pos        Pos
	Expr       Expr
	Desc       bool
	NullsFirst *bool
	Collation  *Name
	OpClass    string
	Operator   string // of an EXCLUDE constraint
}

// CreateIndex is CREATE [UNIQUE] INDEX [CONCURRENTLY] [IF NOT EXISTS] [name] ON ….
type CreateIndex struct {
	Pos              Pos
	Name             string // "" lets minidb choose
	Unique           bool
	Concurrently     bool
	IfNotExists      bool
	Table            Name
	Only             bool
	Method           string // "" is btree
	Elems            []IndexElem
	Include          []Ident
	Where            Expr
	Options          []Option
	NullsNotDistinct bool
}

// CreateView is CREATE [OR REPLACE] [TEMP] VIEW.
type CreateView struct {
	Pos         Pos
	Name        Name
	OrReplace   bool
	Temp        bool
	Columns     []Ident
	Options     []Option
	Query       *Select
	CheckOption string // "", "local" or "cascaded"
}

// CreateMaterializedView is CREATE [UNLOGGED] MATERIALIZED VIEW.
type CreateMaterializedView struct {
	Pos         Pos
	Name        Name
	IfNotExists bool
	Unlogged    bool
	Columns     []Ident
	Options     []Option
	Query       *Select
	WithNoData  bool
}

// RefreshMaterializedView is REFRESH MATERIALIZED VIEW.
type RefreshMaterializedView struct {
	Pos          Pos
	Name         Name
	Concurrently bool
	WithNoData   bool
}

// SequenceOptions are the options of CREATE/ALTER SEQUENCE and identity columns; nil: not
// specified.
type SequenceOptions struct {
	Start, Increment, Min, Max, Cache *int64
	NoMin, NoMax                      bool
	Cycle                             *bool
	Restart                           bool
	RestartWith                       *int64
	OwnedBy                           *ColumnRef
	OwnedByNone                       bool
	Type                              *TypeName
	Name                              *Name // SEQUENCE NAME, of an identity column's sequence
}

// CreateSequence is CREATE SEQUENCE.
type CreateSequence struct {
	Pos         Pos
	Name        Name
	Temp        bool
	IfNotExists bool
	Options     SequenceOptions
}

// AlterSequence is ALTER SEQUENCE name options.
type AlterSequence struct {
	Pos      Pos
	Name     Name
	IfExists bool
	Options  SequenceOptions
}

// CreateSchema is CREATE SCHEMA.
type CreateSchema struct {
	Pos         Pos
	Name        string // "": the name of Owner
	IfNotExists bool
	Owner       *RoleSpec // nil: the current role
	// Elements are CREATE TABLE, VIEW, INDEX and SEQUENCE statements, and GRANT.
	Elements []Statement
}

// RenameSchema is ALTER SCHEMA name RENAME TO name.
type RenameSchema struct {
	Pos     Pos
	Name    string
	NewName string
}

// CreateDatabase is CREATE DATABASE name [options].
type CreateDatabase struct {
	Pos     Pos
	Name    string
	Options []Option
}

// ObjectKind is a kind of object, by its key words.
type ObjectKind string

// The kinds that DROP, ALTER and COMMENT take.
const (
	TableObject            ObjectKind = "table"
	IndexObject            ObjectKind = "index"
	ViewObject             ObjectKind = "view"
	MaterializedViewObject ObjectKind = "materialized view"
	SequenceObject         ObjectKind = "sequence"
	SchemaObject           ObjectKind = "schema"
	DatabaseObject         ObjectKind = "database"
	ColumnObject           ObjectKind = "column"
	ConstraintObject       ObjectKind = "constraint"
	TypeObject             ObjectKind = "type"
	DomainObject           ObjectKind = "domain"
	ExtensionObject        ObjectKind = "extension"
	LargeObject            ObjectKind = "large object"
	// DomainConstraintObject is of COMMENT ON CONSTRAINT … ON DOMAIN alone.
	DomainConstraintObject ObjectKind = "domain constraint"
	// PolicyObject is of COMMENT ON POLICY … ON table alone.
	PolicyObject ObjectKind = "policy"
	// RoleObject is of COMMENT ON ROLE alone.
	RoleObject ObjectKind = "role"
)

// Upper returns the key words in upper case, as command tags and hints have them.
func (k ObjectKind) Upper() string { return strings.ToUpper(string(k)) }

// CreateExtension is CREATE EXTENSION name [SCHEMA s] [VERSION v] [CASCADE].
type CreateExtension struct {
	Pos         Pos
	Name        string
	IfNotExists bool
	Schema      string // "": none was written
	Version     string
	Cascade     bool
}

// AlterExtension is ALTER EXTENSION name UPDATE [TO version] or SET SCHEMA.
type AlterExtension struct {
	Pos     Pos
	Name    string
	Schema  string // "": UPDATE
	Version string
}

// Drop is DROP TABLE|INDEX|VIEW|SEQUENCE|SCHEMA|DATABASE|MATERIALIZED VIEW|TYPE|DOMAIN|EXTENSION.
type Drop struct {
	Pos          Pos
	Kind         ObjectKind // not of a column or constraint
	Names        []Name
	IfExists     bool
	Cascade      bool
	Concurrently bool
}

// AlterTable is ALTER TABLE|INDEX|VIEW|MATERIALIZED VIEW|SEQUENCE name action, ….
type AlterTable struct {
	Pos      Pos
	Kind     ObjectKind // of a relation
	Name     Name
	IfExists bool
	Only     bool
	Actions  []AlterAction
}

// AlterAction is one action of ALTER TABLE.
type AlterAction struct {
	Pos Pos
	// Kind is "add column", "drop column", "rename column", "rename", "set schema",
	// "rename constraint", "add constraint", "drop constraint", "validate constraint",
	// "alter constraint" (Constraint says when it is checked), "set default", "drop default",
	// "set not null", "drop not null", "set type", "owner", "set identity", "add identity",
	// "drop identity", "set options", "reset options", "disable trigger", "enable trigger",
	// "cluster on", "set without cluster", "set without oids", "set logged", "set unlogged",
	// "replica identity", "set statistics", "set storage", "set compression", "set column options",
	// "reset column options", "enable row security", "disable row security",
	// "force row security", "no force row security", "of" (Type), "not of".
	Kind        string
	IfExists    bool
	IfNotExists bool
	Cascade     bool
	Column      Ident
	NewName     Ident // rename, rename column/constraint, set schema
	Owner       RoleSpec
	Def         *ColumnDef
	Constraint  *TableConstraint
	Name        Ident // constraint's name; of a trigger, "" for all
	Expr        Expr
	Type        *TypeName
	Using       Expr
	Sequence    SequenceOptions
	Always      bool
	Options     []Option
	AllTriggers bool // with those of constraints
	// ColumnNumber is given in place of Column for an index; 0: it is not.
	ColumnNumber int64
	Number       int64  // set statistics
	Word         string // set storage, set compression, replica identity
}

// Comment is COMMENT ON kind name IS text; Text nil removes it.
type Comment struct {
	Pos    Pos
	Kind   ObjectKind
	Name   Name
	Column string
	Text   *string
}

// CreateObserver registers an observer of a table, or puts another version in its place. No text
// makes it: it comes from minidb.DB.Observe and from the function minidb_create_observer.
type CreateObserver struct {
	Name     string
	Version  int64
	Table    Name
	Columns  []Ident // nil: all
	Backfill bool
}

func (*CreateTable) statement()             {}
func (*CreateIndex) statement()             {}
func (*CreateView) statement()              {}
func (*CreateMaterializedView) statement()  {}
func (*RefreshMaterializedView) statement() {}
func (*CreateSequence) statement()          {}
func (*AlterSequence) statement()           {}
func (*CreateSchema) statement()            {}
func (*RenameSchema) statement()            {}
func (*CreateDatabase) statement()          {}
func (*CreateExtension) statement()         {}
func (*AlterExtension) statement()          {}
func (*Drop) statement()                    {}
func (*AlterTable) statement()              {}
func (*Comment) statement()                 {}
func (*CreateObserver) statement()          {}
