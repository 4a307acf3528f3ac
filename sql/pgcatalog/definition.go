package pgcatalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// Definitions are printed from the catalog whenever they are asked for, so that they show present
// names. Their extra argument is a text: it may contain the word "pretty". That of "viewdef" may
// also have the number of columns to fill, that of "indexdef" the number of one key column.

// nodeKind is what a value of type pg_node_tree refers to. The value is a reference, {KIND oid n},
// which pg_get_expr resolves: n counts columns and constraints from 0.
type nodeKind string

const (
	defaultNode    nodeKind = "DEFAULT"    // of the column n of a table
	checkNode      nodeKind = "CHECK"      // the constraint n of a table
	indexKeysNode  nodeKind = "INDEXKEYS"  // all expressions of an index
	indexWhereNode nodeKind = "INDEXWHERE" // the predicate of an index
	usingNode      nodeKind = "USING"      // of the policy n of a table
	withCheckNode  nodeKind = "WITHCHECK"  // of the policy n of a table

	domainDefaultNode nodeKind = "DOMAINDEFAULT" // of a domain
	domainCheckNode   nodeKind = "DOMAINCHECK"   // the constraint n of a domain
	queryNode         nodeKind = "QUERY"         // of a view
)

func nodeText(kind nodeKind, id table.ID, n int) string {
	return fmt.Sprintf("{%s %d %d}", kind, id, n)
}

func isPretty(extra string) bool { return strings.HasSuffix(extra, "pretty") }

func (r *reader) options(extra string) deparse.Options {
	return deparse.Options{Pretty: isPretty(extra), Name: r.relationName,
		Type: r.userTypeName}
}

// relationName writes a relation by its plain name if that finds it.
func (r *reader) relationName(d *table.Desc) string {
	if r.isVisible(d.Schema, d.Name) {
		return sqlname.Quote(d.Name)
	}
	return qualified(d)
}

// qualified writes a relation with its schema: a temporary one's is pg_temp in every session.
func qualified(d *table.Desc) string {
	if d.Temporary() {
		return sqlname.Qualified(catalog.TemporaryAlias, d.Name)
	}
	return sqlname.Qualified(d.Schema, d.Name)
}

// exprDef is pg_get_expr. extra is a reference, perhaps followed by "pretty"; any other text is its
// own definition.
func (r *reader) exprDef(extra string) (string, bool) {
	reference, rest, _ := strings.Cut(extra, "}")
	var kind nodeKind
	var id table.ID
	var n int
	if _, err := fmt.Sscanf(reference+" ", "{%s %d %d", &kind, &id, &n); err != nil {
		return strings.TrimSuffix(extra, " pretty"), true
	}
	opts := r.options(rest)
	if kind == domainDefaultNode || kind == domainCheckNode {
		return r.domainExpr(id, kind, n, opts)
	}
	d, ix := r.find(id)
	if d == nil {
		return "", false
	}
	switch kind {
	case defaultNode:
		if cols := visibleColumns(d); n < len(cols) {
			return r.columnExpr(d, &cols[n], opts), true
		}
	case checkNode:
		if n < len(d.Checks) {
			return r.expr(d, d.Checks[n].Text, nil, opts), true
		}
	case usingNode:
		if n < len(d.Policies) {
			return r.policyExpr(d, d.Policies[n].Using, opts), true
		}
	case withCheckNode:
		if n < len(d.Policies) {
			return r.policyExpr(d, d.Policies[n].Check, opts), true
		}
	case indexKeysNode:
		if ix != nil {
			return r.indexExprs(d, ix, opts), true
		}
	case indexWhereNode:
		if ix != nil {
			return r.expr(d, ix.WhereText, nil, opts), true
		}
	}
	return "", false
}

// expr prints an expression of the catalog. One that can no longer be bound is shown as it is
// stored.
func (r *reader) expr(d *table.Desc, text string, want *types.Type, opts deparse.Options) string {
	out, err := deparse.Stored(r.ctx, r.env.Planner(r.ctx), d, text, want, opts)
	if err != nil {
		return text
	}
	return out
}

