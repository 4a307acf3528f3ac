package deparse

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// resolver makes a tree of nodes from a statement's tree and the binder's notes on it.
type resolver struct {
	ctx    context.Context
	env    *opt.Env
	notes  *bind.Notes
	format types.Format // for parsing literals
	out    types.Format // for writing constants
	regs   []table.ID   // relations that constants of type regclass refer to
	row    *table.Desc  // of an expression over one row
	scope  *queryScope  // the query being resolved
	tables map[ast.TableExpr]*relation
	joins  map[*ast.Join]*joinExpr
	err    error // the first error
	opts   Options
	// members finds the members of extensions, once scoped is set.
	members *extension.Scope
	scoped  bool
}

func (r *resolver) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// expr resolves an expression.
func (r *resolver) expr(e ast.Expr) node {
	switch e := e.(type) {
	case *ast.Literal:
		return r.constant(e)
	case *ast.Param:
		return &keyword{t: types.TUnknown, text: "$" + strconv.Itoa(e.N)}
	case *ast.ColumnRef, *ast.FieldSelect, *ast.Star:
		return r.name(e)
	case *ast.Binary:
		return r.binaryExpr(e)
	case *ast.Unary:
		return r.unary(e)
	case *ast.IsTest:
		return r.isTest(e)
	case *ast.XML:
		return r.xml(e)
	case *ast.IsDistinct:
		return r.isDistinct(e)
	case *ast.Like:
		return r.like(e)
	case *ast.Between:
		return r.between(e)
	case *ast.InList:
		return r.inList(e)
	case *ast.Case:
		return r.caseExpr(e)
	case *ast.Array:
		return r.array(e, nil)
	case *ast.Row:
		return r.rowExpr(e)
	case *ast.Cast:
		return r.cast(e)
	case *ast.Collate:
		return &collated{arg: r.asText(r.expr(e.Operand)), name: e.Collation.Name}
	case *ast.FuncCall:
		return r.funcCall(e)
	case *ast.Subscript:
		return r.subscript(e)
	}
	return r.subqueryExpr(e)
}

// list resolves expressions. It passes each node through with, unless that is nil.
func (r *resolver) list(es []ast.Expr, with func(node) node) []node {
	out := make([]node, len(es))
	for i, e := range es {
		if out[i] = r.expr(e); with != nil {
			out[i] = with(out[i])
		}
	}
	return out
}

func (r *resolver) constant(e *ast.Literal) node {
	switch e.Kind {
	case ast.LiteralNull:
		return &constant{t: types.TUnknown, null: true}
	case ast.LiteralBool:
		text := "false"
		if e.Text == "t" {
			text = "true"
		}
		return &constant{t: types.TBool, text: text}
	case ast.LiteralInt, ast.LiteralNumber:
		return r.number(e.Text)
	case ast.LiteralString:
		return &constant{t: types.TUnknown, text: e.Text}
	case ast.LiteralBits:
		return &constant{t: types.TBit, text: e.Text}
	}
	r.fail(fmt.Errorf("deparse: literal of kind %d", e.Kind))
	return &constant{t: types.TUnknown, text: e.Text}
}

// number makes an integer, a bigint or a numeric, depending on the size and form of the text.
func (r *resolver) number(text string) node {
	if _, err := strconv.ParseInt(text, 10, 32); err == nil {
		return &constant{t: types.TInt4, text: text}
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return &constant{t: types.TInt8, text: text}
	}
	d, err := types.ParseNumeric(text)
	if err != nil {
		r.fail(err)
	}
	return &constant{t: types.TNumeric,
		text: types.Text(types.TNumeric, types.NewDecimal(d), &r.out)}
}

