package parse

import (
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
	case p.at("of"):
		p.unsupported(p.pos(), "CREATE TABLE … OF")
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

// tableOptions parses what follows the column list.
func (p *parser) tableOptions(t *ast.CreateTable) {
	if p.accept("inherits") {
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
	if p.at("storage") || p.at("compression") {
		p.unsupported(p.pos(), "column "+p.tok().str)
	}
	for p.err == nil {
		if p.accept("collate") {
			n := p.qualified()
			c.Collation = &n
			continue
		}
		if len(c.Constraints) > 0 && p.deferral(&c.Constraints[len(c.Constraints)-1].Deferrable,
			&c.Constraints[len(c.Constraints)-1].InitiallyDeferred) {
			continue
		}
		k, ok := p.columnConstraint()
		if !ok {
			break
		}
		c.Constraints = append(c.Constraints, k)
	}
	return c
}

// deferral parses one of [NOT] DEFERRABLE and INITIALLY DEFERRED|IMMEDIATE.
func (p *parser) deferral(deferrable, deferred *bool) bool {
	switch {
	case p.accept("deferrable"):
		*deferrable = true
	case p.accept("not", "deferrable"):
		*deferrable = false
	case p.accept("initially", "deferred"):
		*deferrable, *deferred = true, true
	case p.accept("initially", "immediate"):
	default:
		return false
	}
	return true
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
		p.indexParameters()
	case p.accept("unique"):
		k.Kind = "unique"
		k.NullsNotDistinct = p.nullsNotDistinct()
		p.indexParameters()
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
func (p *parser) indexParameters() {
	if p.at("with") && p.peek(1).is('(') {
		p.next()
		p.storageOptions()
	}
	if p.accept("using", "index") {
		if !p.at("tablespace") {
			p.unexpected()
		}
		p.tablespace()
	}
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
		switch {
		case p.accept("on", "delete"):
			r.OnDelete = p.referentialAction()
		case p.accept("on", "update"):
			r.OnUpdate = p.referentialAction()
		default:
			return r
		}
	}
	return r
}

func (p *parser) referentialAction() string {
	action := ""
	switch {
	case p.accept("no", "action"):
		return "no action"
	case p.accept("restrict"):
		return "restrict"
	case p.accept("cascade"):
		return "cascade"
	case p.accept("set", "null"):
		action = "set null"
	case p.accept("set", "default"):
		action = "set default"
	default:
		p.unexpected()
	}
	if p.tok().is('(') {
		p.unsupported(p.pos(), "column list of ON DELETE SET")
	}
	return action
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
	case p.at("exclude"):
		p.unsupported(p.pos(), "EXCLUDE constraint")
	default:
		p.unexpected()
	}
	for p.err == nil {
		switch {
		case p.accept("not", "valid"):
			k.NotValid = true
		case p.at("no", "inherit"):
			p.unsupported(p.pos(), "NO INHERIT")
		case p.deferral(&k.Deferrable, &k.InitiallyDeferred):
		default:
			return k
		}
	}
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
	p.indexParameters()
}
