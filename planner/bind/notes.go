package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Notes is what the binder found out about the nodes of a statement tree: enough to print the tree
// back with all names and types resolved (package deparse), and to find what a query depends on.
//
// While notes are taken a view is a relation like a table: its own query is not bound.
type Notes struct {
	// Types are the types of expressions, before the node around them coerced them.
	Types map[ast.Expr]*types.Type
	// Columns are what names resolve to: of an *ast.ColumnRef, or an *ast.FieldSelect that is one.
	Columns map[ast.Expr]ColumnNote
	// Rows are expressions that mean a whole row of an entry of FROM.
	Rows map[ast.Expr]ast.TableExpr
	// Stars are the columns that an *ast.Star, or an *ast.FieldSelect of all fields, stands for.
	Stars map[ast.Expr][]ColumnNote
	// Tables are the entries of FROM that have a name.
	Tables map[ast.TableExpr]*TableNote
	// Results are the result columns of queries and of their parts.
	Results map[ast.QueryBody][]ResultNote
	// Keys are the primary keys on which a GROUP BY rests: without them the query is not valid.
	Keys []KeyNote
	// Reads are the relations that the statement names, each once.
	Reads []table.ID
}

// ColumnNote is a column of an entry of FROM: Index counts from 0 in its visible columns. Without
// Table it is one that JOIN USING made of both sides, and has nothing but its name.
type ColumnNote struct {
	Table ast.TableExpr
	Index int
	Name  string
	Type  *types.Type
}

// TableNote is an entry of FROM: Desc is nil for what is no relation of the catalog, such as a WITH
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
}

// KeyNote names a primary key by the OID of its index.
type KeyNote struct {
	Table, Index table.ID
}

func newNotes() *Notes {
	return &Notes{
		Types: map[ast.Expr]*types.Type{}, Columns: map[ast.Expr]ColumnNote{},
		Rows: map[ast.Expr]ast.TableExpr{}, Stars: map[ast.Expr][]ColumnNote{},
		Tables: map[ast.TableExpr]*TableNote{}, Results: map[ast.QueryBody][]ResultNote{},
	}
}

func (b *binder) noteType(e ast.Expr, bound expr.Expr) {
	if b.notes != nil && bound != nil {
		b.notes.Types[e] = bound.Type()
	}
}

// noteEntry notes an entry of FROM that was just bound.
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

// noteColumn notes what a name means: the column v of one of the tables.
func (b *binder) noteColumn(e ast.Expr, tables []*fromTable, v *visible) {
	if b.notes != nil {
		b.notes.Columns[e] = b.columnNote(tables, v)
	}
}

// columnNote finds the entry of FROM that has the column.
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
	return note
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
			notes[i].Index++ // of two columns with one name, the next
		}
		used[notes[i]] = true
	}
	b.notes.Stars[e] = notes
}

func (b *binder) noteRow(e ast.Expr, t *fromTable) {
	if b.notes != nil {
		b.notes.Rows[e] = t.ref
	}
}

// noteResult notes the columns that a query, or an operand of a set operation, gives.
func (b *binder) noteResult(body ast.QueryBody, q *logical.Query) {
	if b.notes == nil || q == nil {
		return
	}
	out := make([]ResultNote, len(q.Cols))
	for i, c := range q.Cols {
		out[i] = ResultNote{Name: c.Name, Type: b.meta.Cols[c.ID].Type}
	}
	b.notes.Results[body] = out
}

func (b *binder) noteKey(d *table.Desc) {
	if b.notes == nil {
		return
	}
	if ix := d.PrimaryKey(); ix != nil {
		b.notes.Keys = append(b.notes.Keys, KeyNote{Table: d.ID, Index: ix.OID})
	}
}