// name resolves the name of a column or of a whole row.
func (r *resolver) name(e ast.Expr) node {
	if c, ok := r.notes.Columns[e]; ok {
		return r.column(c)
	}
	if f, ok := e.(*ast.FieldSelect); ok && r.notes.Types[e] != nil {
		return &field{t: r.notes.Types[e], arg: r.expr(f.Operand), name: f.Field}
	}
	if call, ok := r.notes.Calls[e]; ok {
		return r.scalar(call.Function, []node{&wholeRow{rel: r.tables[call.Table], desc: r.row}})
	}
	if ref, ok := r.notes.Rows[e]; ok {
		return &wholeRow{rel: r.tables[ref], desc: r.row}
	}
	r.fail(fmt.Errorf("deparse: a name without a note"))
	return &constant{t: types.TUnknown}
}

// rowExpr resolves ROW(…), within which a star means several fields.
func (r *resolver) rowExpr(e *ast.Row) *rowExpr {
	out := &rowExpr{}
	for _, el := range e.Elements {
		if star := r.star(el); star != nil {
			out.elems = append(out.elems, star...)
			continue
		}
		out.elems = append(out.elems, r.asText(r.expr(el)))
	}
	return out
}

// rowOf resolves ROW(…) as a value of a composite type.
func (r *resolver) rowOf(e *ast.Row, fields []types.Attribute) node {
	out := r.rowExpr(e)
	if len(e.Elements) != len(fields) || len(out.elems) != len(fields) {
		return out
	}
	for i, a := range fields {
		if lit, ok := e.Elements[i].(*ast.Literal); ok {
			out.elems[i] = r.constant(lit)
		}
		out.elems[i] = r.coerceTo(out.elems[i], a.Type, true)
	}
	return out
}

// star resolves * and (x).* to the columns or fields that they mean; nil for anything else.
func (r *resolver) star(e ast.Expr) (out []node) {
	if cols, ok := r.notes.Stars[e]; ok {
		for _, col := range cols {
			out = append(out, r.column(col))
		}
		return out
	}
	for _, f := range r.notes.Fields[e] {
		operand := e.(*ast.FieldSelect).Operand
		out = append(out, &field{t: f.Type, arg: r.expr(operand), name: f.Name})
	}
	return out
}

func (r *resolver) column(c bind.ColumnNote) node {
	out := &column{t: c.Type, index: c.Index, name: c.Name}
	if c.Table != nil {
		out.rel = r.tables[c.Table]
	} else if c.Join != nil {
		out.join = r.joins[c.Join]
	} else if r.scope == nil {
		out.row = r.row
	}
	return out
}

// binaryExpr resolves AND, OR and binary operators.
func (r *resolver) binaryExpr(e *ast.Binary) node {
	switch e.Op {
	case "and":
		return r.chain(e, "AND")
	case "or":
		return r.chain(e, "OR")
	}
	return r.compare(e.Op, e.Left, e.Right)
}

func (r *resolver) compare(op string, left, right ast.Expr) node {
	l, lok := left.(*ast.Row)
	rr, rok := right.(*ast.Row)
	if lok && rok && len(l.Elements) == len(rr.Elements) {
		return r.compareRows(op, l.Elements, rr.Elements)
	}
	if sub, ok := right.(*ast.Subquery); ok && lok {
		return r.rowSubquery(op, l, sub)
	}
	return r.binary(op, r.expr(left), r.expr(right))
}

// chain resolves a list of conditions.
func (r *resolver) chain(e *ast.Binary, op string) node {
	out := &logic{op: op}
	for _, operand := range e.Chain() {
		out.args = append(out.args, r.condition(operand))
	}
	return out
}

// condition resolves an expression that must be boolean.
func (r *resolver) condition(e ast.Expr) node { return r.coerce(r.expr(e), types.TBool, true) }

