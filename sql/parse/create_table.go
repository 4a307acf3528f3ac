package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// createTable parses TABLE behind CREATE and its modifiers.
func (p *parser) createTable(t *ast.CreateTable) ast.Statement {
	p.want(kwTable)
	t.IfNotExists = p.ifNotExists()
	t.Name = p.qualified()
	elements := false // columns with types: no AS may follow
	switch {
	case p.at(kwOf):
		p.unsupported(p.pos(), "CREATE TABLE … OF")
	case p.at(kwPartition):
		p.unsupported(p.pos(), "CREATE TABLE … PARTITION OF")
	case p.tok().is('('):
		if p.peek(1).colID() && (p.peek(2).is(',') || p.peek(2).is(')')) {
			t.AsColumns = p.idents()
		} else {
			p.tableElements(t)
			elements = true
		}
	case !p.at(kwAs) && !p.at(kwWith) && !p.at(kwOn) && !p.at(kwTablespace) && !p.at(kwUsing):
		p.unexpected()
	}
	p.tableOptions(t)
	if elements {
		return t
	}
	p.want(kwAs)
	if p.at(kwExecute) {
		p.unsupported(p.pos(), "CREATE TABLE AS EXECUTE")
	}
	if p.err == nil && !p.atQuery() {
		p.unexpected()
	}
	if p.err != nil {
		return t
	}
	t.As = p.query()
	if p.accept(kwWith, kwNo) {
		p.want(kwData)
		t.WithNoData = true
	} else if p.accept(kwWith) {
		p.want(kwData)
	}
	return t
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
		case p.at(kwLike):
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
	if p.accept(kwInherits) {
		p.parenList(func() { t.Inherits = append(t.Inherits, p.qualified()) })
	}
	if p.accept(kwPartition, kwBy) {
		first := p.i
		p.ident()
		p.parenList(func() { p.indexElem() })
		t.PartitionBy = p.textFrom(first)
	}
	if p.accept(kwUsing) {
		if pos, method := p.pos(), p.name(); method != "heap" {
			p.unsupported(pos, "table access method "+method)
		}
	}
	if p.accept(kwWith) {
		t.Options = p.storageOptions()
	} else if p.accept(kwWithout) {
		if p.tok().str != "oids" {
			p.unexpected()
		}
		p.next()
	}
	if p.accept(kwOn, kwCommit) {
		switch {
		case p.accept(kwDrop):
			t.OnCommit = "drop"
		case p.accept(kwDelete, kwRows):
			t.OnCommit = "delete rows"
		case p.accept(kwPreserve, kwRows):
			t.OnCommit = "preserve rows"
		default:
			p.unexpected()
		}
	}
	p.tablespace()
}

