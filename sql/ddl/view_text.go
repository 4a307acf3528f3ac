package ddl

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
)

// A view keeps its query as text. What the text says must not drift when tables change: stars are
// written out when the view is made, and names of tables follow when a table is renamed.

// edit replaces text[from:to].
type edit struct {
	from, to int
	with     string
}

func applyEdits(text string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		text = text[:e.from] + e.with + text[e.to:]
	}
	return text
}

// expandStars writes out * and t.* in the select lists that give the view its columns. One that
// cannot be named (two columns of one name) stays.
func (env *Env) expandStars(ctx context.Context, text string) (string, error) {
	q, err := env.Planner.ParseQuery(text)
	if err != nil {
		return "", err
	}
	var edits []edit
	for _, arm := range arms(q, q.With) {
		for _, it := range arm.core.Items {
			star, ok := it.Expr.(*ast.Star)
			if !ok {
				continue
			}
			end := int(star.Pos) - 1
			for end >= 0 && end < len(text) && text[end] != '*' {
				end++
			}
			if end < 0 || end >= len(text) {
				continue
			}
			names, err := env.starColumns(ctx, arm, star)
			if err != nil {
				return "", err
			}
			if names != nil {
				edits = append(edits, edit{int(star.Pos) - 1, end + 1, strings.Join(names, ", ")})
			}
		}
	}
	return applyEdits(text, edits), nil
}

// arm is a select core of a query's set operations, with the CTEs that it sees.
type arm struct {
	core *ast.SelectCore
	with *ast.With
}

func arms(body ast.QueryBody, with *ast.With) []arm {
	switch b := body.(type) {
	case *ast.Select:
		if b.With != nil {
			with = b.With
		}
		return arms(b.Body, with)
	case *ast.SetOp:
		return append(arms(b.Left, with), arms(b.Right, with)...)
	case *ast.SelectCore:
		return []arm{{b, with}}
	}
	return nil
}

// starColumns lists the columns that a star stands for; nil when their names do not tell them apart.
func (env *Env) starColumns(ctx context.Context, a arm, star *ast.Star) ([]string, error) {
	cols, _, err := env.queryColumns(ctx, &ast.Select{With: a.with, Body: &ast.SelectCore{
		Items: []ast.SelectItem{{Expr: star}}, From: a.core.From, Windows: a.core.Windows}})
	if err != nil {
		return nil, err
	}
	prefix := ""
	for _, q := range star.Qualifier {
		prefix += sqlname.Quote(q) + "."
	}
	var names []string
	for _, c := range cols {
		name := prefix + sqlname.Quote(c.Name)
		if slices.Contains(names, name) {
			return nil, nil
		}
		names = append(names, name)
	}
	return names, nil
}

// renameTables makes a view's text read relation was under the name of is. ok is false when the
// text speaks of it in a way that cannot be followed.
func (env *Env) renameTables(view *table.Desc, was, is *table.Desc) (text string, ok bool, err error) {
	text = view.View.Text
	q, err := env.Planner.ParseQuery(text)
	if err != nil {
		return "", false, err
	}
	shadowed := false
	var edits []edit
	visit(reflect.ValueOf(q), func(n any) {
		switch n := n.(type) {
		case *ast.With:
			for _, c := range n.CTEs {
				shadowed = shadowed || c.Name == was.Name
			}
		case *ast.TableRef:
			if n.Name.Name != was.Name || n.Name.Schema != "" && n.Name.Schema != was.Schema {
				return
			}
			start, end, found := nameSpan(text, int(n.Name.Pos)-1)
			if !found {
				shadowed = true
				return
			}
			name := sqlname.Qualified(is.Schema, is.Name)
			if n.Alias == "" {
				name += " AS " + sqlname.Quote(was.Name) // what the query's columns are qualified with
			}
			edits = append(edits, edit{start, end, name})
		}
	})
	return applyEdits(text, edits), !shadowed, nil
}

// nameSpan is the extent of the dotted name that begins at pos.
func nameSpan(text string, pos int) (start, end int, ok bool) {
	_, end, ok = lastIdent(text, pos)
	return pos, end, ok
}

// visit calls f for every pointer to a struct in a tree.
func visit(v reflect.Value, f func(any)) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			visit(v.Elem(), f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			f(v.Interface())
			visit(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Field(i), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), f)
		}
	}
}