// compareRows makes an operator for each pair of fields, or one comparison of both rows.
func (r *resolver) compareRows(op string, left, right []ast.Expr) node {
	if op == "=" || op == "<>" {
		word := map[string]string{"=": "AND", "<>": "OR"}[op]
		out := &logic{op: word}
		for i := range left {
			out.args = append(out.args, r.compare(op, left[i], right[i]))
		}
		if len(out.args) == 1 {
			return out.args[0]
		}
		return out
	}
	out := &rowCompare{op: op}
	for i := range left {
		n := r.binary(op, r.expr(left[i]), r.expr(right[i])).(*operator)
		out.left, out.right = append(out.left, n.left), append(out.right, n.right)
	}
	return out
}

func (r *resolver) unary(e *ast.Unary) node {
	if e.Op == "not" {
		return &logic{op: "NOT", args: []node{r.condition(e.Operand)}}
	}
	lit, ok := e.Operand.(*ast.Literal)
	if ok && e.Op == "-" && (lit.Kind == ast.LiteralInt || lit.Kind == ast.LiteralNumber) {
		if text, negative := strings.CutPrefix(lit.Text, "-"); negative {
			return r.number(text)
		}
		return r.number("-" + lit.Text)
	}
	arg := r.expr(e.Operand)
	fn, targets, err := r.operatorNamed(e.Op).ResolveOperator(nil, arg.typ())
	if err != nil {
		r.fail(err)
		return arg
	}
	return &operator{t: builtin.ReturnType(fn, targets), op: r.operatorText(fn),
		right: r.coerce(arg, operatorType(targets[0]), true)}
}

func (r *resolver) isTest(e *ast.IsTest) node {
	if e.Test == "document" {
		return r.isDocument(e)
	}
	what := " IS "
	if e.Not {
		what += "NOT "
	}
	what += strings.ToUpper(e.Test)
	if e.Test == "null" {
		return &test{arg: r.asText(r.expr(e.Operand)), what: what, ofNull: true}
	}
	return &test{arg: r.condition(e.Operand), what: what}
}

func (r *resolver) isDistinct(e *ast.IsDistinct) node {
	l, lok := e.Left.(*ast.Row)
	rr, rok := e.Right.(*ast.Row)
	var out node
	if lok && rok && len(l.Elements) == len(rr.Elements) {
		any := &logic{op: "OR"}
		for i := range l.Elements {
			any.args = append(any.args, r.distinct(r.expr(l.Elements[i]), r.expr(rr.Elements[i])))
		}
		out = any
	} else {
		out = r.distinct(r.expr(e.Left), r.expr(e.Right))
	}
	if t, ok := out.(*test); ok {
		if e.Not {
			t.what = " IS NULL"
		}
		return t
	}
	if e.Not {
		return &logic{op: "NOT", args: []node{out}}
	}
	return out
}

// distinct makes IS DISTINCT FROM; with NULL, without a type of its own, it becomes IS NOT NULL.
func (r *resolver) distinct(left, right node) node {
	for i, n := range []node{left, right} {
		if c, ok := n.(*constant); ok && c.null && c.t == types.TUnknown {
			return &test{arg: r.asText([]node{right, left}[i]), what: " IS NOT NULL", ofNull: true}
		}
	}
	if n, ok := r.binary("=", left, right).(*operator); ok {
		left, right = n.left, n.right
	}
	return &distinctTest{left: left, right: right}
}

var likeOperators = map[string]string{"like": "~~", "ilike": "~~*", "similar": "~"}

func (r *resolver) like(e *ast.Like) node {
	operand, pattern := r.expr(e.Operand), r.expr(e.Pattern)
	args := []node{pattern}
	if e.Escape != nil {
		args = append(args, r.expr(e.Escape))
	}
	switch {
	case e.Op == "similar":
		pattern = r.scalar("similar_to_escape", args)
	case e.Escape != nil:
		pattern = r.scalar("like_escape", args)
	}
	op := likeOperators[e.Op]
	if e.Not {
		op = "!" + op
	}
	return r.binary(op, operand, pattern)
}

