package deparse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// expr writes an expression. implicit shows implicit coercions.
func (p *printer) expr(n node, implicit bool) {
	implicit = implicit && !p.opts.Source
	switch n := n.(type) {
	case *column:
		p.column(n)
	case *wholeRow:
		p.wholeRow(n)
	case *constant:
		p.constant(n, false, true)
	case *keyword:
		p.write(n.text)
	case *operator:
		p.operator(n)
	case *call:
		p.call(n)
	case *coercion:
		p.coercion(n, implicit)
	case *logic:
		p.logic(n)
	case *distinctTest:
		p.wrap(func() {
			p.operand(n.left, true, n)
			p.write(" IS DISTINCT FROM ")
			p.operand(n.right, true, n)
		})
	case *anyArray:
		p.anyArray(n)
	case *test:
		p.wrap(func() {
			p.operand(n.arg, n.ofNull, n)
			p.write(n.what)
		})
	case *special:
		p.write(n.name, "(")
		p.list(n.args, true)
		p.write(")")
	default:
		p.compound(n, implicit)
	}
}

func (p *printer) compound(n node, implicit bool) {
	switch n := n.(type) {
	case *caseExpr:
		p.caseExpr(n)
	case *arrayExpr:
		p.write("ARRAY[")
		p.list(n.elems, true)
		p.write("]")
		if len(n.elems) == 0 {
			p.write("::", p.typeText(n.t))
		}
	case *rowExpr:
		p.write("ROW(")
		p.entries(n.elems)
		p.write(")")
	case *field:
		p.field(n)
	case *rowCompare:
		p.write("(ROW(")
		p.list(n.left, true)
		p.write(") ", operatorSyntax(n.op), " ROW(")
		p.list(n.right, true)
		p.write("))")
	case *subquery:
		p.subquery(n)
	case *subscript:
		p.subscript(n, implicit)
	case *xmlExpr:
		p.xml(n)
	case *documentTest:
		p.documentTest(n)
	case *collated:
		p.wrap(func() {
			p.operand(n.arg, implicit, n)
			p.write(" COLLATE ", sqlname.Quote(n.name))
		})
	}
}

// wrap puts parentheses around the output of f. Pretty printing leaves them to the surrounding
// operand.
func (p *printer) wrap(f func()) {
	if p.opts.Pretty {
		f()
		return
	}
	p.write("(")
	f()
	p.write(")")
}

// operand writes an operand of parent. Pretty printing adds parentheses only where it needs them.
func (p *printer) operand(n node, implicit bool, parent node) {
	if !p.opts.Pretty || isSimple(n, parent) {
		p.expr(n, implicit)
		return
	}
	p.write("(")
	p.expr(n, implicit)
	p.write(")")
}

func (p *printer) list(nodes []node, implicit bool) {
	for i, n := range nodes {
		if i > 0 {
			p.write(", ")
		}
		p.expr(n, implicit)
	}
}

func (p *printer) column(n *column) {
	if p.opts.Value {
		p.write("VALUE")
		return
	}
	if n.row != nil {
		p.write(sqlname.Quote(visibleColumns(p.renamed(n.row))[n.index].Name))
		return
	}
	if n.rel == nil {
		p.write(sqlname.Quote(n.plainName()))
		return
	}
	if p.qualify {
		p.write(sqlname.Quote(n.rel.name), ".")
	}
	p.write(sqlname.Quote(p.columnName(n)))
}

func (p *printer) wholeRow(n *wholeRow) {
	switch {
	case n.rel != nil:
		p.write(sqlname.Quote(n.rel.name), ".*")
	case n.desc != nil:
		p.write(sqlname.Quote(p.renamed(n.desc).Name), ".*")
	}
}

// constant writes a value. Its type is shown where the text alone would be read with another type,
// or if must is set, but never if typed is false.
func (p *printer) constant(c *constant, must, typed bool) {
	if p.opts.Source && c.source != nil {
		typed = false
		if !c.null {
			p.write(sqlname.Literal(p.relabelled(c.t, *c.source)))
			return
		}
	}
	if c.null {
		p.write("NULL")
		if typed {
			p.write("::", p.typeText(c.t))
		}
		return
	}
	if c.rel != nil {
		c.text = p.relationName(c.rel)
	} else if c.user != nil {
		c.text = p.typeText(c.user)
	} else if names, ok := sqlname.SplitQualified(c.text); ok && len(names) == 1 &&
		c.t.OID == types.OIDRegNamespace && p.opts.RenameSchema != nil {
		c.text = sqlname.Quote(p.opts.RenameSchema(names[0]))
	}
	label, quoted := constantForm(c)
	if quoted {
		p.write(sqlname.Literal(p.relabelled(c.t, c.text)))
	} else {
		p.write(boolText(c))
	}
	if typed && (label || must) {
		p.write("::", p.typeText(c.t))
	}
}