// readColumns are the columns that an expression over a row of d reads, each once, in the order of
// the text.
func (r *reader) readColumns(d *table.Desc, text string) (ids []table.ColumnID) {
	e, err := r.env.Planner(r.ctx).ParseExpr(text)
	if err != nil {
		return nil
	}
	ast.Inspect(e, func(n any) bool {
		if ref, ok := n.(*ast.ColumnRef); ok {
			if i := d.Column(ref.Name); i >= 0 && !slices.Contains(ids, d.Columns[i].ID) {
				ids = append(ids, d.Columns[i].ID)
			}
		}
		return true
	})
	return ids
}

// columnExpr is the DEFAULT of a column, or the expression that generates it.
func (r *reader) columnExpr(d *table.Desc, c *table.Column, opts deparse.Options) string {
	if c.Generated != "" {
		return r.expr(d, c.Generated, c.Type, opts)
	}
	return r.expr(nil, c.DefaultText, c.Type, opts)
}

// viewDef is pg_get_viewdef.
func (r *reader) viewDef(id table.ID, extra string) (string, bool) {
	d, _ := r.find(id)
	if d == nil || d.View == nil {
		return "", false
	}
	opts := r.options(extra)
	if n, err := strconv.Atoi(strings.TrimSuffix(extra, " pretty")); err == nil {
		opts.Wrap = n
	}
	return r.viewText(d, opts), true
}

// viewText is a view's query as pg_get_viewdef ends it.
func (r *reader) viewText(d *table.Desc, opts deparse.Options) string {
	opts.Name = r.relationName
	text, err := deparse.View(r.ctx, r.env.Planner(r.ctx), d, opts)
	if err != nil {
		return " " + strings.TrimSuffix(strings.TrimSpace(d.View.Text), ";") + ";"
	}
	return text + ";"
}

// keyText writes one key column of an index: its name or expression and what is not the default.
func (r *reader) keyText(d *table.Desc, ix *table.Index, c *table.IndexColumn,
	opts deparse.Options) string {
	text, collation := "", ""
	n := d.Part(c.ColumnID)
	if e := d.Expr(n); e != nil {
		text = r.keyExpr(d, e.Text, opts)
	} else {
		text, collation = sqlname.Quote(d.Columns[n].Name), d.Columns[n].Collation
	}
	if c.Collation != "" && cmp.Or(collation, "default") != c.Collation {
		text += " COLLATE " + sqlname.Quote(c.Collation)
	}
	if c.OpClass != "" {
		text += " " + r.classText(ix, c, d.PartType(n))
	}
	switch {
	case c.Desc && !c.NullsFirst:
		text += " DESC NULLS LAST"
	case c.Desc:
		text += " DESC"
	case c.NullsFirst:
		text += " NULLS FIRST"
	}
	return text
}

// classText writes the operator class of a key column: one of an extension with its schema, unless
// the search path finds it.
func (r *reader) classText(ix *table.Index, c *table.IndexColumn, t *types.Type) string {
	name := sqlname.Quote(c.OpClass)
	id, _ := r.memberSchemaOf(types.OID(indexClass(ix, c, t)))
	if s, ok := r.schema(id); ok && !slices.Contains(r.env.SearchPath(r.ctx), s.Name) {
		return sqlname.Qualified(s.Name, c.OpClass)
	}
	return name
}

func (r *reader) keyExpr(d *table.Desc, text string, opts deparse.Options) string {
	env := r.env.Planner(r.ctx)
	e, err := env.ParseExpr(text)
	if err != nil {
		return text
	}
	opts.Stored = true
	out, err := deparse.IndexKey(r.ctx, env, d, e, opts)
	if err != nil {
		return text
	}
	return out
}

