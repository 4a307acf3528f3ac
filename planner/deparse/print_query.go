package deparse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table/types"
)

// nested writes a query within another text, indented from here on. named shows the names of all
// result columns.
func (p *printer) nested(q *query, named bool) {
	indent, qualify, ctes := p.indent, p.qualify, len(p.ctes)
	p.qualify = true
	p.query(q, named)
	p.indent, p.qualify, p.ctes = indent, qualify, p.ctes[:ctes]
}

// query writes a query. Its relations get names that differ from those of enclosing queries.
func (p *printer) query(q *query, named bool) {
	taken := map[string]bool{}
	p.names = append(p.names, taken)
	defer func() { p.names = p.names[:len(p.names)-1] }()
	if c, ok := q.body.(*core); ok {
		for _, it := range c.from {
			p.nameRelations(it)
		}
	}
	p.with(q)
	switch b := q.body.(type) {
	case *core:
		p.core(b, named)
	case *values:
		p.indent += indentClause
		p.write(" ")
		p.values(b)
	case *setOp:
		p.setOp(b, named)
	case *query:
		p.leaf(b, named)
	}
	if len(q.order) > 0 {
		p.clause(" ORDER BY ", 1)
		p.sortKeys(q.order)
	}
	if q.offset != nil {
		p.clause(" OFFSET ", 0)
		p.expr(q.offset, false)
	}
	if q.limit != nil && q.ties {
		p.clause(" FETCH FIRST (", 0)
		p.expr(q.limit, false)
		p.write(") ROWS WITH TIES")
	} else if q.limit != nil {
		p.clause(" LIMIT ", 0)
		if c, ok := q.limit.(*constant); ok && c.null {
			p.write("ALL")
		} else {
			p.expr(q.limit, false)
		}
	}
	for _, l := range q.locks {
		p.clause(" FOR "+strings.ToUpper(l.strength), 0)
		p.write(" OF ", sqlname.Quote(l.rel.name))
		if l.wait != "" {
			p.write(" ", strings.ToUpper(l.wait))
		}
	}
}

// nameRelations gives the entries of FROM names that are unique in the scope.
func (p *printer) nameRelations(item any) {
	switch it := item.(type) {
	case *relation:
		name := it.alias
		switch {
		case name != "":
		case it.desc != nil:
			name = p.renamed(it.desc).Name
		case it.cte != "":
			name = it.cte
		}
		it.name = p.unusedName(name)
	case *joinExpr:
		p.nameRelations(it.left)
		p.nameRelations(it.right)
		if it.alias != nil {
			it.alias.name = p.unusedName(it.alias.alias)
		}
	}
}

func (p *printer) unusedName(name string) string {
	used := func(n string) bool {
		for _, m := range p.names {
			if m[n] {
				return true
			}
		}
		return false
	}
	out := name
	for i := 1; used(out); i++ {
		out = name + "_" + position(i)
	}
	p.names[len(p.names)-1][out] = true
	return out
}

func (p *printer) with(q *query) {
	if len(q.with) == 0 {
		return
	}
	p.indent += indentClause
	p.write(" ")
	word := "WITH "
	if q.recursive {
		word = "WITH RECURSIVE "
	}
	for i, w := range q.with {
		if i > 0 {
			word = ", "
		}
		if q.recursive || i == 0 {
			p.cteNames(q, i)
		}
		p.write(word, sqlname.Quote(w.name))
		if len(w.columns) > 0 {
			p.write("(", sqlname.Join(w.columns), ")")
		}
		p.write(" AS ")
		if w.materialized != nil && *w.materialized {
			p.write("MATERIALIZED ")
		} else if w.materialized != nil {
			p.write("NOT MATERIALIZED ")
		}
		p.write("(")
		p.line("", 0, 0, 0)
		p.nested(w.query, true)
		p.line("", 0, 0, 0)
		p.write(")")
		p.traversal(&w)
		p.ctes = append(p.ctes, w.name)
	}
	p.indent -= indentClause
	p.line("", 0, 0, 0)
}

