package bind

import (
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
)

// columnRef resolves a name to a column of this query or of an enclosing one, or to a variable of
// the program that the statement is part of.
func (b *binder) columnRef(sc *scope, ref *ast.ColumnRef) expr.Expr {
	if b.env.Variables != nil {
		if v := b.env.Variables.Variable(append(ref.Qualifier[:len(ref.Qualifier):len(
			ref.Qualifier)], ref.Name)); v != nil {
			return b.columnOrVariable(sc, ref, v)
		}
	}
	return b.columnOnly(sc, ref)
}

// columnOnly resolves a name to a column.
func (b *binder) columnOnly(sc *scope, ref *ast.ColumnRef) expr.Expr {
	if len(ref.Qualifier) == 0 {
		return b.bareColumn(sc, ref)
	}
	t, hidden := findTable(sc, ref.Qualifier)
	if t == nil {
		panic(failure.Of(missingTable(sc, ref.Qualifier, hidden, ref.Pos)))
	}
	if ambiguousTable(sc, ref.Qualifier) {
		panic(failure.At(ref.Pos, sqlerr.AmbiguousAlias, "table reference \"%s\" is ambiguous",
			t.alias))
	}
	if v := columnNamed(t.cols, ref); v != nil {
		b.noteColumn(ref, []*fromTable{t}, v)
		return b.visibleRef(v, ref.Pos)
	}
	if e := b.systemColumn(sc, t, ref); e != nil {
		return e
	}
	if e := b.functionOfRow(t, ref); e != nil {
		return e
	}
	panic(failure.Of(sqlerr.New(sqlerr.UndefinedColumn, "column %s.%s does not exist", t.alias,
		ref.Name).At(int(ref.Pos)).WithHint("%s", columnHint(sc, t.alias, ref.Name))))
}

// bareColumn resolves a name without qualifier: to a column of the nearest query that has one, else
// to a whole row of a table of that name.
func (b *binder) bareColumn(sc *scope, ref *ast.ColumnRef) expr.Expr {
	for s := sc; s != nil; s = s.outer {
		if e := b.localColumn(s, ref); e != nil {
			return e
		}
	}
	if t, _ := findTable(sc, []string{ref.Name}); t != nil {
		b.noteRow(ref, t)
		return b.wholeRow(t, ref.Pos)
	}
	panic(failure.Of(sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist",
		ref.Name).At(int(ref.Pos)).WithHint("%s", columnHint(sc, "", ref.Name))))
}

// localColumn resolves a bare name among one query's columns. It returns nil when there is none.
func (b *binder) localColumn(sc *scope, ref *ast.ColumnRef) expr.Expr {
	v := columnNamed(sc.cols, ref)
	if v == nil {
		return b.localSystemColumn(sc, ref)
	}
	b.noteColumn(ref, sc.tables, v)
	return b.visibleRef(v, ref.Pos)
}

// columnNamed returns the column that has the name of ref, or nil.
func columnNamed(cols []visible, ref *ast.ColumnRef) *visible {
	var found *visible
	for i := range cols {
		if cols[i].name != ref.Name {
			continue
		}
		if found != nil {
			panic(failure.Of(ambiguousColumn(ref.Name, ref.Pos)))
		}
		found = &cols[i]
	}
	return found
}

func ambiguousColumn(name string, pos ast.Pos) *sqlerr.Error {
	return sqlerr.New(sqlerr.AmbiguousColumn, "column reference \"%s\" is ambiguous",
		name).At(int(pos))
}

// findTable returns the FROM entry that matches a qualifier, in the nearest query that has one.
// hidden is an entry that matches but cannot be referenced.
func findTable(sc *scope, qualifier []string) (t, hidden *fromTable) {
	for s := sc; s != nil; s = s.outer {
		for _, t := range s.tables {
			if t.matches(qualifier) {
				return t, nil
			}
		}
		for _, t := range s.hidden {
			if hidden == nil && t.matches(qualifier) {
				hidden = t
			}
		}
	}
	return nil, hidden
}

// ambiguousTable reports whether two entries of the nearest query that has a match match a
// qualifier.
func ambiguousTable(sc *scope, qualifier []string) bool {
	for s := sc; s != nil; s = s.outer {
		n := 0
		for _, t := range s.tables {
			if t.matches(qualifier) {
				n++
			}
		}
		if n > 0 {
			return n > 1
		}
	}
	return false
}

func (t *fromTable) matches(qualifier []string) bool {
	n := len(qualifier)
	if t.alias != qualifier[n-1] {
		return false
	}
	return n == 1 || !t.aliased && t.desc != nil && t.schema == qualifier[n-2]
}

// missingTable returns the error for a qualifier that matches no table in scope.
func missingTable(sc *scope, qualifier []string, hidden *fromTable, pos ast.Pos) error {
	name := qualifier[len(qualifier)-1]
	invalid := sqlerr.New(sqlerr.UndefinedTable, "invalid reference to FROM-clause entry for "+
		"table \"%s\"", name).At(int(pos))
	if hidden != nil {
		return invalid.WithHint("There is an entry for table \"%s\", but it cannot be referenced "+
			"from this part of the query.", name)
	}
	for s := sc; s != nil; s = s.outer {
		for _, t := range s.tables {
			if t.desc != nil && t.aliased && t.desc.Name == name && t.alias != name {
				return invalid.WithHint("Perhaps you meant to reference the table alias \"%s\".",
					t.alias)
			}
		}
	}
	return sqlerr.New(sqlerr.UndefinedTable, "missing FROM-clause entry for table \"%s\"",
		strings.Join(qualifier[max(0, len(qualifier)-1):], ".")).At(int(pos))
}

// relationColumns returns the visible columns of a scan, whose first column has the ID first.
func relationColumns(d *table.Desc, first int) []visible {
	cols := make([]visible, 0, len(d.Columns))
	for i := range d.Columns {
		v := visible{name: d.Columns[i].Name, id: first + i}
		if !d.Columns[i].Hidden {
			cols = append(cols, v)
		}
	}
	return cols
}
