package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// createTable parses TABLE behind CREATE and its modifiers.
func (p *parser) createTable(t *ast.CreateTable) ast.Statement {
	p.want("table")
	t.IfNotExists = p.ifNotExists()
	t.Name = p.qualified()
	elements := false // columns with types: no AS may follow
	switch {
	case p.accept("of"):
		p.typedTable(t)
		elements = true
	case p.at("partition"):
		p.unsupported(p.pos(), "CREATE TABLE … PARTITION OF")
	case p.tok().is('('):
		if p.peek(1).colID() && (p.peek(2).is(',') || p.peek(2).is(')')) {
			t.AsColumns = p.idents()
		} else {
			p.tableElements(t)
			elements = true
		}
	case !p.at("as") && !p.at("with") && !p.at("on") && !p.at("tablespace") && !p.at("using"):
		p.unexpected()
	}
	p.tableOptions(t)
	if !elements {
		p.createTableAs(t)
	}
	return t
}

// createTableAs parses AS and its query.
func (p *parser) createTableAs(t *ast.CreateTable) {
	p.want("as")
	if p.at("execute") {
		p.unsupported(p.pos(), "CREATE TABLE AS EXECUTE")
	}
	if p.err == nil && !p.atQuery() {
		p.unexpected()
	}
	if p.err != nil {
		return
	}
	t.As = p.query()
	t.WithNoData = p.withNoData()
}

// withNoData parses [WITH [NO] DATA], and reports whether NO is there.
func (p *parser) withNoData() bool {
	if p.accept("with", "no") {
		p.want("data")
		return true
	}
	if p.accept("with") {
		p.want("data")
	}
	return false
}

// tableElements parses the parenthesised columns and constraints.
func (p *parser) tableElements(t *ast.CreateTable) {
	p.wantPunct('(')
	if p.punct(')') {
		t.Columns = []ast.ColumnDef{}
		return
	}
	p.list(func() {
		switch {
		case p.at("like"):
			t.Likes = append(t.Likes, p.tableLike())
		case p.tableConstraintHere():
			t.Constraints = append(t.Constraints, p.tableConstraint())
		default:
			t.Columns = append(t.Columns, p.columnDef())
		}
	})
	p.wantPunct(')')
}

// typedTable parses what follows OF: the type, and options of its columns.
func (p *parser) typedTable(t *ast.CreateTable) {
	t.Of = p.anyType()
	t.Columns = []ast.ColumnDef{}
	if !p.tok().is('(') {
		return
	}
	p.parenList(func() {
		if p.tableConstraintHere() {
			t.Constraints = append(t.Constraints, p.tableConstraint())
			return
		}
		c := ast.ColumnDef{Name: p.ident()}
		p.accept("with", "options")
		p.columnOptions(&c)
		t.Columns = append(t.Columns, c)
	})
}

// anyType parses the name of a type that has neither modifiers nor dimensions.
func (p *parser) anyType() *ast.TypeName {
	n := p.qualified()
	return &ast.TypeName{Pos: n.Pos, Schema: n.Schema, Name: n.Name}
}

// tableOptions parses what follows the column list.
func (p *parser) tableOptions(t *ast.CreateTable) {
	if t.Of == nil && p.accept("inherits") {
		p.parenList(func() { t.Inherits = append(t.Inherits, p.qualified()) })
	}
	if p.accept("partition", "by") {
		first := p.i
		p.ident()
		p.parenList(func() { p.indexElem() })
		t.PartitionBy = p.textFrom(first)
	}
	p.accessMethod()
	if p.accept("with") {
		t.Options = p.storageOptions()
	} else if p.accept("without") {
		if p.tok().str != "oids" {
			p.unexpected()
		}
		p.next()
	}
	if p.accept("on", "commit") {
		switch {
		case p.accept("drop"):
			t.OnCommit = "drop"
		case p.accept("delete", "rows"):
			t.OnCommit = "delete rows"
		case p.accept("preserve", "rows"):
			t.OnCommit = "preserve rows"
		default:
			p.unexpected()
		}
	}
	p.tablespace()
}