// indexExprs lists the expressions of an index.
func (r *reader) indexExprs(d *table.Desc, ix *table.Index, opts deparse.Options) string {
	var out []string
	for i := range ix.Columns {
		if e := d.Expr(d.Part(ix.Columns[i].ColumnID)); e != nil {
			out = append(out, r.expr(d, e.Text, e.Type, opts))
		}
	}
	return strings.Join(out, ", ")
}

func columnNames(d *table.Desc, ids []table.ColumnID) string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		if i := d.ColumnByID(id); i >= 0 {
			names = append(names, d.Columns[i].Name)
		}
	}
	return sqlname.Join(names)
}

// indexText is the CREATE INDEX of an index. With pretty, its table has a schema only where needed.
func (r *reader) indexText(d *table.Desc, ix *table.Index, pretty bool) string {
	var b strings.Builder
	b.WriteString("CREATE ")
	if ix.Unique {
		b.WriteString("UNIQUE ")
	}
	name := qualified(d)
	if pretty {
		name = r.relationName(d)
	}
	opts := deparse.Options{Pretty: pretty, Name: r.relationName,
		Type: r.userTypeName}
	keys := make([]string, len(ix.Columns))
	for i := range ix.Columns {
		keys[i] = r.keyText(d, ix, &ix.Columns[i], opts)
	}
	b.WriteString("INDEX " + sqlname.Quote(ix.Name) + " ON " + name + " USING " +
		cmp.Or(ix.Method, "btree") + " (" +
		strings.Join(keys, ", ") + ")")
	if len(ix.Include) > 0 {
		b.WriteString(" INCLUDE (" + columnNames(d, ix.Include) + ")")
	}
	if ix.NullsNotDistinct {
		b.WriteString(" NULLS NOT DISTINCT")
	}
	if len(ix.Options) > 0 {
		b.WriteString(" WITH (" + optionTexts(ix.Options) + ")")
	}
	if ix.WhereText != "" {
		b.WriteString(" WHERE " + r.expr(d, ix.WhereText, nil, opts))
	}
	return b.String()
}

// optionTexts are storage parameters as WITH has them, values quoted unless they could be names.
func optionTexts(options []string) string {
	out := make([]string, len(options))
	for i, o := range options {
		name, value, _ := strings.Cut(o, "=")
		if sqlname.Quote(value) != value {
			value = sqlname.Literal(value)
		}
		out[i] = sqlname.Quote(name) + "=" + value
	}
	return strings.Join(out, ", ")
}

// indexDef is pg_get_indexdef; extra begins with the number of one column, 0 for the whole.
func (r *reader) indexDef(id table.ID, extra string) (string, bool) {
	d, ix := r.find(id)
	if ix == nil {
		return "", false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(extra, " pretty"))
	if n == 0 {
		return r.indexText(d, ix, isPretty(extra)), true
	}
	if n <= len(ix.Columns) {
		c := ix.Columns[n-1]
		c.Desc, c.NullsFirst, c.OpClass, c.Collation = false, false, "", ""
		return r.keyText(d, ix, &c, r.options(extra)), true
	}
	if n -= len(ix.Columns); n <= len(ix.Include) {
		return columnNames(d, ix.Include[n-1:n]), true
	}
	return "", true
}

// constraintDef is pg_get_constraintdef.
func (r *reader) constraintDef(id table.ID, extra string) (string, bool) {
	d, check := r.constraintOwner(id)
	if d == nil {
		return r.domainConstraintDef(id, r.options(extra))
	}
	if check != nil {
		return "CHECK " + r.checkText(d, check, r.options(extra)), true
	}
	if fk := d.ForeignKeyByOID(id); fk != nil {
		return r.foreignKeyText(d, fk)
	}
	if ix := d.IndexByOID(id); ix != nil && (ix.Primary || ix.Constraint) {
		if ix.Exclusion() {
			return r.exclusionText(d, ix, r.options(extra)), true
		}
		return keyConstraintText(d, ix), true
	}
	return "", false
}

