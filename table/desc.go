package table

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/tso"
)

// ID identifies a catalog object for ever: IDs are never used again. PostgreSQL shows them as OIDs.
type ID uint32

// StorageID names the span of keys in which the rows and index entries of a table lie, as
// PostgreSQL's relfilenode names a file. It is drawn from the same numbers as an ID and never used
// again either.
type StorageID uint32

// ColumnID identifies a column within its table for ever; row values are keyed by it.
type ColumnID uint32

// IndexID identifies an index within its table for ever; 1 is the row key itself.
type IndexID uint32

// RowIndexID is the index ID of the rows themselves.
const RowIndexID IndexID = 1

// Kind is what a descriptor describes.
type Kind uint8

// The kinds of relation.
const (
	KindTable Kind = iota
	KindView
	KindSequence
	KindVirtual          // rows made by the server: pg_catalog, information_schema
	KindMaterializedView // a view whose rows are stored, as REFRESH computed them last
	// KindState is what an incremental view keeps beside its rows. Only the descriptor of the view
	// knows the relation: it has no name, and no statement reads it.
	KindState
	// KindDelta is a change of a relation, held in memory by the statement that reads it.
	KindDelta
)

// Desc is the schema of a relation as the catalog keeps it. A Desc handed out by the catalog is
// shared and never changed: to alter it, Clone it first.
type Desc struct {
	ID         ID
	DatabaseID ID
	SchemaID   ID
	Schema     string // the schema's name
	Name       string
	Kind       Kind
	// grows with every change; never names two contents, not even uncommitted ones
	Version uint64
	// StorageID is where the rows lie; zero means under the table's own number, where they begin.
	// What replaces all rows at once gives them another place ([Desc.Storage]).
	StorageID StorageID `json:",omitempty"`

	// RowType is the ID of the type of the rows as values (RowTypeOf); 0: there is none.
	RowType ID `json:",omitempty"`

	// OfType is the composite type of a typed table, with whose attributes the columns change; 0:
	// it is not typed.
	OfType ID `json:",omitempty"`

	Columns      []Column // live columns in order; dropped ones are gone from here
	NextColumnID ColumnID
	NextIndexID  IndexID

	// RowKey lists the columns that form the row key, in order: the primary key's, or the hidden
	// rowid column of a table made without one.
	RowKey []IndexColumn
	// Indexes holds the primary key (Primary; stored as the row key itself when ID is RowIndexID)
	// and all secondary indexes.
	Indexes []Index
	// Exprs are the expressions that indexes have in place of columns.
	Exprs       []Expression `json:",omitempty"`
	Checks      []Check
	ForeignKeys []ForeignKey
	// ReferencedBy lists the tables with a foreign key to this one, this one too if it has one to
	// itself: each once.
	ReferencedBy []ID
	// TriggersDisabled: foreign keys are not checked, and have no actions, when rows of the table
	// change.
	TriggersDisabled bool `json:",omitempty"`
	// Options are storage parameters, or the options of a view, as pg_class.reloptions shows them:
	// name=value.
	Options []string `json:",omitempty"`
	// Unlogged is how the table was made; its rows are as safe as any.
	Unlogged bool `json:",omitempty"`
	// ReplicaIdentity is "nothing", "full" or "index"; "" is the primary key.
	ReplicaIdentity string `json:",omitempty"`
	// Observers run after rows of the table have changed.
	Observers []Observer `json:",omitempty"`

	// RowSecurity: Policies bind all roles but the owner, superusers and roles with BYPASSRLS;
	// with ForceRowSecurity they bind the owner too.
	RowSecurity      bool     `json:",omitempty"`
	ForceRowSecurity bool     `json:",omitempty"`
	Policies         []Policy `json:",omitempty"`

	// OnCommit is what a commit does to a temporary table.
	OnCommit OnCommit `json:",omitempty"`
	// Types lists the user types that the expressions of the relation mention, beside those of its
	// columns.
	Types []ID `json:",omitempty"`
	// Mentioned are the types of Types, in that order; package catalog resolves them.
	Mentioned []*types.Type `json:"-"`

	View     *View     // KindView, KindMaterializedView
	Sequence *Sequence // KindSequence
	Comment  string

	// Owner is the role that owns the relation; 0: the bootstrap superuser ([Desc.OwnedBy]).
	Owner acl.StoredOwner `json:",omitempty"`
	ACL   acl.List        `json:",omitzero"`

	prepared *prepared     // encodings worked out by Prepare, with the program of expressions
	rekeyed  bool          // see Rekey
	readAt   tso.Timestamp // see ReadAt; zero: when the transaction reads rows
}

