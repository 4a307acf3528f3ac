package deparse

import (
	"slices"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// coerce converts a node to a type, without its modifier: a constant of unknown type gets the type,
// any other node a coercion if the types differ.
func (r *resolver) coerce(n node, to *types.Type, implicit bool) node {
	from := n.typ()
	switch {
	case to == nil || from.OID == to.OID || to.OID == types.OIDUnknown || to.OID == types.OIDRecord:
		return n
	case from.OID == types.OIDUnknown:
		if c, ok := n.(*constant); ok && !to.IsDomain() {
			return r.literal(c, to, implicit)
		} else if ok {
			n = r.literal(c, to.Base(), implicit)
		}
	}
	if arr, ok := n.(*arrayExpr); ok && len(arr.elems) == 0 {
		return &arrayExpr{t: to}
	}
	return &coercion{t: to.WithMod(types.NoMod), arg: n, implicit: implicit, kind: kindOf(from, to)}
}

// coerceTo converts a node to a type with its modifier, as a column or a cast requires.
func (r *resolver) coerceTo(n node, to *types.Type, implicit bool) node {
	out := r.coerce(n, to, implicit)
	if out.typ().Mod == to.Mod {
		return out
	}
	if c, ok := out.(*coercion); ok && out != n {
		c.implicit = true // of two coercions only the last is shown
	}
	kind := byFunction
	if to.Mod == types.NoMod {
		if c, ok := out.(*constant); ok {
			k := *c
			k.t = to
			return &k
		}
		kind = byRelabel
	}
	return &coercion{t: to, arg: out, implicit: implicit, kind: kind}
}

// literal gives a constant of unknown type its type. The text that is shown is the output of the
// value.
func (r *resolver) literal(c *constant, to *types.Type, implicit bool) node {
	base := to
	if to.Family != types.Interval {
		base = to.Apply(types.NoMod)
	}
	out := &constant{t: base, null: c.null}
	if implicit {
		out.source = &c.text
	}
	if c.null {
		return out
	}
	value, err := r.value(c.text, base)
	switch {
	case err != nil && base.IsReg():
		out.text = c.text // a name that no longer exists stays as written
		return out
	case err != nil:
		r.fail(err)
		return out
	case base.IsReg():
		out.source = nil
		r.referred(out, value.I)
	case readBySettings(base):
		out.source = nil
	}
	out.text = types.Text(base, value, &r.out)
	switch {
	case base.Family == types.XML && r.opts.Source:
		out.text = c.text // with the encoding, which the output function drops
	case base.OID == types.OIDBPChar:
		out.text = c.text // with its trailing blanks
	}
	return out
}

// readBySettings reports whether the value of a text depends on DateStyle, TimeZone, IntervalStyle
// or the clock. The catalog keeps the value that it had when it was written.
func readBySettings(t *types.Type) bool {
	if t.Elem != nil {
		t = t.Elem
	}
	switch t.Family {
	case types.Date, types.Time, types.TimeTZ, types.Timestamp, types.Interval:
		return true
	}
	return false
}

// referred records the relation or the user type that a constant refers to.
func (r *resolver) referred(c *constant, oid int64) {
	switch c.t.OID {
	case types.OIDRegClass:
		rel, err := r.env.Catalog.RelationByID(r.ctx, table.ID(oid))
		if err == nil && rel != nil {
			c.rel = rel
			r.regs = append(r.regs, rel.ID)
		}
	case types.OIDRegType:
		t, err := r.env.Catalog.TypeByOID(r.ctx, types.OID(oid))
		if err == nil && t != nil && (t.Def != nil || t.Nests() && t.Elem.Def != nil) {
			c.user = t
		}
	}
}

// value parses a literal. One that depends on the moment has its present value.
func (r *resolver) value(text string, t *types.Type) (types.Datum, error) {
	switch {
	case t.IsReg(), t.Family == types.Interval:
		return types.ParseText(t, text, &r.format)
	case t.OID == types.OIDText || t.OID == types.OIDVarchar:
		return types.NewString(text), nil
	}
	return types.Cast(types.NewString(text), types.TUnknown, t, false, &r.format)
}

// kindOf returns how PostgreSQL converts one type to another.
func kindOf(from, to *types.Type) castKind {
	if from.IsDomain() || to.IsDomain() {
		if from, to = from.Base(), to.Base(); from.OID == to.OID {
			return byRelabel
		}
	}
	if from.Elem != nil && to.Elem != nil {
		return byRelabel // element by element; printed in the same way
	}
	if relabels(from.OID, to.OID) {
		return byRelabel
	}
	if isString(from) != isString(to) && !types.HasCast(from.OID, to.OID) ||
		isJSON(from) && isJSON(to) {
		return byText
	}
	return byFunction
}

func relabels(from, to types.OID) bool {
	group := func(o types.OID) int {
		switch t, ok := types.ByOID(o); {
		case o == types.OIDText, o == types.OIDVarchar, o == types.OIDCIText:
			return 1
		case o == types.OIDInt4, o == types.OIDOid, ok && t.IsReg():
			return 2
		}
		return 0
	}
	switch {
	case to == types.OIDBPChar && group(from) == 1:
		return true
	case from == types.OIDXML:
		return group(to) == 1 || to == types.OIDBPChar
	case from == types.OIDBit && to == types.OIDVarbit,
		from == types.OIDVarbit && to == types.OIDBit,
		from == types.OIDCidr && to == types.OIDInet:
		return true
	}
	return group(from) != 0 && group(from) == group(to)
}

func isString(t *types.Type) bool {
	switch t.OID {
	case types.OIDText, types.OIDVarchar, types.OIDBPChar, types.OIDName, types.OIDChar,
		types.OIDCIText:
		return true
	}
	return false
}

func isJSON(t *types.Type) bool { return t.OID == types.OIDJSON || t.OID == types.OIDJSONB }

// family is a set of types between which PostgreSQL has operators, so that neither operand is
// converted.
type family struct {
	members []types.OID
	ops     []string
}

var families = []family{
	{[]types.OID{types.OIDInt2, types.OIDInt4, types.OIDInt8},
		[]string{"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/"}},
	{[]types.OID{types.OIDFloat4, types.OIDFloat8},
		[]string{"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/"}},
	{[]types.OID{types.OIDDate, types.OIDTimestamp, types.OIDTimestampTZ}, comparisons},
	{[]types.OID{types.OIDName, types.OIDText}, comparisons},
}

var comparisons = []string{"=", "<>", "<", "<=", ">", ">="}

// binary makes an operator node. Its operands are coerced to the types of the overload.
func (r *resolver) binary(op string, left, right node) node {
	lt, rt := left.typ(), right.typ()
	fn, targets, err := r.operatorNamed(op).ResolveOperator(lt, rt)
	if err != nil {
		r.fail(err)
		return &operator{t: types.TUnknown, op: op, left: left, right: right}
	}
	t := builtin.ReturnType(fn, targets)
	if !hasMixedOperator(op, lt, rt) {
		left = r.coerce(left, operatorType(targets[0]), true)
		right = r.coerce(right, operatorType(targets[1]), true)
	}
	return &operator{t: t, op: r.operatorText(fn), left: left, right: right}
}

// operatorType returns the type whose operators PostgreSQL uses for a type without operators of its
// own.
func operatorType(t *types.Type) *types.Type {
	if t.OID == types.OIDVarchar {
		return types.TText
	}
	return t
}

// hasMixedOperator reports whether PostgreSQL has the operator for the two different types.
func hasMixedOperator(op string, left, right *types.Type) bool {
	if left.OID == right.OID {
		return false
	}
	return slices.ContainsFunc(families, func(f family) bool {
		return slices.Contains(f.members, left.OID) && slices.Contains(f.members, right.OID) &&
			slices.Contains(f.ops, op)
	})
}

// coerceToCommon coerces nodes to their common type, and returns it.
func (r *resolver) coerceToCommon(context string, nodes []node) *types.Type {
	t, _, err := builtin.CommonTypeFor(context, nodeTypes(nodes))
	if err != nil {
		r.fail(err)
		return types.TUnknown
	}
	for i, n := range nodes {
		nodes[i] = r.coerce(n, t, true)
	}
	return t
}

// asText gives a constant of unknown type the type text.
func (r *resolver) asText(n node) node {
	if n.typ().OID == types.OIDUnknown {
		return r.coerce(n, types.TText, true)
	}
	return n
}