// accessMethod parses [USING method]: rows lie in one way, and heap is its name.
func (p *parser) accessMethod() {
	if p.accept("using") {
		if pos, method := p.pos(), p.name(); method != "heap" {
			p.unsupported(pos, "table access method "+method)
		}
	}
}

// tablespace parses TABLESPACE name: there is one place for all data, and pg_default is its name.
func (p *parser) tablespace() {
	if p.accept("tablespace") {
		if pos, name := p.pos(), p.name(); name != "pg_default" {
			p.unsupported(pos, "tablespace "+name)
		}
	}
}

// tableLike parses LIKE source [INCLUDING|EXCLUDING option …].
func (p *parser) tableLike() (l ast.TableLike) {
	p.next()
	l.Source = p.qualified()
	for p.err == nil {
		into := &l.Including
		switch {
		case p.accept("including"):
		case p.accept("excluding"):
			into = &l.Excluding
		default:
			return l
		}
		switch t := p.tok(); t.kw {
		case "comments", "compression", "constraints", "defaults", "identity", "generated",
			"indexes",
			"statistics", "storage", "all":
			*into = append(*into, t.str)
			p.next()
		default:
			p.unexpected()
		}
	}
	return l
}

// columnDef parses a column of CREATE TABLE or ADD COLUMN.
func (p *parser) columnDef() (c ast.ColumnDef) {
	c.Name = p.ident()
	c.Type = p.typeName()
	if p.accept("compression") {
		c.Compression = p.compression()
	}
	p.columnOptions(&c)
	return c
}

// columnOptions parses what follows the type of a column: its collation and constraints.
func (p *parser) columnOptions(c *ast.ColumnDef) {
	var said deferral // of the last constraint
	for p.err == nil {
		if pos := p.pos(); p.accept("collate") {
			n := p.qualified()
			n.Pos = pos
			c.Collation = &n
			continue
		}
		if p.columnDeferral(c.Constraints, &said) {
			continue
		}
		k, ok := p.columnConstraint()
		if !ok {
			break
		}
		said = deferral{}
		c.Constraints = append(c.Constraints, k)
	}
}

// columnConstraint parses one constraint of a column; false if none is next.
func (p *parser) columnConstraint() (k ast.ColumnConstraint, ok bool) {
	k.Pos = p.pos()
	named := p.accept("constraint")
	if named {
		k.Name = p.name()
	}
	switch {
	case p.accept("not", "null"):
		k.Kind = "not null"
	case p.accept("null"):
		k.Kind = "null"
	case p.accept("default"):
		k.Kind = "default"
		l := p.newExprList()
		l.addWith(p.bExpr)
		k.Expr = l.finish()[0]
	case p.accept("check"):
		k.Kind = "check"
		k.Expr = p.parenExpr()
		k.NoInherit = p.accept("no", "inherit")
	case p.accept("primary"):
		p.want("key")
		k.Kind = "primary key"
		k.Options = p.indexParameters()
	case p.accept("unique"):
		k.Kind = "unique"
		k.NullsNotDistinct = p.nullsNotDistinct()
		k.Options = p.indexParameters()
	case p.at("references"):
		k.Kind = "references"
		k.Ref = p.references()
	case p.accept("generated"):
		p.generated(&k)
	default:
		if named {
			p.unexpected()
		}
		return k, false
	}
	return k, true
}

// generated parses what follows GENERATED.
func (p *parser) generated(k *ast.ColumnConstraint) {
	when := p.pos()
	if p.accept("by") {
		p.want("default")
	} else {
		p.want("always")
		k.Always = true
	}
	p.want("as")
	if p.accept("identity") {
		k.Kind = "identity"
		k.Sequence = p.parenSequence()
		return
	}
	if !k.Always {
		p.failAt(when, sqlerr.SyntaxError, "for a generated column, GENERATED ALWAYS must be "+
			"specified")
	}
	k.Kind = "generated"
	k.Expr = p.parenExpr()
	p.want("stored")
}

// parenSequence parses ( sequence options ) if it is next.
func (p *parser) parenSequence() (o ast.SequenceOptions) {
	if p.punct('(') {
		o = p.sequenceOptions()
		p.wantPunct(')')
	}
	return o
}

