package ddl

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
)

func (a *alteration) renameColumn(ctx context.Context, act *ast.AlterAction) error {
	o := a.d.Column(act.Column.Name)
	if o < 0 || a.d.Columns[o].Hidden {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", act.Column.Name)
	}
	to := act.NewName.Name
	if slices.Contains(systemColumns, to) {
		return sqlerr.New(sqlerr.DuplicateColumn, "column name \"%s\" conflicts with a system column name", to)
	}
	if a.d.Column(to) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", to, a.d.Name)
	}
	views, err := a.viewsOf(ctx, act.Column.Name)
	if err != nil {
		return err
	}
	if len(views) > 0 {
		return sqlerr.Unsupported(int(act.Pos), "renaming a column that a view reads").
			WithDetail("%s depends on column %s of %s.", a.env.describe(views[0]), sqlname.Quote(act.Column.Name), a.env.describe(a.d))
	}
	next := a.d.Clone()
	next.Columns[o].Name = to
	for i := range next.Columns {
		if next.Columns[i].Generated, err = a.env.renameIn(next.Columns[i].Generated, act.Column.Name, to); err != nil {
			return err
		}
	}
	for i := range next.Checks {
		if next.Checks[i].Text, err = a.env.renameIn(next.Checks[i].Text, act.Column.Name, to); err != nil {
			return err
		}
	}
	return a.update(ctx, next)
}

// renameIn replaces a column's name in the text of an expression over one row.
func (env *Env) renameIn(text, from, to string) (string, error) {
	if text == "" {
		return "", nil
	}
	e, err := env.parse(text)
	if err != nil {
		return "", err
	}
	var at []int
	visit(reflect.ValueOf(e), func(n any) {
		if r, ok := n.(*ast.ColumnRef); ok && r.Name == from {
			at = append(at, int(r.Pos)-1)
		}
	})
	slices.Sort(at)
	for _, pos := range slices.Backward(slices.Compact(at)) {
		start, end, ok := lastIdent(text, pos)
		if !ok || identValue(text[start:end]) != from {
			return "", sqlerr.New(sqlerr.FeatureNotSupported, "renaming column \"%s\" in the expression %s is not supported", from, text)
		}
		text = text[:start] + sqlname.Quote(to) + text[end:]
	}
	return text, nil
}

// lastIdent finds the last part of the dotted name that begins at pos.
func lastIdent(text string, pos int) (start, end int, ok bool) {
	for {
		if pos < 0 || pos >= len(text) {
			return 0, 0, false
		}
		start, end = pos, identEnd(text, pos)
		if end == start {
			return 0, 0, false
		}
		next := end
		for next < len(text) && strings.IndexByte(" \t\n\r", text[next]) >= 0 {
			next++
		}
		if next >= len(text) || text[next] != '.' {
			return start, end, true
		}
		pos = next + 1
		for pos < len(text) && strings.IndexByte(" \t\n\r", text[pos]) >= 0 {
			pos++
		}
	}
}

func identEnd(text string, pos int) int {
	if text[pos] == '"' {
		for i := pos + 1; i < len(text); i++ {
			if text[i] != '"' {
				continue
			}
			if i+1 < len(text) && text[i+1] == '"' {
				i++
				continue
			}
			return i + 1
		}
		return pos
	}
	i := pos
	for i < len(text) && (text[i] == '_' || text[i] == '$' || text[i] >= 0x80 ||
		text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z' || text[i] >= '0' && text[i] <= '9') {
		i++
	}
	return i
}

func identValue(s string) string {
	if strings.HasPrefix(s, `"`) {
		return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
	}
	return strings.ToLower(s)
}

// viewHolds says whether a view's query can still be planned, with the columns that the view has.
func (env *Env) viewHolds(ctx context.Context, v *table.Desc) (bool, error) {
	cols, _, err := env.queryColumns(ctx, &ast.Select{Body: &ast.SelectCore{
		Items: []ast.SelectItem{{Expr: &ast.Star{}}},
		From:  []ast.TableExpr{&ast.TableRef{Name: ast.Name{Schema: v.Schema, Name: v.Name}}},
	}})
	if err != nil {
		var se *sqlerr.Error
		if asSQL(err, &se) {
			return false, nil
		}
		return false, err
	}
	if len(cols) != len(v.Columns) {
		return false, nil
	}
	for i := range cols {
		if cols[i].Type.OID != v.Columns[i].Type.OID || cols[i].Type.Mod != v.Columns[i].Type.Mod {
			return false, nil
		}
	}
	return true, nil
}