// relabelled returns the text of a constant whose type has other labels by now.
func (p *printer) relabelled(t *types.Type, text string) string {
	now := p.renamedType(t)
	if now == t {
		return text
	}
	d, err := types.ParseText(t, text, nil)
	if err != nil {
		return text
	}
	return types.Text(now, types.Refit(d, t, now), nil)
}

// refitRow returns the fields of a row that is a value of a composite type, as the type is to
// become: new ones are NULL.
func (p *printer) refitRow(row *rowExpr, t *types.Type) *rowExpr {
	was := t.Base()
	is := p.renamedType(was)
	if is == was || len(row.elems) != len(was.Fields()) {
		return row
	}
	out := &rowExpr{elems: make([]node, len(is.Fields()))}
	for i, a := range is.Fields() {
		out.elems[i] = &constant{t: a.Type, null: true}
	}
	for i, e := range row.elems {
		if k := was.FieldIn(is, i); k >= 0 {
			out.elems[k] = e
		}
	}
	return out
}

func boolText(c *constant) string {
	if c.t.OID != types.OIDBool {
		return c.text
	}
	if c.text == "t" || c.text == "true" {
		return "true"
	}
	return "false"
}

// constantForm reports whether a constant needs its type as a label to be read as that type, and
// whether its text is quoted.
func constantForm(c *constant) (label, quoted bool) {
	switch c.t.OID {
	case types.OIDBool:
		return false, false
	case types.OIDUnknown:
		return false, true
	case types.OIDInt4:
		negative := strings.HasPrefix(c.text, "-")
		return negative, negative
	case types.OIDNumeric:
		numeric := looksNumeric(c.text)
		return !numeric || c.t.Mod >= 0, !numeric
	}
	return true, true
}

// looksNumeric reports whether a text is read as a numeric without quotes: it has a point or an
// exponent and no sign.
func looksNumeric(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.ContainsAny(s, "eE.")
}

func (p *printer) operator(n *operator) {
	p.wrap(func() {
		if n.left != nil {
			p.operand(n.left, true, n)
			p.write(" ")
		}
		p.write(operatorSyntax(n.op), " ")
		if c, ok := n.right.(*constant); ok && n.left == nil && n.op == "-" && p.unsigned(c) {
			p.write(sqlname.Literal(c.text), "::", p.typeText(c.t))
			return
		}
		p.operand(n.right, true, n)
	})
}

// unsigned reports whether a constant is printed for the catalog as digits alone: a sign before
// them would be read as a part of the number.
func (p *printer) unsigned(c *constant) bool {
	_, quoted := constantForm(c)
	return p.opts.Source && c.source == nil && !c.null && !quoted
}

// operatorSyntax is an operator as it is written, OPERATOR(schema.op) if it has its schema.
func operatorSyntax(op string) string {
	i := strings.LastIndexByte(op, '.')
	if i < 0 {
		return op
	}
	return "OPERATOR(" + sqlname.Quote(op[:i]) + op[i:] + ")"
}

func (p *printer) coercion(n *coercion, implicit bool) {
	if row, ok := n.arg.(*rowExpr); ok {
		n = &coercion{t: n.t, arg: p.refitRow(row, n.t), implicit: n.implicit, kind: n.kind}
	}
	if n.implicit && !implicit {
		p.operand(n.arg, false, n)
		return
	}
	if c, ok := n.arg.(*constant); ok && c.t.OID == n.t.OID && c.t.Mod == types.NoMod {
		p.constant(c, false, false)
	} else if row, ok := n.arg.(*rowExpr); ok {
		p.expr(row, false)
	} else {
		p.wrap(func() { p.operand(n.arg, false, n) })
	}
	p.write("::", p.typeText(n.t))
}

func (p *printer) logic(n *logic) {
	p.wrap(func() {
		if n.op == "NOT" {
			p.write("NOT ")
			p.operand(n.args[0], false, n)
			return
		}
		for i, a := range n.args {
			if i > 0 {
				p.write(" ", n.op, " ")
			}
			p.operand(a, false, n)
		}
	})
}

