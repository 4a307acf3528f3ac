package pgcatalog

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
)

// Env is what the rows are made from: the state of one session and of its database.
type Env interface {
	View() *catalog.View
	// Planner serves binding the expressions and queries that the catalog keeps.
	Planner(ctx context.Context) *planner.Env
	Database() (id table.ID, name string)
	// Authority is what the session is allowed.
	Authority(ctx context.Context) (*acl.Authority, error)
	// Present is the descriptor by which rights on a relation are judged: the newest.
	Present(ctx context.Context, d *table.Desc) (*table.Desc, error)
	SearchPath(ctx context.Context) []string
	Settings(ctx context.Context) []Setting
	Activity() []Activity
	Progress() []Progress
	SequencePosition(ctx context.Context, d *table.Desc) (last int64, called bool, err error)
	Prepared() []Prepared
	Cursors() []Cursor
	Locks() []Lock
	// Entry is what the session's transaction sees stored under a key; nil: nothing.
	Entry(ctx context.Context, key []byte) ([]byte, error)
	// SafeSnapshotBlockers are the sessions whose end a DEFERRABLE one waits for.
	SafeSnapshotBlockers(pid int32) []int32
	Conflicts() []Conflict
	Reruns() []Reruns
	// Holds are those in force on the store's past.
	Holds(ctx context.Context) ([]txn.HeldPast, error)
	// Memory is what the process holds in memory.
	Memory() memory.Stats
	// Pending is what waits for an observer, DeadLetters what it has given up, and ObserverStats
	// what it has done in this process; false: it does not run here.
	Pending(ctx context.Context, o catalog.Observed) (Pending, error)
	DeadLetters(ctx context.Context, o catalog.Observed,
		visit func(l *observer.DeadLetter) error) error
	ObserverStats(o catalog.Observed) (st observer.Stats, running bool)
	// PendingFor is what waits for an incremental view, among the tables that it follows: what is
	// later than its frontier. ViewStats is what the advances of its group in this process have
	// done; false: nothing in this process advances it.
	PendingFor(ctx context.Context, followed []*table.Desc, st *table.ViewState) (Pending, error)
	ViewStats(view table.ID) (st ViewStats, running bool)
	// TableStatistics are what the session's transaction sees of a table's statistics; nil: there
	// are none.
	TableStatistics(ctx context.Context, d *table.Desc) (*stats.Table, error)
	TableCounters(ctx context.Context, d *table.Desc) (stats.Counters, error)
	Format() *types.Format
	// TypeOID finds a type as it is written in SQL.
	TypeOID(ctx context.Context, text string) (types.OID, error)
}

// Setting is a row of pg_settings.
type Setting struct {
	Name, Value, Unit, Category, Desc, Context, Kind, Source string
	Min, Max                                                 int64
	Enum                                                     []string
	Boot, Reset                                              string
}

// Activity is a row of pg_stat_activity.
type Activity struct {
	PID                                 int32
	User, Database, Application, Client string
	DatabaseID                          uint32
	Role                                acl.RoleID
	TLS                                 *Encryption // nil: it is not encrypted
	// "active", "idle", "idle in transaction", "idle in transaction (aborted)"
	State                                         string
	Wait                                          string // what its statement waits for, of IPC
	Query                                         string
	Started, TxnStarted, QueryStart, StateChanged time.Time
	// Oldest is start_ts of the oldest transaction that the session runs in the store: no version
	// that it may read is dropped meanwhile. Writing is start_ts of the oldest that has written.
	// Zero: none.
	Oldest, Writing tso.Timestamp
}

// horizon is a timestamp as an xid whose order is that of time: the lower 32 bits of its
// milliseconds.
func horizon(ts tso.Timestamp) any {
	if ts == 0 {
		return nil
	}
	return int64(uint32(ts.Physical()))
}

// transactionID is the xid of the transaction with that start timestamp.
func transactionID(ts tso.Timestamp) any {
	if ts == 0 {
		return nil
	}
	return types.XidOf(int64(ts))
}

// TransactionName is the text by which views name the transaction with that start timestamp.
func TransactionName(ts tso.Timestamp) string {
	return strconv.FormatInt(types.XidOf(int64(ts)), 10)
}

// Prepared is a row of pg_prepared_statements.
type Prepared struct {
	Name, Text string
	Types      []*types.Type
	FromSQL    bool
}

// Cursor is a row of pg_cursors.
type Cursor struct {
	Name, Text   string
	Hold, Scroll bool
}

// emitter takes a row as names and values in turn. Columns that are not named have the zero value
// of their type, as in PostgreSQL's catalogs; for texts, arrays and times that is NULL. A row after
// the reader's first error is dropped.
type emitter func(namesAndValues ...any)

// relation is one virtual table. columns is "name type, name type not null, name type null"; a type
// with [] is an array. Without rows, fixed and query it is empty.
type relation struct {
	schema  string
	name    string
	oid     table.ID
	columns string
	view    bool   // PostgreSQL has a view here
	query   string // of a view over other tables of pg_catalog
	rows    func(r *reader, emit emitter)
	fixed   func(emit emitter) // the same rows in every database
}

