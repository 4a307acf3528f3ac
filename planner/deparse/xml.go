package deparse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/table/xml"
)

// xmlExpr is a construct of SQL/XML; its type is text for XMLSERIALIZE, else xml.
type xmlExpr struct {
	e     *ast.XML
	to    *types.Type // what XMLSERIALIZE names
	named []node
	args  []node
}

func (n *xmlExpr) typ() *types.Type {
	if n.to != nil {
		return types.TText
	}
	return types.TXML
}

// documentTest is IS DOCUMENT.
type documentTest struct{ arg node }

func (*documentTest) typ() *types.Type { return types.TBool }

func (r *resolver) xml(e *ast.XML) node {
	n := &xmlExpr{e: e, named: r.list(e.Named, nil), args: r.list(e.Args, nil)}
	switch e.Op {
	case "xmlconcat", "xmlserialize":
		r.coerceAll(n.args, types.TXML)
	case "xmlparse", "xmlpi":
		r.coerceAll(n.args, types.TText)
	case "xmlroot":
		n.args[0] = r.coerce(n.args[0], types.TXML, true)
		n.args[1] = r.coerce(n.args[1], types.TText, true)
	}
	if e.Op != "xmlserialize" {
		return n
	}
	to, err := bind.ResolveType(r.ctx, r.env, e.Type)
	if err != nil {
		r.fail(err)
		return n
	}
	n.to = to
	return r.coerceTo(n, to, false)
}

func (r *resolver) coerceAll(nodes []node, to *types.Type) {
	for i := range nodes {
		nodes[i] = r.coerce(nodes[i], to, true)
	}
}

func (r *resolver) isDocument(e *ast.IsTest) node {
	var out node = &documentTest{arg: r.coerce(r.expr(e.Operand), types.TXML, true)}
	if e.Not {
		out = &logic{op: "NOT", args: []node{out}}
	}
	return out
}

func (p *printer) xml(n *xmlExpr) {
	e := n.e
	p.write(strings.ToUpper(e.Op), "(")
	switch {
	case e.Op != "xmlparse" && e.Op != "xmlserialize":
	case e.Document:
		p.write("DOCUMENT ")
	default:
		p.write("CONTENT ")
	}
	comma := false
	if e.Name != "" {
		p.write("NAME ", sqlname.Quote(e.Name))
		comma = true
	}
	if len(n.named) > 0 {
		if comma {
			p.write(", ")
		}
		p.xmlNamed(n)
		comma = true
	}
	if comma && len(n.args) > 0 {
		p.write(", ")
	}
	if e.Op == "xmlroot" {
		p.xmlRoot(n)
	} else {
		p.list(n.args, true)
	}
	switch {
	case e.Op == "xmlparse" && e.Preserve:
		p.write(" PRESERVE WHITESPACE")
	case e.Op == "xmlparse":
		p.write(" STRIP WHITESPACE")
	case n.to != nil:
		p.write(" AS ", p.typeText(n.to))
	}
	p.write(")")
}

// xmlNamed writes XMLATTRIBUTES, or what XMLFOREST has.
func (p *printer) xmlNamed(n *xmlExpr) {
	if n.e.Op == "xmlelement" {
		p.write("XMLATTRIBUTES(")
	}
	for i, arg := range n.named {
		if i > 0 {
			p.write(", ")
		}
		p.expr(arg, true)
		name := n.e.Names[i]
		if name == "" {
			name = xml.Identifier(xml.Name(bind.ColumnOfXML(n.e.Named[i]), true))
		}
		p.write(" AS ", sqlname.Quote(name))
	}
	if n.e.Op == "xmlelement" {
		p.write(")")
	}
}

func (p *printer) xmlRoot(n *xmlExpr) {
	p.expr(n.args[0], true)
	p.write(", VERSION ")
	if c, ok := n.args[1].(*constant); ok && c.null {
		p.write("NO VALUE")
	} else {
		p.expr(n.args[1], false)
	}
	if n.e.Standalone != "" {
		p.write(", STANDALONE ", strings.ToUpper(n.e.Standalone))
	}
}

// documentTest writes IS DOCUMENT. Pretty printing puts any operand in parentheses, as PostgreSQL
// does.
func (p *printer) documentTest(n *documentTest) {
	if p.opts.Pretty {
		p.write("(")
		p.expr(n.arg, false)
		p.write(") IS DOCUMENT")
		return
	}
	p.expr(n.arg, false)
	p.write(" IS DOCUMENT")
}
