package bind

import (
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// The collation of an expression is derived by PostgreSQL's rules, although every collation here
// compares bytes: COLLATION FOR names it, and the columns of views and of CREATE TABLE AS keep it.
// A COLLATE clause gives one explicitly, a column or a constant implicitly, and what is computed
// has that of its arguments. Of two implicit ones the default gives way; others conflict, so that
// there is none. Two explicit ones are an error.

// collationStrength says how an expression came by its collation. Of two, the greater prevails.
type collationStrength uint8

const (
	noCollation collationStrength = iota
	implicitCollation
	conflictingCollations
	explicitCollation
)

// collation is that of an expression; of conflicting ones the first, with the name of the other.
type collation struct {
	name     string
	other    string
	strength collationStrength
	pos      int // of COLLATE
}

const defaultCollation = "default"

// valid returns the name of a collation that is determined, "" of any other.
func (c collation) valid() string {
	if c.strength == noCollation || c.strength == conflictingCollations {
		return ""
	}
	return c.name
}

// implied is the collation of a column that has the values of an expression of collation c.
func (c collation) implied() collation {
	if c.valid() == "" {
		return collation{}
	}
	return collation{name: c.name, strength: implicitCollation}
}

// merge adds the collation of a further argument.
func (c *collation) merge(more collation) {
	switch {
	case more.strength > c.strength:
		*c = more
	case more.strength < c.strength || more.name == c.name:
	case c.strength == explicitCollation:
		panic(failure.At(more.pos, sqlerr.CollationMismatch,
			"collation mismatch between explicit collations \"%s\" and \"%s\"", c.name, more.name))
	case c.strength != implicitCollation || more.name == defaultCollation:
	case c.name == defaultCollation:
		*c = more
	default:
		c.strength, c.other = conflictingCollations, more.name
	}
}

// typeCollation returns the collation of a type's values, "" of a type without.
func typeCollation(t *types.Type) string {
	if t.Elem != nil {
		t = t.Elem
	}
	for ; t.IsDomain(); t = t.Def.Base {
		if t.Def.Collation != "" {
			return t.Def.Collation
		}
	}
	switch {
	case t.OID == types.OIDName:
		return "C"
	case t.OID == types.OIDUnknown || !t.Collatable():
		return ""
	}
	return defaultCollation
}

func ofType(t *types.Type) collation {
	return named(typeCollation(t))
}

// named is an implicit collation of a name, none of "".
func named(name string) collation {
	if name == "" {
		return collation{}
	}
	return collation{name: name, strength: implicitCollation}
}

// collationOf derives the collation of an expression.
func (b *binder) collationOf(e expr.Expr) collation {
	if c, ok := b.collated[e]; ok {
		return c
	}
	switch e := e.(type) {
	case *expr.Col:
		return b.columnCollation(e.Index)
	case *expr.Subquery:
		return b.subqueryCollation(e)
	case *expr.Case:
		return b.caseCollation(e)
	case *expr.RowExpr:
		for _, x := range e.Elems {
			b.collationOf(x)
		}
		return collation{}
	case *expr.Call:
		if field := builtin.FieldOf(e.Func); field != nil {
			b.collationOf(e.Args[0])
			return named(fieldCollation(field))
		}
	}
	var c collation
	for _, x := range operands(e) {
		c.merge(b.collationOf(x))
	}
	return resultCollation(e, c)
}

// resultCollation is the collation of an expression whose arguments have collation c. A domain with
// a collation of its own has that one.
func resultCollation(e expr.Expr, c collation) collation {
	own := ofType(e.Type())
	if own.strength == noCollation || c.strength == noCollation {
		return own
	}
	if _, cast := e.(*expr.Cast); cast && own.name != defaultCollation &&
		c.strength != explicitCollation {
		return own
	}
	return c
}

// operands are the children of an expression.
func operands(e expr.Expr) []expr.Expr {
	var out []expr.Expr
	switch e := e.(type) {
	case *collectedFrom:
		return e.args
	case *valuesColumn:
		for _, row := range e.node.Rows {
			out = append(out, row[e.k])
		}
		return out
	}
	expr.Children(e, func(x expr.Expr) expr.Expr {
		out = append(out, x)
		return x
	})
	return out
}

func (b *binder) caseCollation(e *expr.Case) collation {
	if e.Operand != nil {
		b.collationOf(e.Operand)
	}
	var c collation
	for _, w := range e.Whens {
		b.collationOf(w.Cond)
		c.merge(b.collationOf(w.Result))
	}
	if e.Else != nil {
		c.merge(b.collationOf(e.Else))
	}
	return resultCollation(e, c)
}

// subqueryCollation is that of the column of a subquery which is a value.
func (b *binder) subqueryCollation(e *expr.Subquery) collation {
	if q, ok := e.Plan.(*logical.Query); ok && (e.Kind == expr.Scalar || e.Kind == expr.ArrayOf) {
		return b.columnCollation(q.Cols[0].ID).implied()
	}
	return collation{}
}

func fieldCollation(f *types.Attribute) string {
	if f.Collation != "" {
		return f.Collation
	}
	return typeCollation(f.Type)
}

// columnCollation is the collation of a column, which is derived when it is first asked for.
func (b *binder) columnCollation(id logical.ColID) collation {
	if c, ok := b.columns[id]; ok {
		return c
	}
	col := &b.meta.Cols[id]
	if col.Type.OID == types.OIDUnknown {
		return collation{} // until it has a type
	}
	var c collation
	switch from := col.From.(type) {
	case nil:
		if c = named(col.Collation); col.Collation == "" {
			c = ofType(col.Type)
		}
	case *collectedFrom:
		if c = b.collationOf(from); !from.within {
			c = c.implied()
		}
	default:
		c = b.collationOf(from).implied()
	}
	if b.columns == nil {
		b.columns = map[logical.ColID]collation{}
	}
	b.columns[id] = c
	return c
}

// setCollation records that of a column whose values come from expressions of collation c.
func (b *binder) setCollation(id logical.ColID, c collation) {
	if b.columns == nil {
		b.columns = map[logical.ColID]collation{}
	}
	b.columns[id] = c.implied()
}

// collectedFrom stands for what computes a column from args and is no expression itself: a call of
// an aggregate, or the rows of VALUES. It is within the expression that refers to the column if
// that is part of an expression of the same query.
type collectedFrom struct {
	t      *types.Type
	args   []expr.Expr
	within bool
}

// valuesColumn stands for column k of the rows of VALUES.
type valuesColumn struct {
	node *logical.Values
	k    int
}

// Type is the type of the first row's value.
func (v *valuesColumn) Type() *types.Type { return v.node.Rows[0][v.k].Type() }

// Type is the type of the column.
func (c *collectedFrom) Type() *types.Type { return c.t }

// computedFrom records from which arguments a call within an expression computes a column.
func (b *binder) computedFrom(id logical.ColID, args ...expr.Expr) {
	b.meta.Cols[id].From = &collectedFrom{t: b.meta.Cols[id].Type, args: args, within: true}
}

// collate gives an expression a collation by a COLLATE clause.
func (b *binder) collate(sc *scope, e *ast.Collate) expr.Expr {
	arg := b.expr(sc, e.Operand)
	name := b.collationName(arg.Type(), e.Collation, e.Pos)
	b.collationOf(arg)
	arg = expr.Copy(arg) // which alone has the collation
	if b.collated == nil {
		b.collated = map[expr.Expr]collation{}
	}
	b.collated[arg] = collation{name: name, strength: explicitCollation, pos: int(e.Pos)}
	return arg
}

// collationName resolves the name of a collation for values of a type. There are only those which
// compare bytes. A literal without a type keeps it: the operator determines its type.
func (b *binder) collationName(t *types.Type, name ast.Name, pos ast.Pos) string {
	if t.OID != types.OIDUnknown && typeCollation(t) == "" {
		panic(failure.At(pos, sqlerr.DatatypeMismatch, "collations are not supported by type %s",
			typeName(t)))
	}
	full := name.Name
	if name.Schema != "" {
		full = name.Schema + "." + name.Name
	}
	if isCore(name.Schema) {
		switch name.Name {
		case "C", "POSIX", defaultCollation, "ucs_basic":
			return name.Name
		}
	}
	err := sqlerr.New(sqlerr.UndefinedObject,
		"collation \"%s\" for encoding \"UTF8\" does not exist", full)
	panic(failure.Of(at(b.missingSchema(name, err), int(pos))))
}

// recursiveCollation requires that the first term of a recursive query has the collation of the
// whole query in column i.
func (b *binder) recursiveCollation(entry *cteEntry, first, second *logical.Query, u *ast.SetOp,
	i int) {
	c := b.agreeOnCollation(u, first, second, i).valid()
	if have := b.columnCollation(first.Cols[i].ID).valid(); have != c {
		panic(failure.Of(sqlerr.New(sqlerr.CollationMismatch,
			"recursive query \"%s\" column %d has collation \"%s\" in non-recursive term but "+
				"collation \"%s\" overall", entry.name, i+1, have, c).At(outputPos(u.Left, i)).
			WithHint("Use the COLLATE clause to set the collation of the non-recursive term.")))
	}
}

// keepCollation gives the explicit collation of an expression to what it was converted to.
func (b *binder) keepCollation(from, to expr.Expr) {
	if c, ok := b.collated[from]; ok && from != to && typeCollation(to.Type()) != "" {
		b.collated[to] = c
	}
}

// collationFor binds pg_collation_for, which COLLATION FOR calls: its result is known when the
// statement is planned.
func (b *binder) collationFor(call *ast.FuncCall, args []expr.Expr) expr.Expr {
	fn, _, err := b.function(call.Name).ResolveFunction(typesOf(args))
	failure.Check(at(err, int(call.Pos)))
	c := b.collationOf(args[0])
	return b.newCall(builtin.CollationFor(fn, args[0].Type(), c.valid(),
		typeCollation(args[0].Type()) != ""), args, types.TText, int(call.Pos))
}

// agreeOnCollation verifies that the columns of both operands of a set operation have collations
// that agree. Only UNION ALL, which compares nothing, does without.
func (b *binder) agreeOnCollation(s *ast.SetOp, left, right *logical.Query, i int) collation {
	c := b.outputCollation(left, s.Left, i)
	c.merge(b.outputCollation(right, s.Right, i))
	if c.strength == conflictingCollations && !(strings.EqualFold(s.Op, "union") && s.All) {
		panic(failure.Of(sqlerr.New(sqlerr.CollationMismatch,
			"collation mismatch between implicit collations \"%s\" and \"%s\"", c.name, c.other).
			WithHint("You can choose the collation by applying the COLLATE clause to one or both " +
				"expressions.").At(outputPos(s.Right, i))))
	}
	return c
}

// outputCollation is the collation of result column i of an operand: that of the expression of its
// select list.
func (b *binder) outputCollation(q *logical.Query, body ast.QueryBody, i int) collation {
	id := q.Cols[i].ID
	if _, core := body.(*ast.SelectCore); core {
		if from := b.meta.Cols[id].From; from != nil {
			return b.collationOf(from)
		}
	}
	return b.columnCollation(id)
}