// Temporary reports whether the relation belongs to one session and ends with it.
func (d *Desc) Temporary() bool { return d.ID.Temporary() }

// OnCommit is what a commit does to a temporary table.
type OnCommit uint8

// The actions of ON COMMIT.
const (
	OnCommitPreserve OnCommit = iota
	OnCommitDelete            // its rows are deleted
	OnCommitDrop
)

// Column is a column of a table.
type Column struct {
	ID          ColumnID
	Name        string
	Type        *types.Type
	NotNull     bool
	Hidden      bool   // rowid: not part of *
	DefaultText string // expression source; "" for none
	// Identity is "" or "always" or "by default"; its default is nextval of SequenceID.
	Identity   string
	SequenceID ID     // owned sequence (serial, identity), or 0
	Generated  string // source of GENERATED ALWAYS AS (…) STORED, or ""
	// Missing is the value of rows written before ADD COLUMN … DEFAULT; nil means NULL. It is
	// encoded as in a row value (codec.EncodeValue).
	Missing   []byte
	Collation string
	Comment   string
	ACL       acl.List `json:",omitzero"` // privileges on the column alone; nil for none
	// Statistics is how much ANALYZE is to find out; nil: the default, 0: nothing.
	Statistics *int32 `json:",omitempty"`
	Storage    string `json:",omitempty"` // letter of attstorage; "": the type's
	// Compression is the letter of pg_attribute.attcompression; "": the default.
	Compression string   `json:",omitempty"`
	Options     []string `json:",omitempty"` // pg_attribute.attoptions
}

// Expression is what an index may have in place of a column: a value that is computed from a row,
// and is part of index entries only. Indexes that have the same one share it.
type Expression struct {
	ID   ColumnID // drawn with those of columns, and no column's
	Text string   // its source as pg_get_indexdef prints it, in parentheses unless it is a call
	Name string   // of the index's column in pg_attribute
	Type *types.Type
	// Statistics is as that of a column.
	Statistics *int32 `json:",omitempty"`
}

// IndexColumn is one key column of an index.
type IndexColumn struct {
	ColumnID   ColumnID // of a column or an [Expression]
	Desc       bool
	NullsFirst bool
	OpClass    string `json:",omitempty"` // "" for the default of the type
	Collation  string `json:",omitempty"` // "" for the column's
	// Operator, in an EXCLUDE constraint, is true of this column of two rows that exclude each
	// other, as the operators of the other columns are.
	Operator string `json:",omitempty"`
}

// Index is a primary key, a unique constraint or an index.
type Index struct {
	ID  IndexID
	OID ID // the object ID that pg_class shows
	// StorageID changes whenever the entries are built anew; zero means the number in OID. In keys
	// the table's storage ID and ID stand for it.
	StorageID        StorageID `json:",omitempty"`
	Name             string
	Unique           bool
	Primary          bool // backs PRIMARY KEY
	Constraint       bool // made by PRIMARY KEY or UNIQUE rather than CREATE INDEX
	NullsNotDistinct bool
	// Deferrable: rows of one transaction may have the same key until the end of the statement, or
	// as SET CONSTRAINTS says of the transaction, whose beginning is InitiallyDeferred.
	Deferrable        bool `json:",omitempty"`
	InitiallyDeferred bool `json:",omitempty"`
	// Method is the access method that the index was made with; "" is btree.
	Method    string `json:",omitempty"`
	Columns   []IndexColumn
	Include   []ColumnID // covered columns in the entry's value
	WhereText string     // partial index predicate, or ""
	// Options are the storage parameters of WITH, as pg_class.reloptions has them: name=value.
	// They are kept and shown, and say nothing to this store.
	Options []string `json:",omitempty"`
	// Clustered: CLUSTER orders the table by the index.
	Clustered bool `json:",omitempty"`
	// ReplicaIdentity: the table's is "index", and means this one.
	ReplicaIdentity bool `json:",omitempty"`
	Comment         string
	// ConstraintComment is the comment of the constraint that the index backs.
	ConstraintComment string `json:",omitempty"`
}

// MethodGIN is the access method whose entries are made of the parts of values.
const MethodGIN = "gin"

// GIN reports whether the entries of the index are made of the parts of values ([gin.Column]). It
// has no order, and is no use for ranges of its columns.
func (ix *Index) GIN() bool { return ix.Method == MethodGIN }

// Immediate reports whether no two rows have the same key that is not NULL, not even of one
// transaction.
func (ix *Index) Immediate() bool { return (ix.Unique || ix.Primary) && !ix.Deferrable }

