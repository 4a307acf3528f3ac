package deparse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Options say how to print.
type Options struct {
	// Pretty leaves out the parentheses that operators' precedence makes unneeded.
	Pretty bool
	// Source prints for the catalog instead: without what the context of a literal or an operand
	// says anyway, so that the text means the same to the binder as the one that it was made of.
	// Names are resolved all the same, stars written out, and 'now' and its like have become
	// constants.
	Source bool
	// Wrap is the column beyond which select lists and FROM go on in a new line; 0 gives each entry
	// a line of its own.
	Wrap int
	// Name is how a relation is written: with its schema unless its plain name finds it. Nil:
	// always with its schema.
	Name func(d *table.Desc) string
	// Rename gives the names that a relation and its columns shall have from now on; nil: as they
	// are.
	Rename func(d *table.Desc) *table.Desc
}

// Indentation, as PostgreSQL has it.
const (
	indentClause = 8
	indentJoin   = 4
	indentItem   = 4
	indentLimit  = 40 // deeper lines begin again from the left, by half steps
)

// printer writes nodes and queries.
type printer struct {
	opts   Options
	b      []byte
	indent int
	// qualify is set in queries, where columns are printed with the name of their relation.
	qualify bool
	names   []map[string]bool // of relations, per query around
	ctes    []string          // names of WITH queries in sight
}

func (p *printer) write(parts ...string) {
	for _, s := range parts {
		p.b = append(p.b, s...)
	}
}

// line begins a new line with text, indented by the present level and plus columns. before and
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

// trim takes back spaces at the end.
func (p *printer) trim() { p.b = bytes.TrimRight(p.b, " ") }

// aside writes with f into a text of its own.
func (p *printer) aside(f func()) string {
	saved := p.b
	p.b = nil
	f()
	out := string(p.b)
	p.b = saved
	return out
}

// lineLength is how much stands in the last line.
func (p *printer) lineLength() int { return len(p.b) - 1 - bytes.LastIndexByte(p.b, '\n') }

// named applies Rename.
func (p *printer) named(d *table.Desc) *table.Desc {
	if p.opts.Rename != nil {
		return p.opts.Rename(d)
	}
	return d
}

// relationName writes a relation of the catalog. A WITH query of its name would hide it, so that it
// needs its schema.
func (p *printer) relationName(d *table.Desc) string {
	d = p.named(d)
	if p.opts.Name == nil || slices.Contains(p.ctes, d.Name) {
		return sqlname.Qualified(d.Schema, d.Name)
	}
	return p.opts.Name(d)
}

// columnName is the name of a column of an entry of FROM.
func (p *printer) columnName(rel *relation, index int) string {
	if rel.desc != nil && index < len(rel.real) && rel.columns[index] == rel.real[index] {
		if cols := visibleColumns(p.named(rel.desc)); index < len(cols) {
			return cols[index].Name
		}
	}
	return rel.columns[index]
}

func typeText(t *types.Type) string { return types.FormatType(t.OID, t.Mod) }
