package bind

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// coercion is the context of a conversion, which decides what is allowed: implicit, an assignment
// to a column, or CAST.
type coercion uint8

const (
	implicit coercion = iota
	assignment
	explicit
)

// canCast reports whether a value may be converted.
func canCast(from, to *types.Type, how coercion) bool {
	if builtin.CanCoerce(from, to) {
		return true
	}
	if how == implicit {
		return false
	}
	from, to = from.Base(), to.Base()
	if from.Elem != nil && to.Elem != nil {
		return canCast(from.Elem, to.Elem, how)
	}
	if ofUser(from) || ofUser(to) { // through the text, if at all
		return to.Category() == 'S' || how == explicit && from.Category() == 'S'
	}
	switch types.CastContext(from.OID, to.OID) {
	case 'i', 'a':
		return true
	case 'e':
		return how == explicit && to.OID != types.OIDRecord
	}
	return false
}

// ofUser reports whether a type is one that a user made, or the type of its arrays.
func ofUser(t *types.Type) bool { return t.Def != nil || t.Elem != nil && t.Elem.Def != nil }

// coerce converts an expression to a type. Requires: canCast allows it. It parses a literal of
// unknown type, and gives a parameter of unknown type the type.
func (b *binder) coerce(e expr.Expr, to *types.Type, how coercion, pos int) expr.Expr {
	out := b.coerced(e, to, how, pos)
	if b.collated != nil {
		b.keepCollation(e, out)
	}
	return out
}

func (b *binder) coerced(e expr.Expr, to *types.Type, how coercion, pos int) expr.Expr {
	from := e.Type()
	if to.IsDomain() && from.OID != to.OID {
		return b.toDomain(e, to, how, pos)
	}
	if from.IsDomain() && from.OID != to.OID {
		e = below(e)
		from = e.Type()
	}
	if from.OID == types.OIDUnknown {
		switch x := e.(type) {
		case *expr.Const:
			e = b.parseLiteral(x, to)
		case *expr.Param:
			e = b.inferParam(x, to.WithMod(types.NoMod))
		default:
			e = &expr.Cast{T: to, Arg: e, Explicit: how == explicit, Pos: pos}
		}
		from = e.Type()
	}
	if from.OID == to.OID {
		if to.Mod == types.NoMod || to.Mod == from.Mod {
			return e
		}
		return b.applyMod(e, to, how, pos)
	}
	if from.OID == types.OIDRecord && to.IsComposite() {
		return b.coerceRow(e, to, how, pos)
	}
	if c, ok := e.(*expr.Const); ok {
		if folded := b.foldCast(c, to, how); folded != nil {
			return folded
		}
	}
	return &expr.Cast{T: to, Arg: e, Explicit: how == explicit, Pos: pos}
}

// applyMod enforces a length or precision. A constant NULL needs no conversion.
func (b *binder) applyMod(e expr.Expr, to *types.Type, how coercion, pos int) expr.Expr {
	c, ok := e.(*expr.Const)
	if ok && c.Value.Null {
		return &expr.Const{T: to, Value: c.Value, Pos: c.Pos}
	}
	if ok && to.Elem == nil {
		format := types.DefaultFormat
		if b.env.Runtime != nil {
			format = b.env.Runtime.Format
		}
		// A value that does not fit is an error when the statement runs, not when it is planned.
		if v, err := types.Cast(c.Value, c.T, to, how == explicit, &format); err == nil {
			return &expr.Const{T: to, Value: v, Pos: c.Pos}
		}
	}
	return &expr.Cast{T: to, Arg: e, Explicit: how == explicit, Pos: pos}
}

// foldCast converts a constant at once if the result does not depend on settings. If the conversion
// fails, it is left to run time, since it may be in a branch that is never evaluated.
func (b *binder) foldCast(c *expr.Const, to *types.Type, how coercion) expr.Expr {
	if !foldable(c.T) || !foldable(to) {
		return nil
	}
	if c.Value.Null {
		return &expr.Const{T: to, Value: types.Null, Pos: c.Pos}
	}
	format := types.DefaultFormat
	v, err := types.Cast(c.Value, c.T, to, how == explicit, &format)
	if err != nil {
		return nil
	}
	return &expr.Const{T: to, Value: v, Pos: c.Pos}
}

func foldable(t *types.Type) bool {
	switch t.OID {
	case types.OIDInt2, types.OIDInt4, types.OIDInt8, types.OIDFloat8, types.OIDNumeric,
		types.OIDBool,
		types.OIDText, types.OIDVarchar, types.OIDBPChar:
		return true
	}
	return false
}