func (p *printer) anyArray(n *anyArray) {
	word := " ANY ("
	if n.all {
		word = " ALL ("
	}
	array := n.array
	if c, ok := array.(*coercion); ok {
		array = c.arg
	}
	if list, ok := array.(*arrayExpr); ok && n.list && p.opts.Source && impliedByIn(n) {
		p.inList(n, list)
		return
	}
	p.wrap(func() {
		p.operand(n.left, true, n)
		p.write(" ", operatorSyntax(n.op), word)
		p.operand(n.array, true, n)
		if s, ok := n.array.(*subquery); ok && s.kind == scalarSub {
			p.write("::", p.typeText(s.t)) // otherwise it would be read as a query of elements
		}
		p.write(")")
	})
}

// impliedByIn reports whether IN means the operator of n in a stored text: a built-in one, or that
// of the extension that the type of the left operand belongs to.
func impliedByIn(n *anyArray) bool {
	i := strings.LastIndexByte(n.op, '.')
	return i < 0 || n.op[:i] == extension.StoredSchema(types.ExtensionOf(n.left.typ()))
}

// inList writes IN (…) in the form in which it was written.
func (p *printer) inList(n *anyArray, list *arrayExpr) {
	word := " IN ("
	if n.all {
		word = " NOT IN ("
	}
	p.wrap(func() {
		p.expr(n.left, false)
		p.write(word)
		p.list(list.elems, false)
		p.write(")")
	})
}

func (p *printer) caseExpr(n *caseExpr) {
	p.line("CASE", 0, indentItem, 0)
	if n.operand != nil {
		p.write(" ")
		p.expr(n.operand, true)
	}
	for _, w := range n.whens {
		p.line("WHEN ", 0, 0, 0)
		p.expr(w.cond, false)
		p.write(" THEN ")
		p.expr(w.result, true)
	}
	p.line("ELSE ", 0, 0, 0)
	p.expr(n.other, true)
	p.line("END", -indentItem, 0, 0)
}

func (p *printer) field(n *field) {
	switch n.arg.(type) {
	case *subscript, *field:
		p.expr(n.arg, true)
	default:
		p.write("(")
		p.expr(n.arg, true)
		p.write(")")
	}
	p.write(".", sqlname.Quote(p.fieldName(n)))
}

// fieldName returns the name of a field as it is to become.
func (p *printer) fieldName(n *field) string {
	was := n.arg.typ().Base()
	is := p.renamedType(was)
	if i := was.Field(n.name); is != was && i >= 0 {
		if k := was.FieldIn(is, i); k >= 0 {
			return is.Fields()[k].Name
		}
	}
	return n.name
}

func (p *printer) subscript(n *subscript, implicit bool) {
	_, plain := n.arg.(*column)
	if _, of := n.arg.(*field); of || plain && !p.opts.Value {
		p.expr(n.arg, implicit)
	} else {
		p.write("(")
		p.expr(n.arg, implicit)
		p.write(")")
	}
	for _, s := range n.parts {
		p.write("[")
		if !s.slice {
			p.expr(s.index, false)
		} else {
			if s.low != nil {
				p.expr(s.low, false)
			}
			p.write(":")
			if s.high != nil {
				p.expr(s.high, false)
			}
		}
		p.write("]")
	}
}

func (p *printer) subquery(n *subquery) {
	if n.kind == arraySub {
		p.write("ARRAY(")
	} else {
		p.write("(")
	}
	if len(n.left) == 1 {
		p.expr(n.left[0], true)
	} else if len(n.left) > 1 {
		p.write("(")
		p.list(n.left, true)
		p.write(")")
	}
	parens := true
	switch {
	case n.kind == existsSub:
		p.write("EXISTS ")
	case n.kind == anySub && n.op == "=":
		p.write(" IN ")
	case n.kind == anySub:
		p.write(" ", operatorSyntax(n.op), " ANY ")
	case n.kind == allSub:
		p.write(" ", operatorSyntax(n.op), " ALL ")
	case len(n.left) > 0:
		p.write(" ", n.op, " ")
	default:
		parens = false
	}
	if parens {
		p.write("(")
	}
	p.nested(n.query, false)
	if parens {
		p.write(")")
	}
	p.write(")")
}