// between makes two comparisons.
func (r *resolver) between(e *ast.Between) node {
	low, high, inside, outside := ">=", "<=", "AND", "OR"
	if e.Not {
		low, high, inside, outside = "<", ">", "OR", "AND"
	}
	pair := func(a, b ast.Expr) node {
		return &logic{op: inside,
			args: []node{r.compare(low, e.Operand, a), r.compare(high, e.Operand, b)}}
	}
	if !e.Symmetric {
		return pair(e.Low, e.High)
	}
	return &logic{op: outside, args: []node{pair(e.Low, e.High), pair(e.High, e.Low)}}
}

// inList makes = ANY over the members without columns, if there are several with a common type, and
// a comparison for each other member.
func (r *resolver) inList(e *ast.InList) node {
	op, word := "=", "OR"
	if e.Not {
		op, word = "<>", "AND"
	}
	var plain, rest []ast.Expr
	for _, m := range e.List {
		if _, row := m.(*ast.Row); row || r.readsColumn(m) {
			rest = append(rest, m)
		} else {
			plain = append(plain, m)
		}
	}
	var out node
	if len(plain) > 1 {
		out = r.inArray(e, op, plain)
	}
	if out == nil {
		rest = e.List
	}
	for _, m := range rest {
		next := r.compare(op, e.Operand, m)
		if out == nil {
			out = next
		} else {
			out = &logic{op: word, args: []node{out, next}}
		}
	}
	return out
}

// inArray makes a comparison with an array of the members. It returns nil if they have no common
// type.
func (r *resolver) inArray(e *ast.InList, op string, members []ast.Expr) node {
	if _, row := e.Operand.(*ast.Row); row {
		return nil
	}
	left, elems := r.expr(e.Operand), r.list(members, nil)
	ts := []*types.Type{left.typ()}
	for _, n := range elems {
		ts = append(ts, n.typ())
	}
	t, _, err := builtin.CommonTypeFor("IN", ts)
	if err != nil || t.OID == types.OIDRecord || t.Elem != nil { // no type has arrays as elements
		return nil
	}
	t = t.WithMod(types.NoMod)
	array := types.ArrayOf(t)
	if array == nil {
		return nil
	}
	for i := range elems {
		elems[i] = r.coerce(elems[i], t, true)
	}
	out := r.withArray(op, e.Not, left, &arrayExpr{t: array, elems: elems})
	if a, ok := out.(*anyArray); ok {
		a.list = true
	}
	return out
}

// withArray makes left op ANY (array), or ALL.
func (r *resolver) withArray(op string, all bool, left, array node) node {
	elem := types.TUnknown
	if t := array.typ(); t.Elem != nil {
		elem = t.Elem
	}
	fn, targets, err := r.operatorNamed(op).ResolveOperator(left.typ(), elem)
	if err != nil {
		r.fail(err)
		return left
	}
	if !hasMixedOperator(op, left.typ(), elem) {
		left = r.coerce(left, operatorType(targets[0]), true)
		array = r.coerce(array, types.ArrayOf(operatorType(targets[1])), true)
	}
	return &anyArray{op: r.operatorText(fn), all: all, left: left, array: array}
}

func (r *resolver) caseExpr(e *ast.Case) node {
	out := &caseExpr{}
	if e.Operand != nil {
		out.operand = r.asText(r.expr(e.Operand))
	}
	results := []node{&constant{t: types.TUnknown, null: true}}
	if e.Else != nil {
		results[0] = r.expr(e.Else)
	}
	for _, w := range e.Whens {
		cond := node(nil)
		if out.operand == nil {
			cond = r.condition(w.Cond)
		} else {
			cond = r.expr(w.Cond)
			if n, ok := r.binary("=", out.operand, cond).(*operator); ok {
				cond = n.right
			}
		}
		out.whens = append(out.whens, when{cond: cond})
		results = append(results, r.expr(w.Result))
	}
	out.t = r.coerceToCommon("CASE", results)
	out.other = results[0]
	for i := range out.whens {
		out.whens[i].result = results[i+1]
	}
	return out
}

