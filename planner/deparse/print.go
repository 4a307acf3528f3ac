package deparse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
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
	// Wrap is the column beyond which select lists and FROM continue on a new line; 0 gives each
	// entry a line of its own.
	Wrap int
	// Name returns how a relation is written: with its schema, unless its plain name finds it. Nil:
	// always with its schema.
	Name func(d *table.Desc) string
	// Rename returns a relation with new names for itself and its columns; nil: no new names.
	Rename func(d *table.Desc) *table.Desc
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
func (p *printer) columnName(rel *relation, index int) string {
	if rel.desc != nil && index < len(rel.real) && rel.columns[index] == rel.real[index] {
		if cols := visibleColumns(p.renamed(rel.desc)); index < len(cols) {
			return cols[index].Name
		}
	}
	return rel.columns[index]
}

func typeText(t *types.Type) string { return types.FormatType(t.OID, t.Mod) }