// Exclusion reports whether the index backs an EXCLUDE constraint.
func (ix *Index) Exclusion() bool { return len(ix.Columns) > 0 && ix.Columns[0].Operator != "" }

// Check is a CHECK constraint.
type Check struct {
	Name string
	Text string // expression source
	// NotValid: rows that were there before it have not been verified.
	NotValid bool
	// NoInherit: tables that inherit would not get it.
	NoInherit bool   `json:",omitempty"`
	Comment   string `json:",omitempty"`
}

// ForeignKey is a REFERENCES constraint: the values of Columns, unless NULL, are those of
// RefColumns, in that order, in a row of RefTable.
type ForeignKey struct {
	OID                ID // the object ID that pg_constraint shows: the same under whatever name
	Name               string
	Columns            []ColumnID
	RefTable           ID
	RefColumns         []ColumnID
	MatchFull          bool   // either all of Columns are NULL or none
	NotValid           bool   // rows that were there before it have not been verified
	OnDelete, OnUpdate string // "no action", "restrict", "cascade", "set null", "set default"
	// OnDeleteColumns are those of Columns that OnDelete sets to NULL or their default; nil: all.
	OnDeleteColumns   []ColumnID `json:",omitempty"`
	Deferrable        bool
	InitiallyDeferred bool
	Comment           string `json:",omitempty"`
}

// ConstraintComment returns a pointer to the comment of a constraint of the table, nil if there is
// no constraint of that name.
func (d *Desc) ConstraintComment(name string) *string {
	if ix := d.IndexByName(name); ix != nil && (ix.Primary || ix.Constraint) {
		return &ix.ConstraintComment
	}
	for i := range d.Checks {
		if d.Checks[i].Name == name {
			return &d.Checks[i].Comment
		}
	}
	if fk := d.ForeignKey(name); fk != nil {
		return &fk.Comment
	}
	return nil
}

// View is the definition of a view.
type View struct {
	Text      string // source of its query
	DependsOn []ID
	// DependsOnKeys are the OIDs of the primary keys on which a GROUP BY in Text rests: without
	// them columns that are not grouped would have no one value.
	DependsOnKeys []ID
	// SearchPath is what names without a schema in Text resolve against; none are in texts written
	// by this version.
	SearchPath []string
	// Unpopulated: the materialized view has no rows yet, and may not be read before REFRESH.
	Unpopulated bool `json:",omitempty"`
	// Incremental is set for a materialized view that follows its tables by itself.
	Incremental *Incremental `json:",omitempty"`
}

// CheckOption returns "local", "cascaded", or "" for a view without CHECK OPTION.
func (d *Desc) CheckOption() string { return d.option("check_option") }

// SecurityInvoker reports whether the privileges on what the view reads are those of the role that
// runs the statement, instead of the view's owner.
func (d *Desc) SecurityInvoker() bool { return d.on("security_invoker") }

// SecurityBarrier reports whether the view's condition is tested before any other on its rows.
func (d *Desc) SecurityBarrier() bool { return d.on("security_barrier") }

// on reports the value of a boolean option, however it was written.
func (d *Desc) on(name string) bool {
	on, _ := types.ParseBool(d.option(name))
	return on
}

// option returns the value of an option, "" if it is not set.
func (d *Desc) option(name string) string {
	for _, o := range d.Options {
		if value, ok := strings.CutPrefix(o, name+"="); ok {
			return strings.ToLower(value)
		}
	}
	return ""
}

// Incremental is what a materialized view that follows its tables is made of, beside its rows. How
// far it has followed them is its state ([ViewState]).
type Incremental struct {
	Uses []Use
	// States are the relations with the view's groups, in the order in which package
	// planner/incremental numbers them.
	States []*Desc `json:"-"` // package catalog encodes them as it encodes d
}

// Use is a relation whose changes a view follows: a table, or another incremental view.
type Use struct {
	Relation ID
	Columns  []ColumnID `json:",omitempty"` // those that count, in ascending order; nil: all
}

// Sequence is the definition of a sequence; its state lives under a key of its own.
type Sequence struct {
	Start, Increment, Min, Max, Cache int64
	Cycle                             bool
	OwnerTable                        ID
	OwnerColumn                       ColumnID
	Type                              types.OID
	// Epoch numbers the runs of positions of one sequence. A change that restarts it or alters how
	// it counts begins a new run, at Last, so that it can be rolled back. Called reports whether
	// Last was handed out already.
	Epoch  uint32
	Last   int64
	Called bool
}

// HasRows reports whether the store keeps rows of the relation: those of a table, of a materialized
// view, or of what an incremental one keeps beside.
func (d *Desc) HasRows() bool {
	return d.Kind == KindTable || d.Kind == KindMaterializedView || d.Kind == KindState
}