// constraintOwner finds the table of a constraint, and of a CHECK the constraint itself.
func (r *reader) constraintOwner(id table.ID) (*table.Desc, *table.Check) {
	for _, t := range tablesOfDerived(checkBase, id) {
		d, err := r.env.View().RelationByID(r.ctx, t)
		if err != nil || d == nil || d.DatabaseID != r.database() {
			continue
		}
		for i := range d.Checks {
			if derivedID(checkBase, d.ID, i) == id {
				return d, &d.Checks[i]
			}
		}
	}
	d, err := r.env.View().Owner(r.ctx, r.database(), id)
	if err != nil {
		return nil, nil
	}
	return d, nil
}

// checkText is what follows CHECK in a definition.
func (r *reader) checkText(d *table.Desc, c *table.Check, opts deparse.Options) string {
	text := "(" + r.expr(d, c.Text, nil, opts) + ")"
	if c.NoInherit {
		text += " NO INHERIT"
	}
	if c.NotValid {
		text += " NOT VALID"
	}
	return text
}

func keyConstraintText(d *table.Desc, ix *table.Index) string {
	word := "UNIQUE"
	if ix.Primary {
		word = "PRIMARY KEY"
	}
	if ix.NullsNotDistinct {
		word += " NULLS NOT DISTINCT"
	}
	text := word + " (" + columnNames(d, indexColumnIDs(ix)) + ")"
	if len(ix.Include) > 0 {
		text += " INCLUDE (" + columnNames(d, ix.Include) + ")"
	}
	return text + deferral(ix.Deferrable, ix.InitiallyDeferred)
}

// deferral is the part of a constraint's definition that says when it is checked.
func deferral(deferrable, initially bool) (text string) {
	if deferrable {
		text = " DEFERRABLE"
	}
	if initially {
		text += " INITIALLY DEFERRED"
	}
	return text
}

// exclusionText is the definition of an EXCLUDE constraint.
func (r *reader) exclusionText(d *table.Desc, ix *table.Index, opts deparse.Options) string {
	keys := make([]string, len(ix.Columns))
	for i := range ix.Columns {
		keys[i] = r.keyText(d, ix, &ix.Columns[i], opts) + " WITH " + ix.Columns[i].Operator
	}
	text := "EXCLUDE USING " + cmp.Or(ix.Method, "btree") + " (" + strings.Join(keys, ", ") + ")"
	if len(ix.Include) > 0 {
		text += " INCLUDE (" + columnNames(d, ix.Include) + ")"
	}
	if ix.WhereText != "" {
		text += " WHERE (" + r.expr(d, ix.WhereText, nil, opts) + ")"
	}
	return text + deferral(ix.Deferrable, ix.InitiallyDeferred)
}

func (r *reader) foreignKeyText(d *table.Desc, fk *table.ForeignKey) (string, bool) {
	ref, err := r.env.View().RelationByID(r.ctx, fk.RefTable)
	if err != nil || ref == nil {
		return "", false
	}
	text := "FOREIGN KEY (" + columnNames(d, fk.Columns) + ") REFERENCES " + r.relationName(ref) +
		"(" +
		columnNames(ref, fk.RefColumns) + ")"
	if fk.MatchFull {
		text += " MATCH FULL"
	}
	if fk.OnUpdate != "" && fk.OnUpdate != "no action" {
		text += " ON UPDATE " + strings.ToUpper(fk.OnUpdate)
	}
	if fk.OnDelete != "" && fk.OnDelete != "no action" {
		text += " ON DELETE " + strings.ToUpper(fk.OnDelete)
		if fk.OnDeleteColumns != nil {
			text += " (" + columnNames(d, fk.OnDeleteColumns) + ")"
		}
	}
	text += deferral(fk.Deferrable, fk.InitiallyDeferred)
	if fk.NotValid {
		text += " NOT VALID"
	}
	return text, true
}
