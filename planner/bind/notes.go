package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Notes are facts about the nodes of a statement tree that the binder records. They suffice to
// print the tree with all names and types resolved (package deparse), and to find what a query
// depends on.
//
// While the binder takes notes it treats a view like a table: it does not bind the view's query.
type Notes struct {
	// Types are the types of expressions, before the node around them coerced them.
	Types map[ast.Expr]*types.Type
	// Columns are the columns that names refer to: by *ast.ColumnRef, or by *ast.FieldSelect of a
	// column.
	Columns map[ast.Expr]ColumnNote
	// Rows are expressions that mean a whole row of an entry of FROM, with the entry.
	Rows map[ast.Expr]ast.TableExpr
	// Stars are the columns of each *ast.Star, and of each *ast.FieldSelect of all fields.
	Stars map[ast.Expr][]ColumnNote
	// Fields are those of each *ast.FieldSelect of all fields of a value.
	Fields map[ast.Expr][]types.Attribute
	// Projections are the calls f(x) that mean (x).f.
	Projections map[ast.Expr]bool
	// Calls are the names t.f that mean f(t).
	Calls map[ast.Expr]CallNote
	// Definitions are the column definition lists of functions in FROM, by their *ast.FuncCall.
	Definitions map[ast.Expr][]types.Attribute
	// Tables are the named entries of FROM.
	Tables map[ast.TableExpr]*TableNote
	// Combined are the joins with a merged column that is an expression over both sides.
	Combined map[*ast.Join]bool
	// Results are the result columns of queries and of their parts.
	Results map[ast.QueryBody][]ResultNote
	// Keys are the primary keys that GROUP BY depends on: without them the query is not valid.
	Keys []table.ID
	// Reads lists the relations that the statement names, each once.
	Reads []table.ID
}

// ColumnNote is a column of an entry of FROM: Index counts its visible columns from 0. Without
// Table it is the merged column of Join at Index of its USING, which has only a name.
type ColumnNote struct {
	Table ast.TableExpr
	Join  *ast.Join
	Index int
	Name  string
	Type  *types.Type
}

// CallNote is a call of a function with a row of an entry of FROM.
type CallNote struct {
	Function string
	Table    ast.TableExpr
}

// SystemColumn is the Index of a system column, which is none of the entry's visible columns.
const SystemColumn = -1

// TableNote is an entry of FROM. Desc is nil if it is not a relation of the catalog, such as a WITH
// query.
type TableNote struct {
	Desc  *table.Desc
	Names []string // of the visible columns, aliases applied
	Types []*types.Type
}

// ResultNote is a result column of a query.
type ResultNote struct {
	Name string
	Type *types.Type
	// Collation is "" for that of the type. It is Undetermined if others conflict.
	Collation    string
	Undetermined bool
}

func newNotes() *Notes {
	return &Notes{
		Types: map[ast.Expr]*types.Type{}, Columns: map[ast.Expr]ColumnNote{},
		Rows: map[ast.Expr]ast.TableExpr{}, Stars: map[ast.Expr][]ColumnNote{},
		Fields: map[ast.Expr][]types.Attribute{}, Projections: map[ast.Expr]bool{},
		Calls: map[ast.Expr]CallNote{}, Definitions: map[ast.Expr][]types.Attribute{},
		Tables: map[ast.TableExpr]*TableNote{}, Results: map[ast.QueryBody][]ResultNote{},
		Combined: map[*ast.Join]bool{},
	}
}

func (b *binder) noteType(e ast.Expr, bound expr.Expr) {
	if b.notes != nil && bound != nil {
		b.notes.Types[e] = bound.Type()
	}
}

// noteEntry records an entry of FROM that is bound.
func (b *binder) noteEntry(ref ast.TableExpr, t *fromTable) {
	t.ref = ref
	if b.notes == nil {
		return
	}
	n := &TableNote{Desc: t.desc}
	for i := range t.cols {
		n.Names = append(n.Names, t.cols[i].name)
		n.Types = append(n.Types, b.visibleRef(&t.cols[i], 0).Type())
	}
	b.notes.Tables[ref] = n
}