// parenExpr parses ( expression ).
func (p *parser) parenExpr() ast.Expr {
	p.wantPunct('(')
	e := p.expr()
	p.wantPunct(')')
	return e
}

// nullsNotDistinct parses NULLS [NOT] DISTINCT.
func (p *parser) nullsNotDistinct() bool {
	if p.accept("nulls", "not", "distinct") {
		return true
	}
	p.accept("nulls", "distinct")
	return false
}

// indexParameters parses WITH ( … ) and USING INDEX TABLESPACE behind a unique constraint.
func (p *parser) indexParameters() (options []ast.Option) {
	if p.at("with") && p.peek(1).is('(') {
		p.next()
		options = p.storageOptions()
	}
	if p.accept("using", "index") {
		if !p.at("tablespace") {
			p.unexpected()
		}
		p.tablespace()
	}
	return options
}

// references parses REFERENCES table [( columns )] [MATCH …] [ON DELETE|UPDATE action].
func (p *parser) references() *ast.Reference {
	p.next()
	r := &ast.Reference{Table: p.qualified(), OnDelete: "no action", OnUpdate: "no action"}
	r.Columns = p.optIdents()
	if p.accept("match") {
		switch t := p.tok(); t.kw {
		case "full", "partial", "simple":
			r.Match = t.str
			p.next()
		default:
			p.unexpected()
		}
	}
	for p.err == nil {
		pos := p.pos()
		switch {
		case p.accept("on", "delete"):
			r.OnDelete, r.OnDeleteColumns = p.referentialAction()
		case p.accept("on", "update"):
			var columns []ast.Ident
			if r.OnUpdate, columns = p.referentialAction(); columns != nil {
				p.failAt(pos, sqlerr.FeatureNotSupported, "a column list with %s is only "+
					"supported for ON DELETE actions", strings.ToUpper(r.OnUpdate))
			}
		default:
			return r
		}
	}
	return r
}

// referentialAction parses an action, with the columns that SET NULL and SET DEFAULT may be
// restricted to.
func (p *parser) referentialAction() (action string, columns []ast.Ident) {
	switch {
	case p.accept("no", "action"):
		return "no action", nil
	case p.accept("restrict"):
		return "restrict", nil
	case p.accept("cascade"):
		return "cascade", nil
	case p.accept("set", "null"):
		action = "set null"
	case p.accept("set", "default"):
		action = "set default"
	default:
		p.unexpected()
	}
	return action, p.optIdents()
}

// tableConstraintHere reports whether a table constraint starts here.
func (p *parser) tableConstraintHere() bool {
	switch p.tok().kw {
	case "constraint", "check", "unique", "primary", "foreign":
		return true
	case "exclude":
		return p.peek(1).is('(') || p.peek(1).kw == "using"
	}
	return false
}

// tableConstraint parses [CONSTRAINT name] constraint.
func (p *parser) tableConstraint() (k ast.TableConstraint) {
	k.Pos = p.pos()
	if p.accept("constraint") {
		k.Name = p.name()
	}
	switch {
	case p.accept("check"):
		k.Kind = "check"
		k.Expr = p.parenExpr()
	case p.accept("unique"):
		k.Kind = "unique"
		k.NullsNotDistinct = p.nullsNotDistinct()
		p.keyColumns(&k)
	case p.accept("primary"):
		p.want("key")
		k.Kind = "primary key"
		p.keyColumns(&k)
	case p.accept("foreign"):
		p.want("key")
		k.Kind = "foreign key"
		k.Columns = p.idents()
		if !p.at("references") {
			p.unexpected()
			return k
		}
		k.Ref = p.references()
	case p.accept("exclude"):
		p.exclusion(&k)
	default:
		p.unexpected()
	}
	p.attributes(&k, strings.ToUpper(k.Kind))
	return k
}

// keyColumns parses ( columns ) [INCLUDE ( columns )] or USING INDEX name.
func (p *parser) keyColumns(k *ast.TableConstraint) {
	if p.accept("using", "index") {
		k.UsingIndex = p.name()
		return
	}
	k.Columns = p.idents()
	if p.accept("include") {
		k.Include = p.idents()
	}
	k.Options = p.indexParameters()
}