// inferParam gives a parameter the type that its context requires.
func (b *binder) inferParam(p *expr.Param, t *types.Type) expr.Expr {
	if t.OID == types.OIDUnknown {
		return p
	}
	have := &b.meta.Params[p.N-1]
	if *have == nil {
		*have = t
	} else if (*have).OID != t.OID {
		panic(failure.Of(sqlerr.New(sqlerr.AmbiguousParameter,
			"inconsistent types deduced for parameter $%d", p.N).
			WithDetail("%s versus %s", typeName(*have), typeName(t)).At(p.Pos)))
	}
	return &expr.Param{T: *have, N: p.N, Pos: p.Pos}
}

func (b *binder) castTo(arg expr.Expr, t *types.Type, pos int) expr.Expr {
	if !canCast(arg.Type(), t, explicit) {
		panic(failure.At(pos, sqlerr.CannotCoerce, "cannot cast type %s to %s",
			typeName(arg.Type()), typeName(t)))
	}
	if c, ok := arg.(*expr.Const); ok && arg.Type().OID == types.OIDUnknown && !t.IsDomain() {
		arg = b.parseLiteral(c, t)
	}
	return b.coerce(arg, t, explicit, pos)
}

// coerceBool requires a boolean, as WHERE and AND do.
func (b *binder) coerceBool(e expr.Expr, construct string, src ast.Expr) expr.Expr {
	t := e.Type()
	if t.OID == types.OIDBool {
		return e
	}
	if t.OID != types.OIDUnknown {
		panic(failure.At(exprPos(src), sqlerr.DatatypeMismatch,
			"argument of %s must be type boolean, not type %s", construct, typeName(t)))
	}
	return b.coerce(e, types.TBool, implicit, exprPos(src))
}

// coerceSpecific requires a type, and converts to it as an assignment does.
func (b *binder) coerceSpecific(e expr.Expr, t *types.Type, construct string,
	src ast.Expr) expr.Expr {
	if !canCast(e.Type(), t, assignment) {
		panic(failure.At(exprPos(src), sqlerr.DatatypeMismatch,
			"argument of %s must be type %s, not type %s", construct, typeName(t),
			typeName(e.Type())))
	}
	return b.coerce(e, t, assignment, exprPos(src))
}

var intervalFields = map[string]int{
	"year": types.IntervalYear, "month": types.IntervalMonth, "day": types.IntervalDay,
	"hour": types.IntervalHour, "minute": types.IntervalMinute, "second": types.IntervalSecond,
}

var intervalOrder = []string{"year", "month", "day", "hour", "minute", "second"}

// ResolveType returns a type by its written name, or error 42704.
func ResolveType(ctx context.Context, env *opt.Env, n ast.TypeName) (t *types.Type, err error) {
	defer failure.Catch(&err)
	return newBinder(ctx, env).resolveType(n), nil
}

func (b *binder) resolveType(n ast.TypeName) *types.Type {
	t, err := b.typeNamed(ast.Name{Pos: n.Pos, Schema: n.Schema, Name: n.Name})
	failure.Check(at(err, int(n.Pos)))
	if t == nil {
		failure.Check(at(builtin.AbsentType(n.Schema, n.Name), int(n.Pos)))
		name := n.Name
		if n.Schema != "" {
			name = n.Schema + "." + name
		}
		if n.ArrayDims > 0 {
			name += "[]"
		}
		panic(failure.At(n.Pos, sqlerr.UndefinedObject, "type \"%s\" does not exist", name))
	}
	return b.modified(t, n)
}

// typeNamed finds a type by name, as lookup does a relation; nil when there is none.
func (b *binder) typeNamed(name ast.Name) (*types.Type, error) {
	if b.env.Catalog == nil {
		t, _ := types.ByName(name.Name)
		return t, nil
	}
	return inPath(b, name, b.env.Catalog.Type)
}

// modified applies the modifiers and array bounds of a written name to the type.
func (b *binder) modified(t *types.Type, n ast.TypeName) *types.Type {
	mods := n.Mods
	if n.Fields != "" {
		precision := -1
		if len(n.Mods) > 0 {
			precision = n.Mods[0]
		}
		mods = []int{intervalMask(n), precision}
	}
	t, err := types.TypeWithMods(t, mods)
	failure.Check(at(err, int(n.Pos)))
	if n.ArrayDims > 0 {
		a := types.ArrayOf(t)
		if a == nil {
			panic(failure.At(n.Pos, sqlerr.UndefinedObject,
				"could not find array type for data type %s", typeName(t)))
		}
		t = a
	}
	return t
}

// intervalMask converts fields such as "day to second" to the bits of these and all fields between
// them.
func intervalMask(n ast.TypeName) int {
	from, to, found := strings.Cut(strings.ToLower(n.Fields), " to ")
	if !found {
		to = from
	}
	mask, on := 0, false
	for _, f := range intervalOrder {
		on = on || f == from
		if on {
			mask |= intervalFields[f]
		}
		if f == to {
			on = false
		}
	}
	if mask == 0 {
		panic(failure.At(n.Pos, sqlerr.SyntaxError, "invalid interval fields \"%s\"", n.Fields))
	}
	return mask
}