// array resolves ARRAY[…]. elem is the element type that a cast around it requires, or nil.
func (r *resolver) array(e *ast.Array, elem *types.Type) node {
	elems := make([]node, len(e.Elements))
	nested := false
	for i, el := range e.Elements {
		if sub, ok := el.(*ast.Array); ok {
			nested = true
			elems[i] = r.array(sub, elem)
		} else {
			elems[i] = r.expr(el)
		}
	}
	if elem == nil || nested {
		t := r.coerceToCommon("ARRAY", elems)
		if nested {
			return &arrayExpr{t: t, elems: elems}
		}
		return &arrayExpr{t: types.ArrayOf(t), elems: elems}
	}
	for i := range elems {
		elems[i] = r.coerceTo(elems[i], elem, false)
	}
	return &arrayExpr{t: types.ArrayOf(elem), elems: elems}
}

func (r *resolver) cast(e *ast.Cast) node {
	t, err := bind.ResolveType(r.ctx, r.env, e.Type)
	if err != nil {
		r.fail(err)
		return &constant{t: types.TUnknown}
	}
	if arr, ok := e.Operand.(*ast.Array); ok && t.Elem != nil {
		return r.coerceTo(r.array(arr, t.Elem), t, false)
	}
	if row, ok := e.Operand.(*ast.Row); ok && t.Base().IsComposite() {
		return r.coerceTo(r.rowOf(row, t.Base().Fields()), t, false)
	}
	if _, star := e.Operand.(*ast.Star); star && t.OID == types.OIDRecord {
		return r.expr(e.Operand)
	}
	return r.coerceTo(r.expr(e.Operand), t, false)
}

// subscript resolves a chain of subscripts to one node.
func (r *resolver) subscript(e *ast.Subscript) node {
	base, chain := e.Chain()
	out := &subscript{arg: r.expr(base), t: r.notes.Types[e]}
	for i := len(chain) - 1; i >= 0; i-- {
		s := chain[i]
		out.parts = append(out.parts,
			subscriptPart{slice: s.Slice, index: r.bound(out.arg, s.Index),
				low: r.bound(out.arg, s.Low), high: r.bound(out.arg, s.High)})
	}
	if out.t == nil {
		r.fail(fmt.Errorf("deparse: a subscript without a type"))
		out.t = types.TUnknown
	}
	return out
}

// bound resolves an index. That of a jsonb may also be a key, and that of an hstore is one.
func (r *resolver) bound(of node, e ast.Expr) node {
	if e == nil {
		return nil
	}
	n := r.expr(e)
	oid := of.typ().Base().OID
	if oid == types.OIDHStore || oid == types.OIDJSONB && n.typ().OID != types.OIDInt4 {
		return r.coerce(n, types.TText, true)
	}
	return r.coerce(n, types.TInt4, true)
}

// readsColumn reports whether an expression reads a column of its query, or of the row.
func (r *resolver) readsColumn(e ast.Expr) bool {
	if r.opts.Value {
		return false // VALUE of a domain is no column
	}
	return r.finds(e, func(c bind.ColumnNote) bool {
		return r.scope == nil || c.Table == nil ||
			r.scope.own[c.Table]
	})
}

// reads reports whether an expression in FROM reads another entry of FROM.
func (r *resolver) reads(e ast.Expr) bool {
	return r.finds(e, func(c bind.ColumnNote) bool {
		return c.Table == nil ||
			r.scope.own[c.Table]
	})
}

func (r *resolver) finds(e ast.Expr, is func(bind.ColumnNote) bool) bool {
	found := false
	ast.Inspect(e, func(n any) bool {
		if ref, ok := n.(ast.Expr); ok {
			c, noted := r.notes.Columns[ref]
			found = found || noted && is(c)
		}
		return !found
	})
	return found
}