var tables struct {
	sync.Once
	g *registered
}

// registry is the list of all virtual tables, made on first use.
func registry() *registered {
	tables.Do(func() { tables.g = register() })
	return tables.g
}

func register() *registered {
	g := &registered{byName: map[string]*entry{}, byID: map[table.ID]*entry{},
		rows: map[types.OID]*entry{}, queries: map[string]bool{}}
	next := table.ID(12000)
	for _, r := range relations() {
		if r.oid == 0 {
			r.oid = next
			next++
		}
		e := newEntry(&r)
		if r.schema == "pg_catalog" {
			e.data = datasets()[r.name]
		}
		g.giveRowType(e)
		g.byName[r.schema+"."+r.name] = e
		g.byID[r.oid] = e
		g.all = append(g.all, e)
		g.queries[r.query] = true
	}
	return g
}

type registered struct {
	byName map[string]*entry
	byID   map[table.ID]*entry
	rows   map[types.OID]*entry // by the row type
	all    []*entry

	queries map[string]bool // the texts of system views
}

type entry struct {
	*relation
	desc    *table.Desc
	ordinal map[string]int
	zero    []types.Datum

	rowType   func() *types.Type     // made on first use
	fixedRows func() [][]types.Datum // made on first use
	data      *dataset               // PostgreSQL's rows; nil: none
}

func newEntry(r *relation) *entry {
	e := &entry{relation: r, desc: r.build(), ordinal: map[string]int{}}
	e.fixedRows = sync.OnceValue(e.makeFixed)
	e.rowType = sync.OnceValue(e.desc.Row)
	for i, c := range e.desc.Columns {
		e.ordinal[c.Name] = i
		z := types.Null
		switch c.Type.Family {
		case types.Bool, types.Int, types.Float:
			z = types.Datum{}
		case types.String:
			if c.Type.OID == types.OIDChar {
				z = types.Datum{}
			}
		}
		e.zero = append(e.zero, z)
	}
	return e
}

// OIDs of the system's schemas, as in PostgreSQL. There is nothing in pg_toast: a row is stored
// whole.
const (
	CatalogSchemaID     table.ID = 11
	toastSchemaID       table.ID = 99
	InformationSchemaID table.ID = 13207
)

func (r *relation) build() *table.Desc {
	d := &table.Desc{ID: r.oid, SchemaID: CatalogSchemaID, Schema: r.schema, Name: r.name,
		Kind: table.KindVirtual, Version: 1, ACL: listOf(r.schema, r.name)}
	if r.schema == "information_schema" {
		d.SchemaID = InformationSchemaID
	}
	if r.query != "" {
		d.View = &table.View{Text: r.query, SearchPath: []string{"pg_catalog"}}
		if r.schema != "pg_catalog" {
			d.View.SearchPath = append(d.View.SearchPath, r.schema)
		}
	}
	catalog := !r.view && r.schema == "pg_catalog"
	leading := catalog
	for i, text := range strings.Split(r.columns, ",") {
		text, notNull := strings.CutSuffix(strings.TrimSpace(text), " not null")
		text, null := strings.CutSuffix(text, " null")
		col := r.column(text)
		leading = leading && (col.Type.Len > 0 || isVector(col.Type))
		col.ID, col.NotNull = table.ColumnID(i+1), notNull || leading && !null
		if catalog && collationOf(col.Type, "") == defaultCollation {
			col.Collation = "C"
		}
		if r.name == "pg_subscription" && col.Name != "subconninfo" { // it may have a password
			col.ACL = acl.List{everyoneReads}
		}
		d.Columns = append(d.Columns, col)
	}
	d.NextColumnID = table.ColumnID(len(d.Columns) + 1)
	return d
}

// column reads `name type` or `name type collate "C"`.
func (r *relation) column(text string) table.Column {
	text, collated := strings.CutSuffix(text, ` collate "C"`)
	name, typ, _ := strings.Cut(text, " ")
	elem, array := strings.CutSuffix(typ, "[]")
	t, ok := types.ByName(elem)
	if !ok {
		panic("pgcatalog: " + r.name + "." + name + " has unknown type " + typ)
	}
	if array {
		t = types.ArrayOf(t)
	}
	col := table.Column{Name: name, Type: t}
	if collated {
		col.Collation = "C"
	}
	return col
}

// isVector reports whether a type is int2vector or oidvector. The columns of a catalog have no
// NULLs up to the first of a type without a fixed size; a vector counts as one of a fixed size.
func isVector(t *types.Type) bool {
	return t.OID == types.TInt2Vector.OID || t.OID == types.TOidVector.OID
}

// Lookup finds a virtual table by schema and name; nil when there is none.
func Lookup(schema, name string) *table.Desc {
	if e := registry().byName[schema+"."+name]; e != nil {
		return e.desc
	}
	return nil
}

// ByID finds a virtual table by its OID; nil when there is none.
func ByID(id table.ID) *table.Desc {
	if e := registry().byID[id]; e != nil {
		return e.desc
	}
	return nil
}