// States returns the relations that an incremental view keeps beside its rows.
func (d *Desc) States() []*Desc {
	if d.View == nil || d.View.Incremental == nil {
		return nil
	}
	return d.View.Incremental.States
}

// IsQuery reports whether the relation stands for its query wherever it is read.
func (d *Desc) IsQuery() bool { return d.View != nil && d.Kind != KindMaterializedView }

// Column returns the column named name, or -1: an index into d.Columns.
func (d *Desc) Column(name string) int {
	for i := range d.Columns {
		if d.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// ColumnByID returns the index into d.Columns of the column with the ID, or -1.
func (d *Desc) ColumnByID(id ColumnID) int {
	for i := range d.Columns {
		if d.Columns[i].ID == id {
			return i
		}
	}
	return -1
}

// Part returns the ordinal of a column or an expression, or -1. Ordinals of expressions follow
// those of columns.
func (d *Desc) Part(id ColumnID) int {
	if i := d.ColumnByID(id); i >= 0 {
		return i
	}
	for i := range d.Exprs {
		if d.Exprs[i].ID == id {
			return len(d.Columns) + i
		}
	}
	return -1
}

// Expr returns the expression with an ordinal of Part, nil for one of a column.
func (d *Desc) Expr(ordinal int) *Expression {
	if i := ordinal - len(d.Columns); i >= 0 && i < len(d.Exprs) {
		return &d.Exprs[i]
	}
	return nil
}

// PartType returns the type of the column or expression with an ordinal of Part.
func (d *Desc) PartType(ordinal int) *types.Type {
	if e := d.Expr(ordinal); e != nil {
		return e.Type
	}
	return d.Columns[ordinal].Type
}

// HasExpr reports whether a key column of the index is an expression.
func (d *Desc) HasExpr(ix *Index) bool {
	return slices.ContainsFunc(ix.Columns,
		func(c IndexColumn) bool { return d.ColumnByID(c.ColumnID) < 0 })
}

// TrimExprs removes the expressions that no index has any more.
func (d *Desc) TrimExprs() {
	d.Exprs = slices.DeleteFunc(d.Exprs, func(e Expression) bool {
		return !slices.ContainsFunc(d.Indexes, func(ix Index) bool {
			return slices.ContainsFunc(ix.Columns,
				func(c IndexColumn) bool { return c.ColumnID == e.ID })
		})
	})
}

// Computes reports whether an index has an expression, a predicate or operators, which must be
// evaluated to make its entries.
func (d *Desc) Computes() bool {
	return len(d.Exprs) > 0 || slices.ContainsFunc(d.Indexes,
		func(ix Index) bool { return ix.WhereText != "" || ix.Exclusion() })
}

// PrimaryKey returns the primary key's index, or nil.
func (d *Desc) PrimaryKey() *Index {
	return find(d.Indexes, func(ix *Index) bool { return ix.Primary })
}

// RowPrimaryKey returns the primary key's index if its columns are the row key, or nil. A
// deferrable primary key is an index beside rows with a hidden row key.
func (d *Desc) RowPrimaryKey() *Index {
	if pk := d.PrimaryKey(); pk != nil && pk.ID == RowIndexID {
		return pk
	}
	return nil
}

// ChecksLater reports whether writing the table's rows may leave checks for the end of the
// statement or of the transaction, or needs row locks: of foreign keys, its own or to it, of
// deferrable keys, and of EXCLUDE constraints.
func (d *Desc) ChecksLater() bool {
	return d.References() || slices.ContainsFunc(d.Indexes,
		func(ix Index) bool { return ix.Deferrable || ix.Exclusion() })
}

// find returns the first item of a list that is looked for, or nil.
func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Clone returns a copy that may be changed, down to the types, which are shared for ever.
func (d *Desc) Clone() *Desc {
	c := *d
	c.prepared, c.readAt = nil, 0
	c.Columns = slices.Clone(d.Columns)
	for i := range c.Columns {
		c.Columns[i].Options = slices.Clone(c.Columns[i].Options)
	}
	c.RowKey = slices.Clone(d.RowKey)
	c.Exprs = slices.Clone(d.Exprs)
	c.Indexes = slices.Clone(d.Indexes)
	for i := range c.Indexes {
		ix := &c.Indexes[i]
		ix.Columns = slices.Clone(ix.Columns)
		ix.Include = slices.Clone(ix.Include)
		ix.Options = slices.Clone(ix.Options)
	}
	c.Checks, c.Policies = slices.Clone(d.Checks), clonePolicies(d.Policies)
	c.ForeignKeys = slices.Clone(d.ForeignKeys)
	for i := range c.ForeignKeys {
		fk := &c.ForeignKeys[i]
		fk.Columns, fk.RefColumns = slices.Clone(fk.Columns), slices.Clone(fk.RefColumns)
		fk.OnDeleteColumns = slices.Clone(fk.OnDeleteColumns)
	}
	c.ReferencedBy, c.Types = slices.Clone(d.ReferencedBy), slices.Clone(d.Types)
	c.Options, c.Observers = slices.Clone(d.Options), slices.Clone(d.Observers)
	for i := range c.Observers {
		c.Observers[i].Columns = slices.Clone(c.Observers[i].Columns)
	}
	if d.View != nil {
		v := *d.View
		v.DependsOn, v.DependsOnKeys = slices.Clone(v.DependsOn), slices.Clone(v.DependsOnKeys)
		v.SearchPath = slices.Clone(v.SearchPath)
		v.Incremental = v.Incremental.clone()
		c.View = &v
	}
	if d.Sequence != nil {
		s := *d.Sequence
		c.Sequence = &s
	}
	return &c
}

// Rekey notes that the descriptor is to take the place of one under which the same rows had other
// keys, though the key columns are the same. It is not stored.
func (d *Desc) Rekey() { d.rekeyed = true }

// Rekeyed reports whether Rekey was called.
func (d *Desc) Rekeyed() bool { return d.rekeyed }

// Follows reports whether the view uses a relation.
func (i *Incremental) Follows(id ID) bool {
	return slices.ContainsFunc(i.Uses, func(u Use) bool { return u.Relation == id })
}

func (i *Incremental) clone() *Incremental {
	if i == nil {
		return nil
	}
	c := *i
	c.Uses = slices.Clone(i.Uses)
	for j := range c.Uses {
		c.Uses[j].Columns = slices.Clone(c.Uses[j].Columns)
	}
	c.States = slices.Clone(i.States)
	for j := range c.States {
		c.States[j] = c.States[j].Clone()
	}
	return &c
}

// Incremental reports whether the relation is a materialized view that follows its tables.
func (d *Desc) Incremental() bool { return d.View != nil && d.View.Incremental != nil }

// Storage returns the storage ID of the rows and index entries.
func (d *Desc) Storage() StorageID {
	if d.StorageID != 0 {
		return d.StorageID
	}
	return StorageID(d.ID)
}

// Storage returns the number that pg_class shows as relfilenode.
func (ix *Index) Storage() StorageID {
	if ix.StorageID != 0 {
		return ix.StorageID
	}
	return StorageID(ix.OID)
}

// Span holds all rows and index entries of the table.
func (d *Desc) Span() kv.Span { return StorageSpan(d.Storage()) }

// IndexSpan holds the entries of one index, or with RowIndexID the rows.
func (d *Desc) IndexSpan(ix IndexID) kv.Span { return PrefixSpan(d.indexPrefix(ix)) }

// indexPrefix begins the keys of one index, or with RowIndexID of the rows.
func (d *Desc) indexPrefix(ix IndexID) []byte {
	return appendUint(storagePrefix(d.Storage()), uint32(ix))
}

// Index returns the index with the ID, or nil.
func (d *Desc) Index(id IndexID) *Index {
	return find(d.Indexes, func(ix *Index) bool { return ix.ID == id })
}

// IndexByOID returns the index with that object ID, or nil.
func (d *Desc) IndexByOID(oid ID) *Index {
	return find(d.Indexes, func(ix *Index) bool { return ix.OID == oid })
}

// IndexByName returns the index of that name, or nil.
func (d *Desc) IndexByName(name string) *Index {
	return find(d.Indexes, func(ix *Index) bool { return ix.Name == name })
}

// InUniqueKey reports whether the column with an ordinal may decide about the row key or a unique
// index's key: it is part of one, or the index has an expression or a predicate, which may read it.
func (d *Desc) InUniqueKey(ordinal int) bool {
	in := func(cols []IndexColumn) bool {
		return slices.ContainsFunc(cols,
			func(c IndexColumn) bool { return c.ColumnID == d.Columns[ordinal].ID })
	}
	return in(d.RowKey) || slices.ContainsFunc(d.Indexes, func(ix Index) bool {
		return (ix.Unique || ix.Exclusion()) &&
			(in(ix.Columns) || ix.WhereText != "" || d.HasExpr(&ix))
	})
}

// VisibleColumns is the number of columns that * stands for.
func (d *Desc) VisibleColumns() int {
	n := 0
	for i := range d.Columns {
		if !d.Columns[i].Hidden {
			n++
		}
	}
	return n
}