// traversal writes SEARCH and CYCLE.
func (p *printer) traversal(w *withItem) {
	if s := w.search; s != nil {
		how := "DEPTH"
		if s.Breadth {
			how = "BREADTH"
		}
		p.write(" SEARCH ", how, " FIRST BY ", sqlname.Join(s.Columns), " SET ",
			sqlname.Quote(s.Sequence))
	}
	if c := w.cycle; c != nil {
		p.write(" CYCLE ", sqlname.Join(c.Columns), " SET ", sqlname.Quote(c.Mark))
		if w.mark != nil {
			p.write(" TO ")
			p.expr(w.mark, false)
			p.write(" DEFAULT ")
			p.expr(w.other, false)
		}
		p.write(" USING ", sqlname.Quote(c.Path))
	}
}

// cteNames adds the names of the WITH queries that the queries of a recursive WITH see.
func (p *printer) cteNames(q *query, i int) {
	if q.recursive && i == 0 {
		for _, w := range q.with {
			p.ctes = append(p.ctes, w.name)
		}
	}
}

func (p *printer) core(c *core, named bool) {
	p.indent += indentClause
	p.write(" SELECT")
	if len(c.on) > 0 {
		p.write(" DISTINCT ON (")
		p.sortItems(c.on)
		p.write(")")
	} else if c.distinct {
		p.write(" DISTINCT")
	}
	p.targets(c.targets, named)
	p.from(c.from)
	if c.where != nil {
		p.clause(" WHERE ", 1)
		p.expr(c.where, false)
	}
	if len(c.group) > 0 {
		p.clause(" GROUP BY ", 1)
		p.groups(c.group)
	}
	if c.having != nil {
		p.clause(" HAVING ", 0)
		p.expr(c.having, false)
	}
	for i, w := range c.windows {
		if i == 0 {
			p.clause(" WINDOW ", 1)
		} else {
			p.write(", ")
		}
		p.write(sqlname.Quote(w.name), " AS ")
		p.window(w)
	}
}

func (p *printer) sortItems(nodes []node) {
	for i, n := range nodes {
		if i > 0 {
			p.write(", ")
		}
		p.sortItem(n)
	}
}

// targets writes the select list, each entry on a line of its own unless Wrap allows more.
func (p *printer) targets(targets []target, named bool) {
	multiline := false
	for i, t := range targets {
		if i == 0 {
			p.write(" ")
		} else {
			p.write(", ")
		}
		text := p.capture(func() { p.target(t, named) })
		if strings.HasPrefix(text, "\n") {
			p.trim()
		} else if i > 0 && (multiline || p.lineLength()+len(text) > p.opts.Wrap) {
			p.line("", -indentClause, indentClause, indentItem)
		}
		multiline = strings.Contains(strings.TrimPrefix(text, "\n"), "\n")
		p.write(text)
	}
}

func (p *printer) target(t target, named bool) {
	name := "?column?"
	if named {
		name = ""
	}
	switch n := t.n.(type) {
	case *column:
		name = n.plainName()
		if n.rel != nil {
			name = p.columnName(n)
		}
	case *wholeRow:
		name = ""
	}
	p.entry(t.n, true)
	if t.name != name {
		p.write(" AS ", sqlname.Quote(t.name))
	}
}

// entry writes an entry of a select list, of VALUES or of ROW. A whole row gets its type, so that
// it is not read as all its columns.
func (p *printer) entry(n node, implicit bool) {
	p.expr(n, implicit)
	row, ok := n.(*wholeRow)
	switch {
	case !ok:
	case p.opts.Source: // the relation may get another name
		p.write("::record")
	default:
		p.write("::", p.typeText(row.typ()))
	}
}

func (p *printer) entries(nodes []node) {
	for i, n := range nodes {
		if i > 0 {
			p.write(", ")
		}
		p.entry(n, true)
	}
}

func (p *printer) from(items []any) {
	for i, it := range items {
		if i == 0 {
			p.clause(" FROM ", 2)
			p.fromItem(it)
			continue
		}
		p.write(", ")
		text := p.capture(func() { p.fromItem(it) })
		if strings.HasPrefix(text, "\n") {
			p.trim()
		} else if p.lineLength()+len(text) > p.opts.Wrap {
			p.line("", -indentClause, indentClause, indentItem)
		}
		p.write(text)
	}
}