// IsSystemQuery reports whether the text is the query of a system view.
func IsSystemQuery(text string) bool { return registry().queries[text] }

// Rows emits the rows of a virtual table, of each the columns with these ordinals. The slice that
// emit gets is valid during the call.
func Rows(ctx context.Context, env Env, d *table.Desc, columns []int,
	emit func(row []types.Datum) error) error {
	e := registry().byID[d.ID]
	if e == nil {
		return sequenceState(ctx, env, d, columns, emit)
	}
	p := e.project(columns)
	for _, row := range e.fixedRows() {
		for i, c := range columns {
			p.row[i] = row[c]
		}
		if err := emit(p.row); err != nil {
			return err
		}
	}
	r := &reader{ctx: ctx, env: env, wanted: p.at}
	if e.data != nil {
		for _, set := range setsOf(e.name) {
			if err := set.emit(r, p, emit); err != nil {
				return err
			}
		}
		copy(p.row, p.zero)
	}
	if e.rows == nil {
		return r.err
	}
	e.rows(r, func(kv ...any) {
		if r.fail(ctx.Err()); r.err == nil {
			r.fail(emit(p.fill(kv)))
		}
	})
	return r.err
}

// makeFixed returns the rows that are the same in every database, with all columns.
func (e *entry) makeFixed() (rows [][]types.Datum) {
	if e.fixed == nil {
		return nil
	}
	all := make([]int, len(e.desc.Columns))
	for i := range all {
		all[i] = i
	}
	p := e.project(all)
	e.fixed(func(kv ...any) { rows = append(rows, slices.Clone(p.fill(kv))) })
	return rows
}

// projection makes rows of some columns of an entry's table.
type projection struct {
	e         *entry
	columns   []int          // the ordinals of the row's values
	at        map[string]int // place in row by the column's name
	zero, row []types.Datum
}

func (e *entry) project(columns []int) *projection {
	p := &projection{e: e, columns: columns, at: make(map[string]int, len(columns)),
		row: make([]types.Datum, len(columns))}
	for i, c := range columns {
		p.at[e.desc.Columns[c].Name] = i
		p.zero = append(p.zero, e.zero[c])
	}
	return p
}

// fill overwrites the last row with the next one.
func (p *projection) fill(kv []any) []types.Datum {
	copy(p.row, p.zero)
	for i := 0; i+1 < len(kv); i += 2 {
		name := kv[i].(string)
		if c, ok := p.at[name]; ok {
			p.row[c] = datum(kv[i+1])
		} else if _, ok := p.e.ordinal[name]; !ok {
			panic("pgcatalog: " + p.e.name + " has no column " + name)
		}
	}
	return p.row
}

// datum converts the Go values that rows are written with.
func datum(v any) types.Datum {
	switch x := v.(type) {
	case nil:
		return types.Null
	case string:
		return types.NewString(x)
	case bool:
		return types.NewBool(x)
	case float64:
		return types.NewFloat(x)
	case time.Time:
		if x.IsZero() {
			return types.Null
		}
		return types.NewInt(types.TimestampFromTime(x))
	case []int:
		return types.NewArray(datums(x))
	case []string:
		return types.NewArray(datums(x))
	case []table.ID:
		return types.NewArray(datums(x))
	case vector:
		return types.Datum{Arr: &types.ArrayValue{Elems: datums(x), Dims: []int{len(x)},
			Lower: []int{0}}}
	case types.Datum:
		return x
	}
	switch x := reflect.ValueOf(v); {
	case x.CanInt():
		return types.NewInt(x.Int())
	case x.CanUint(): // table.ID, types.OID
		return types.NewInt(int64(x.Uint()))
	}
	panic("pgcatalog: a value that is no datum")
}

func datums[T any](values []T) []types.Datum {
	out := make([]types.Datum, len(values))
	for i, v := range values {
		out[i] = datum(v)
	}
	return out
}

// vector is an int2vector or oidvector, which count from 0.
type vector []int

// orNone is NULL for an empty list.
func orNone(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

// orNull is NULL for the empty string.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// SequenceTable is the table of one row that SELECT reads of a sequence: its state.
func SequenceTable(seq *table.Desc) *table.Desc {
	return &table.Desc{ID: seq.ID, DatabaseID: seq.DatabaseID, SchemaID: seq.SchemaID,
		Schema: seq.Schema, Name: seq.Name,
		Kind: table.KindSequence, Version: seq.Version, Columns: sequenceColumns, NextColumnID: 4}
}

// sequenceState emits the row of a SequenceTable.
func sequenceState(ctx context.Context, env Env, d *table.Desc, columns []int,
	emit func(row []types.Datum) error) error {
	seq, err := env.View().RelationByID(ctx, d.ID)
	if err != nil || seq == nil || seq.Sequence == nil {
		return err
	}
	last, called, err := env.SequencePosition(ctx, seq)
	if err != nil {
		return err
	}
	state := []types.Datum{types.NewInt(last), types.NewInt(0), types.NewBool(called)}
	row := make([]types.Datum, len(columns))
	for i, c := range columns {
		row[i] = state[c]
	}
	return emit(row)
}
