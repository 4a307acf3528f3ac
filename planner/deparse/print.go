package deparse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Options are the options of printing.
type Options struct {
	// Pretty omits the parentheses that the precedence of operators makes unnecessary.
	Pretty bool
	// Source prints for the catalog: without the types that the context of a literal or an operand
	// determines anyway, so that the binder gives the text the same meaning as the original. Names
	// are still resolved, stars expanded, and 'now' and the like are constants.
	Source bool
	// Stored is set where the text that is printed is the catalog's: the names of extensions'
	// members in it have the schemas of such texts, whatever the search path is.
	Stored bool
	// Wrap is the column beyond which select lists and FROM continue on a new line; 0 gives each
	// entry a line of its own.
	Wrap int
	// Value: the expression is the constraint of a domain, whose only column is VALUE.
	Value bool
	// Name returns how a relation is written: with its schema, unless its plain name finds it. Nil:
	// always with its schema.
	Name func(d *table.Desc) string
	// Type returns how a user type is written; nil: with its schema.
	Type func(t *types.Type) string
	// RenameType returns a user type with another name, or other labels; nil: none has changed.
	RenameType func(t *types.Type) *types.Type
	// Member is called for each function or operator of an extension that the text names,
	// MemberType for each type; nil: not called.
	Member     func(fn *expr.Func)
	MemberType func(t *types.Type)
	// Rename returns a relation with new names for itself and its columns; nil: no new names.
	Rename func(d *table.Desc) *table.Desc
	// RenameSchema returns the name that the schema of a name gets; nil: all keep theirs.
	RenameSchema func(name string) string
}

// Indentation, as in PostgreSQL.
const (
	indentClause = 8
	indentJoin   = 4
	indentItem   = 4
	indentLimit  = 40 // deeper lines start again at the left, in half steps
)

// printer writes nodes and queries.
type printer struct {
	opts   Options
	b      []byte
	indent int
	// qualify is set in queries, where columns are printed with the names of their relations.
	qualify bool
	names   []map[string]bool // of relations, for each enclosing query
	ctes    []string          // names of WITH queries in scope
}

func (p *printer) write(parts ...string) {
	for _, s := range parts {
		p.b = append(p.b, s...)
	}
}

// line begins a new line with text, indented by the current level and plus columns. before and
// after change the level.
func (p *printer) line(text string, before, after, plus int) {
	p.indent += before
	p.trim()
	p.b = append(p.b, '\n')
	amount := max(p.indent, 0)
	if p.indent >= indentLimit {
		amount = (indentLimit + (p.indent-indentLimit)/(indentClause/2)) % indentLimit
	}
	p.write(strings.Repeat(" ", amount+plus), text)
	p.indent = max(p.indent+after, 0)
}

// clause begins a new line with a key word of the query.
func (p *printer) clause(word string, plus int) { p.line(word, -indentClause, indentClause, plus) }

// trim removes trailing spaces.
func (p *printer) trim() { p.b = bytes.TrimRight(p.b, " ") }

// capture returns the text that f writes, without adding it to the output.
func (p *printer) capture(f func()) string {
	saved := p.b
	p.b = nil
	f()
	out := string(p.b)
	p.b = saved
	return out
}

// lineLength returns the length of the last line.
func (p *printer) lineLength() int { return len(p.b) - 1 - bytes.LastIndexByte(p.b, '\n') }

// renamed applies Rename.
func (p *printer) renamed(d *table.Desc) *table.Desc {
	if p.opts.Rename != nil {
		return p.opts.Rename(d)
	}
	return d
}

// relationName returns the name of a relation of the catalog. If a WITH query has the same name,
// the relation's is qualified by its schema.
func (p *printer) relationName(d *table.Desc) string {
	d = p.renamed(d)
	if p.opts.Name == nil || slices.Contains(p.ctes, d.Name) {
		return sqlname.Qualified(d.Schema, d.Name)
	}
	return p.opts.Name(d)
}

// columnName returns the name of a column of an entry of FROM.
func (p *printer) columnName(n *column) string {
	rel, index := n.rel, n.index
	if index == bind.SystemColumn {
		return n.name
	}
	return p.columnNames(rel)[index]
}

// columnNames returns the names that the columns of an entry of FROM are to have: a column without
// an alias gets the new name of the relation's.
func (p *printer) columnNames(rel *relation) []string {
	if rel.desc == nil || p.opts.Rename == nil {
		return rel.columns
	}
	out := slices.Clone(rel.columns)
	for i, c := range visibleColumns(p.renamed(rel.desc)) {
		if i < len(rel.real) && out[i] == rel.real[i] && !rel.kept[i] {
			out[i] = c.Name
		}
	}
	return out
}

// renamedType applies RenameType.
func (p *printer) renamedType(t *types.Type) *types.Type {
	switch {
	case p.opts.Rename != nil && t.IsComposite() && t.OID == types.OID(rowTypeID(t)):
		was := &table.Desc{ID: table.ID(t.Def.Class)}
		if is := p.opts.Rename(was); is != was {
			return is.Row()
		}
	case p.opts.RenameType == nil:
	case t.Def != nil:
		return p.opts.RenameType(t)
	case t.Nests():
		if elem := p.renamedType(t.Elem); elem != t.Elem {
			return types.ArrayOf(elem)
		}
	}
	return t
}

// rowTypeID returns the ID that the type has if it is the row type of a relation.
func rowTypeID(t *types.Type) table.ID {
	row, _ := table.RowTypeOf(table.ID(t.Def.Class))
	return row
}

// typeText returns how a type is written.
func (p *printer) typeText(t *types.Type) string {
	t = p.renamedType(t)
	user := t
	for user.Def == nil && user.Elem != nil {
		user = user.Elem
	}
	if name := types.ExtensionOf(user); name != "" {
		return p.memberType(t, user, name)
	}
	if user.Def == nil {
		return t.String()
	}
	name := sqlname.Qualified(user.Def.Schema, user.Name)
	if p.opts.Type != nil {
		name = p.opts.Type(user)
	}
	if t.Nests() {
		name += "[]"
	}
	return name
}