func (p *printer) fromItem(item any) {
	switch it := item.(type) {
	case *relation:
		p.relation(it)
	case *joinExpr:
		p.join(it)
	}
}

func (p *printer) relation(r *relation) {
	if r.lateral {
		p.write("LATERAL ")
	}
	real := ""
	switch {
	case r.sub != nil:
		p.write("(")
		p.nested(r.sub, true)
		p.write(")")
	case r.rows != nil:
		p.write("(")
		p.values(r.rows)
		p.write(")")
	case r.calls != nil:
		p.functions(r)
	case r.desc != nil:
		if r.only {
			p.write("ONLY ")
		}
		p.write(p.relationName(r.desc))
		real = p.renamed(r.desc).Name
	default:
		p.write(sqlname.Quote(r.cte))
		real = r.cte
	}
	listed := p.listed(r)
	if r.alias != "" || listed || r.name != real {
		p.write(" ", sqlname.Quote(r.name))
	}
	switch {
	case r.definesColumns():
		p.columnDefs(r.calls[0].defs, r.columns)
	case listed:
		p.write("(", sqlname.Join(p.columnNames(r)), ")")
	}
}

// definesColumns reports whether the columns behind the alias are a definition list. With WITH
// ORDINALITY, which has a column of its own, the list is within ROWS FROM.
func (r *relation) definesColumns() bool {
	return len(r.calls) == 1 && r.calls[0].defs != nil && !r.ordinal
}

// columnDefs prints a column definition list; names, if any, are the names of the columns.
func (p *printer) columnDefs(defs []types.Attribute, names []string) {
	for i, d := range defs {
		sep, name := "(", d.Name
		if i > 0 {
			sep = ", "
		}
		if names != nil {
			name = names[i]
		}
		p.write(sep, sqlname.Quote(name), " ", p.typeText(d.Type))
		if d.Collation != "" && d.Collation != "default" {
			p.write(" COLLATE ", sqlname.Quote(d.Collation))
		}
	}
	p.write(")")
}

// functions prints the functions of an entry of FROM. ROWS FROM of one function is that function,
// and of calls of unnest alone UNNEST with all their arguments.
func (p *printer) functions(r *relation) {
	word, items := "ROWS FROM(", r.calls
	if args := unnested(r.calls); args != nil {
		word, items = "UNNEST(", args
	}
	if len(r.calls) == 1 && (r.calls[0].defs == nil || !r.ordinal) {
		p.expr(r.calls[0].node, true)
	} else {
		p.write(word)
		for i, c := range items {
			if i > 0 {
				p.write(", ")
			}
			if p.expr(c.node, true); c.defs != nil {
				p.write(" AS ")
				p.columnDefs(c.defs, nil)
			}
		}
		p.write(")")
	}
	if r.ordinal {
		p.write(" WITH ORDINALITY")
	}
}

// unnested returns the arguments of calls that are all of unnest, else nil.
func unnested(calls []tableCall) (args []tableCall) {
	for _, n := range calls {
		c, ok := n.node.(*call)
		if !ok || c.name != "unnest" || len(c.args) != 1 || n.defs != nil {
			return nil
		}
		args = append(args, tableCall{node: c.args[0]})
	}
	return args
}

// listed reports whether the columns of an entry are listed after its alias.
func (p *printer) listed(r *relation) bool {
	if r.desc == nil {
		return r.listed
	}
	names := p.columnNames(r)
	for i, c := range visibleColumns(p.renamed(r.desc)) {
		if i < len(names) && names[i] != c.Name {
			return true
		}
	}
	return false
}

var joinWords = map[string]string{"left": " LEFT JOIN ", "right": " RIGHT JOIN ",
	"full": " FULL JOIN "}