// noteSystemColumn records a reference to a system column. Its index says that it is none of the
// columns that the entry lists.
func (b *binder) noteSystemColumn(ref *ast.ColumnRef, t *fromTable, typ *types.Type) {
	if b.notes != nil {
		b.notes.Columns[ref] = ColumnNote{Table: t.ref, Index: SystemColumn, Name: ref.Name,
			Type: typ}
	}
}

// noteColumn records what a name refers to: the column v of one of the tables.
func (b *binder) noteColumn(e ast.Expr, tables []*fromTable, v *visible) {
	if b.notes != nil {
		b.notes.Columns[e] = b.columnNote(tables, v)
	}
}

// columnNote returns the entry of FROM that has the column.
func (b *binder) columnNote(tables []*fromTable, v *visible) ColumnNote {
	note := ColumnNote{Name: v.name, Type: b.visibleRef(v, 0).Type()}
	for _, t := range tables {
		for i := range t.cols {
			if c := &t.cols[i]; c.name == v.name && c.id == v.id && c.e == v.e {
				note.Table, note.Index = t.ref, i
				return note
			}
		}
	}
	note.Join, note.Index = v.join, v.position
	return note
}

func (b *binder) noteCombined(j *ast.Join) {
	if b.notes != nil {
		b.notes.Combined[j] = true
	}
}

func (b *binder) noteStar(e ast.Expr, tables []*fromTable, cols []visible) {
	if b.notes == nil {
		return
	}
	notes := make([]ColumnNote, len(cols))
	used := map[ColumnNote]bool{}
	for i := range cols {
		notes[i] = b.columnNote(tables, &cols[i])
		for used[notes[i]] && notes[i].Table != nil &&
			notes[i].Index+1 < len(b.notes.Tables[notes[i].Table].Names) {
			notes[i].Index++ // the next of two columns with one name
		}
		used[notes[i]] = true
	}
	b.notes.Stars[e] = notes
}

func (b *binder) noteFields(e ast.Expr, fields []types.Attribute) {
	if b.notes != nil {
		b.notes.Fields[e] = fields
	}
}

// noteProjection records what f(x) means: a column of an entry of FROM, or a field.
func (b *binder) noteProjection(call *ast.FuncCall, t *fromTable) {
	switch {
	case b.notes == nil:
	case t == nil:
		b.notes.Projections[call] = true
	default:
		ref := &ast.ColumnRef{Name: call.Name.Name}
		b.notes.Columns[call] = b.columnNote([]*fromTable{t}, columnNamed(t.cols, ref))
	}
}

func (b *binder) noteCall(e ast.Expr, name string, t *fromTable) {
	if b.notes != nil {
		b.notes.Calls[e] = CallNote{Function: name, Table: t.ref}
	}
}

func (b *binder) noteDefinition(call *ast.FuncCall, fields []types.Attribute) {
	if b.notes != nil {
		b.notes.Definitions[call] = fields
	}
}

func (b *binder) noteRow(e ast.Expr, t *fromTable) {
	if b.notes != nil {
		b.notes.Rows[e] = t.ref
	}
}

// noteResult records the result columns of a query, or of an operand of a set operation.
func (b *binder) noteResult(body ast.QueryBody, q *logical.Query) {
	if b.notes == nil || q == nil {
		return
	}
	out := make([]ResultNote, len(q.Cols))
	for i, c := range q.Cols {
		t := b.meta.Cols[c.ID].Type
		out[i] = ResultNote{Name: c.Name, Type: t}
		collation, own := b.columnCollation(c.ID).valid(), typeCollation(t)
		out[i].Undetermined = collation == "" && own != ""
		if collation != own {
			out[i].Collation = collation
		}
	}
	b.notes.Results[body] = out
}

func (b *binder) noteKey(d *table.Desc) {
	if b.notes == nil {
		return
	}
	if ix := d.PrimaryKey(); ix != nil {
		b.notes.Keys = append(b.notes.Keys, ix.OID)
	}
}