// tablespace parses TABLESPACE name: there is one place for all data, and pg_default is its name.
func (p *parser) tablespace() {
	if p.accept(kwTablespace) {
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
		case p.accept(kwIncluding):
		case p.accept(kwExcluding):
			into = &l.Excluding
		default:
			return l
		}
		switch t := p.tok(); t.kw {
		case kwComments, kwCompression, kwConstraints, kwDefaults, kwIdentity, kwGenerated, kwIndexes,
			kwStatistics, kwStorage, kwAll:
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
	if p.at(kwStorage) || p.at(kwCompression) {
		p.unsupported(p.pos(), "column "+p.tok().str)
	}
	for p.err == nil {
		if p.accept(kwCollate) {
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
	case p.accept(kwDeferrable):
		*deferrable = true
	case p.accept(kwNot, kwDeferrable):
		*deferrable = false
	case p.accept(kwInitially, kwDeferred):
		*deferrable, *deferred = true, true
	case p.accept(kwInitially, kwImmediate):
	default:
		return false
	}
	return true
}

// columnConstraint parses one constraint of a column; false if none stands here.
func (p *parser) columnConstraint() (k ast.ColumnConstraint, ok bool) {
	k.Pos = p.pos()
	named := p.accept(kwConstraint)
	if named {
		k.Name = p.name()
	}
	switch {
	case p.accept(kwNot, kwNull):
		k.Kind = "not null"
	case p.accept(kwNull):
		k.Kind = "null"
	case p.accept(kwDefault):
		k.Kind = "default"
		first := p.i
		l := p.newExprList()
		l.addWith(p.bExpr)
		k.Expr = l.finish()[0]
		k.ExprText = p.textFrom(first)
	case p.accept(kwCheck):
		k.Kind = "check"
		k.Expr, k.ExprText = p.parenExpr()
		k.NoInherit = p.accept(kwNo, kwInherit)
	case p.accept(kwPrimary):
		p.want(kwKey)
		k.Kind = "primary key"
		p.indexParameters()
	case p.accept(kwUnique):
		k.Kind = "unique"
		k.NullsNotDistinct = p.nullsNotDistinct()
		p.indexParameters()
	case p.at(kwReferences):
		k.Kind = "references"
		k.Ref = p.references()
	case p.accept(kwGenerated):
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
	if p.accept(kwBy) {
		p.want(kwDefault)
	} else {
		p.want(kwAlways)
		k.Always = true
	}
	p.want(kwAs)
	if p.accept(kwIdentity) {
		k.Kind = "identity"
		k.Sequence = p.parenSequence()
		return
	}
	if !k.Always {
		p.failAt(when, sqlerr.SyntaxError, "for a generated column, GENERATED ALWAYS must be specified")
	}
	k.Kind = "generated"
	k.Expr, k.ExprText = p.parenExpr()
	p.want(kwStored)
}

// parenSequence parses ( sequence options ) if it stands here.
func (p *parser) parenSequence() (o ast.SequenceOptions) {
	if p.punct('(') {
		o = p.sequenceOptions()
		p.wantPunct(')')
	}
	return o
}

// parenExpr parses ( expression ) and returns the source between the parentheses too.
func (p *parser) parenExpr() (ast.Expr, string) {
	p.wantPunct('(')
	e, text := p.exprText()
	p.wantPunct(')')
	return e, text
}

// nullsNotDistinct parses NULLS [NOT] DISTINCT.
func (p *parser) nullsNotDistinct() bool {
	if p.accept(kwNulls, kwNot, kwDistinct) {
		return true
	}
	p.accept(kwNulls, kwDistinct)
	return false
}

// indexParameters parses WITH ( … ) and USING INDEX TABLESPACE behind a unique constraint.
func (p *parser) indexParameters() {
	if p.at(kwWith) && p.peek(1).is('(') {
		p.next()
		p.storageOptions()
	}
	if p.accept(kwUsing, kwIndex) {
		if !p.at(kwTablespace) {
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
	if p.accept(kwMatch) {
		switch t := p.tok(); t.kw {
		case kwFull, kwPartial, kwSimple:
			r.Match = t.str
			p.next()
		default:
			p.unexpected()
		}
	}
	for p.err == nil {
		switch {
		case p.accept(kwOn, kwDelete):
			r.OnDelete = p.referentialAction()
		case p.accept(kwOn, kwUpdate):
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
	case p.accept(kwNo, kwAction):
		return "no action"
	case p.accept(kwRestrict):
		return "restrict"
	case p.accept(kwCascade):
		return "cascade"
	case p.accept(kwSet, kwNull):
		action = "set null"
	case p.accept(kwSet, kwDefault):
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
	case kwConstraint, kwCheck, kwUnique, kwPrimary, kwForeign:
		return true
	case kwExclude:
		return p.peek(1).is('(') || p.peek(1).kw == kwUsing
	}
	return false
}

// tableConstraint parses [CONSTRAINT name] constraint.
func (p *parser) tableConstraint() (k ast.TableConstraint) {
	k.Pos = p.pos()
	if p.accept(kwConstraint) {
		k.Name = p.name()
	}
	switch {
	case p.accept(kwCheck):
		k.Kind = "check"
		k.Expr, k.ExprText = p.parenExpr()
	case p.accept(kwUnique):
		k.Kind = "unique"
		k.NullsNotDistinct = p.nullsNotDistinct()
		p.keyColumns(&k)
	case p.accept(kwPrimary):
		p.want(kwKey)
		k.Kind = "primary key"
		p.keyColumns(&k)
	case p.accept(kwForeign):
		p.want(kwKey)
		k.Kind = "foreign key"
		k.Columns = p.idents()
		if !p.at(kwReferences) {
			p.unexpected()
			return k
		}
		k.Ref = p.references()
	case p.at(kwExclude):
		p.unsupported(p.pos(), "EXCLUDE constraint")
	default:
		p.unexpected()
	}
	for p.err == nil {
		switch {
		case p.accept(kwNot, kwValid):
			k.NotValid = true
		case p.at(kwNo, kwInherit):
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
	if p.accept(kwUsing, kwIndex) {
		k.UsingIndex = p.name()
		return
	}
	k.Columns = p.idents()
	if p.accept(kwInclude) {
		k.Include = p.idents()
	}
	p.indexParameters()
}