func (p *printer) join(j *joinExpr) {
	parens := !p.opts.Pretty || j.alias != nil
	if parens {
		p.write("(")
	}
	p.fromItem(j.left)
	word, outer := joinWords[j.kind]
	if !outer {
		word = " JOIN "
		if j.on == nil && len(j.using) == 0 {
			word = " CROSS JOIN "
		}
	}
	p.line(word, -indentClause, indentClause, indentJoin)
	right, isJoin := j.right.(*joinExpr)
	rightParens := p.opts.Pretty && isJoin && right.alias == nil
	if rightParens {
		p.write("(")
	}
	p.fromItem(j.right)
	if rightParens {
		p.write(")")
	}
	p.joinCondition(j, outer)
	if parens {
		p.write(")")
	}
	if j.alias != nil {
		p.write(" ", sqlname.Quote(j.alias.name))
		if j.alias.listed {
			p.write("(", sqlname.Join(j.alias.columns), ")")
		}
	}
}

// joinCondition writes USING or ON. An outer join without a condition needs one.
func (p *printer) joinCondition(j *joinExpr, outer bool) {
	switch {
	case len(j.using) > 0:
		p.write(" USING (", sqlname.Join(j.using), ")")
		if j.usingAlias != "" {
			p.write(" AS ", sqlname.Quote(j.usingAlias))
		}
	case j.on != nil:
		p.write(" ON ")
		p.wrap(func() { p.expr(j.on, false) })
	case outer:
		p.write(" ON TRUE")
	}
}

func (p *printer) groups(items []groupItem) {
	for i, it := range items {
		if i > 0 {
			p.write(", ")
		}
		switch it.kind {
		case "":
			p.sortItems(it.sets[0])
			continue
		case "sets":
			p.write("GROUPING SETS (")
		default:
			p.write(strings.ToUpper(it.kind), "(")
		}
		for k, set := range it.sets {
			if k > 0 {
				p.write(", ")
			}
			parens := it.kind == "sets" || len(set) != 1
			if parens {
				p.write("(")
			}
			p.sortItems(set)
			if parens {
				p.write(")")
			}
		}
		p.write(")")
	}
}

func (p *printer) values(v *values) {
	p.write("VALUES ")
	for i, row := range v.rows {
		if i > 0 {
			p.write(", ")
		}
		p.write("(")
		for k, n := range row {
			if k > 0 {
				p.write(",")
			}
			p.entry(n, false)
		}
		p.write(")")
	}
}

// setOp writes a set operation. A set operation within another is put in parentheses, except on the
// left side of the same operation.
func (p *printer) setOp(s *setOp, named bool) {
	left, leftSet := s.left.setOp()
	parens := leftSet && (left.op != s.op || left.all != s.all)
	if parens {
		p.write("(")
		p.line("", indentClause, 0, 0)
	}
	p.side(s.left, named)
	if parens {
		p.line(") ", -indentClause, 0, 0)
	} else {
		p.line("", 0, 0, 0)
	}
	p.write(strings.ToUpper(s.op), " ")
	if s.all {
		p.write("ALL ")
	}
	_, rightSet := s.right.setOp()
	before := 0
	if rightSet {
		p.write("(")
		before = indentClause
	}
	p.line("", before, 0, 0)
	p.side(s.right, false)
	p.indent -= before
	if rightSet {
		p.line(")", 0, 0, 0)
	}
}

// setOp returns the set operation of a query that consists of nothing else.
func (q *query) setOp() (*setOp, bool) {
	if inner, ok := q.body.(*query); ok && q.plain() {
		return inner.setOp()
	}
	s, ok := q.body.(*setOp)
	return s, ok && q.plain()
}

// plain reports whether a query consists of its body only.
func (q *query) plain() bool {
	return len(q.with) == 0 && len(q.order) == 0 && q.limit == nil && q.offset == nil &&
		len(q.locks) == 0
}

// side writes an operand of a set operation.
func (p *printer) side(q *query, named bool) {
	if s, ok := q.setOp(); ok {
		p.setOp(s, named)
		return
	}
	p.leaf(q, named)
}

// leaf writes a query that is an operand, in parentheses unless it is plain.
func (p *printer) leaf(q *query, named bool) {
	if inner, ok := q.body.(*query); ok && q.plain() {
		p.leaf(inner, named)
		return
	}
	if q.plain() {
		p.nested(q, named)
		return
	}
	p.write("(")
	p.nested(q, named)
	p.write(")")
}
