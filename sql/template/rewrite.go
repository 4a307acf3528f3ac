package template

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/types"
)

// New makes the template of a shape from the statement of one of its texts, which it leaves as it
// is. The Stmt is nil where no literal may become a parameter.
func New(s *parse.Shape, stmt ast.Statement) *Template {
	r := &rewriter{shape: s, t: &Template{Text: string(s.Text),
		slots: make([]slot, len(s.Literals))}}
	for i, lit := range s.Literals {
		r.t.slots[i].text = strings.Clone(lit.Text) // and not the text that it is a part of
	}
	switch st := stmt.(type) {
	case *ast.Select:
		r.t.Stmt = r.query(st)
	case *ast.Insert:
		r.t.Stmt = r.insert(st)
	case *ast.Update:
		r.t.Stmt = r.update(st)
	case *ast.Delete:
		r.t.Stmt = r.delete(st)
	}
	if len(r.t.Declared) == 0 {
		r.t.Stmt = nil
	}
	return r.t
}

// rewriter puts parameters into copies of the nodes above literals.
type rewriter struct {
	shape *parse.Shape
	t     *Template
}

func (r *rewriter) query(st *ast.Select) ast.Statement {
	core, ok := st.Body.(*ast.SelectCore)
	if !ok || st.With != nil || st.AsOf != nil || core.Into != nil || len(core.From) != 1 {
		return nil
	}
	if _, ok := core.From[0].(*ast.TableRef); !ok {
		return nil
	}
	query, body := *st, *core
	body.Where = r.condition(core.Where)
	query.Body = &body
	return &query
}

func (r *rewriter) insert(st *ast.Insert) ast.Statement {
	if st.With != nil || st.Query == nil || st.Query.With != nil {
		return nil
	}
	values, ok := st.Query.Body.(*ast.Values)
	if !ok || len(st.Query.OrderBy) > 0 || st.Query.Limit != nil || st.Query.Offset != nil {
		return nil
	}
	rows := make([][]ast.Expr, len(values.Rows))
	for i, row := range values.Rows {
		rows[i] = slices.Clone(row)
		for j, e := range row {
			rows[i][j] = r.literal(e)
		}
	}
	insert, query := *st, *st.Query
	query.Body = &ast.Values{Pos: values.Pos, Rows: rows}
	insert.Query = &query
	if st.OnConflict != nil {
		conflict := *st.OnConflict
		conflict.Set = r.assignments(conflict.Set)
		insert.OnConflict = &conflict
	}
	return &insert
}

func (r *rewriter) update(st *ast.Update) ast.Statement {
	if st.With != nil || len(st.From) > 0 || st.CurrentOf != "" {
		return nil
	}
	update := *st
	update.Set = r.assignments(st.Set)
	update.Where = r.condition(st.Where)
	return &update
}

func (r *rewriter) delete(st *ast.Delete) ast.Statement {
	if st.With != nil || len(st.Using) > 0 || st.CurrentOf != "" {
		return nil
	}
	deletion := *st
	deletion.Where = r.condition(st.Where)
	return &deletion
}

// assignments rewrites those of a literal, or of a column plus or minus a number.
func (r *rewriter) assignments(set []ast.Assignment) []ast.Assignment {
	set = slices.Clone(set)
	for i := range set {
		if set[i].Multi {
			continue
		}
		switch e := set[i].Value.(type) {
		case *ast.Literal:
			set[i].Value = r.literal(e)
		case *ast.Binary:
			lit, ok := e.Right.(*ast.Literal)
			if (e.Op == "+" || e.Op == "-") && isColumn(e.Left) && ok &&
				lit.Kind == ast.LiteralInt {
				set[i].Value = &ast.Binary{Pos: e.Pos, Op: e.Op, Left: e.Left,
					Right: r.literal(lit)}
			}
		}
	}
	return set
}

// condition rewrites comparisons of a column with a literal, joined by AND.
func (r *rewriter) condition(e ast.Expr) ast.Expr {
	b, ok := e.(*ast.Binary)
	if !ok {
		return e
	}
	out := *b
	switch b.Op {
	case "and":
		out.Left, out.Right = r.condition(b.Left), r.condition(b.Right)
	case "=", "<>", "<", "<=", ">", ">=":
		switch {
		case isColumn(b.Left):
			out.Right = r.literal(b.Right)
		case isColumn(b.Right):
			out.Left = r.literal(b.Left)
		}
	}
	return &out
}

func isColumn(e ast.Expr) bool {
	_, ok := e.(*ast.ColumnRef)
	return ok
}

// literal returns the parameter that takes a literal's place, or what it is given if that is none
// of the shape.
func (r *rewriter) literal(e ast.Expr) ast.Expr {
	lit, ok := e.(*ast.Literal)
	if !ok {
		return e
	}
	for i := range r.shape.Literals {
		l, slot := &r.shape.Literals[i], &r.t.slots[i]
		negative := l.Minus != 0 && l.Minus == lit.Pos && lit.Text == "-"+l.Text
		if l.Kind != lit.Kind || slot.param != 0 || !negative &&
			(l.Pos != lit.Pos || l.Text != lit.Text) {
			continue
		}
		var declared *types.Type
		if l.Kind == ast.LiteralInt {
			declared = types.TInt4
		}
		r.t.Declared = append(r.t.Declared, declared)
		slot.param, slot.negative = len(r.t.Declared), negative
		return &ast.Param{Pos: lit.Pos, N: len(r.t.Declared)}
	}
	return e
}
