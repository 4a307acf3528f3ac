package bind

import (
	"math"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// literal binds a constant. Its type is int4, int8 or numeric by its size, numeric with a point,
// and unknown in quotes.
func (b *binder) literal(e *ast.Literal) expr.Expr {
	pos := int(e.Pos)
	switch e.Kind {
	case ast.LiteralNull:
		return &expr.Const{T: types.TUnknown, Value: types.Null, Pos: pos}
	case ast.LiteralBool:
		return &expr.Const{T: types.TBool, Value: types.NewBool(e.Text == "t"), Pos: pos}
	case ast.LiteralString:
		return &expr.Const{T: types.TUnknown, Value: types.NewString(e.Text), Pos: pos}
	case ast.LiteralInt, ast.LiteralNumber:
		return number(e.Text, pos)
	}
	return &expr.Const{T: types.TBit, Value: types.NewString(types.PackBits(e.Text)), Pos: pos}
}

func number(text string, pos int) expr.Expr {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		t := types.TInt4
		if i < math.MinInt32 || i > math.MaxInt32 {
			t = types.TInt8
		}
		return &expr.Const{T: t, Value: types.NewInt(i), Pos: pos}
	}
	d, err := types.ParseNumeric(text)
	failure.Check(at(err, pos))
	return &expr.Const{T: types.TNumeric, Value: types.NewDecimal(d), Pos: pos}
}

// parseLiteral parses a quoted literal as a value of a type. A type whose input needs the catalog
// stays a cast, which runs with the statement. Requires: t is not a domain.
func (b *binder) parseLiteral(c *expr.Const, t *types.Type) expr.Expr {
	base := withoutMod(t)
	if c.Value.Null {
		return &expr.Const{T: t, Value: types.Null, Pos: c.Pos}
	}
	switch {
	case base.IsReg():
		text := &expr.Const{T: types.TText, Value: c.Value, Pos: c.Pos}
		return &expr.Cast{T: base, Arg: text, Explicit: true, Pos: c.Pos}
	case base.OID == types.OIDRecord:
		panic(failure.At(c.Pos, sqlerr.FeatureNotSupported,
			"input of anonymous composite types is not implemented"))
	}
	if base.Family == types.String && base.OID != types.OIDJSON && base.OID != types.OIDName &&
		base.OID != types.OIDChar && base.OID != types.OIDBPChar && !types.IsSnapshot(base) {
		return &expr.Const{T: base, Value: c.Value, Pos: c.Pos}
	}
	format := types.DefaultFormat
	if rt := b.env.Runtime; rt != nil {
		format = rt.Format
	}
	if b.path != nil { // in a stored text, where a document is content too
		format.XMLDocument = false
	}
	var v types.Datum
	var err error
	if base.Family == types.Interval { // the fields of the modifier decide how it is read
		v, err = types.ParseText(base, c.Value.S, &format)
	} else {
		v, err = types.Cast(c.Value, types.TUnknown, base, false, &format)
	}
	if err != nil {
		failure.Check(at(err, c.Pos))
		return nil
	}
	if DependsOnMoment(base, c.Value.S) {
		b.momentary = true
	}
	return &expr.Const{T: base, Value: v, Pos: c.Pos}
}

// withoutMod returns the type in which a literal of type t is read, before its length or precision
// is applied. The modifier of an interval names its fields and decides how its text is read.
func withoutMod(t *types.Type) *types.Type {
	switch {
	case t.Mod == types.NoMod || t.Family == types.Interval:
		return t
	case t.Elem != nil:
		return types.ArrayOf(t.Elem.WithMod(types.NoMod))
	}
	return t.WithMod(types.NoMod)
}

// Input reads a quoted literal as a value of type t, for the statement that is about to run.
// constant is false if the value holds only for this moment, or can be found only by the statement.
func Input(env *opt.Env, text string, t *types.Type) (v types.Datum, constant bool, err error) {
	defer failure.Catch(&err)
	b := &binder{env: env}
	e := b.parseLiteral(&expr.Const{T: types.TUnknown, Value: types.NewString(text)}, t.Base())
	c, ok := e.(*expr.Const)
	switch {
	case !ok || b.momentary:
		return v, false, nil
	case t.IsDomain():
		v, err = types.Cast(c.Value, c.T, t, false, &env.Runtime.Format)
		return v, true, err
	}
	return c.Value, true, nil
}

// momentWords are words in a literal whose value depends on when it is read.
var momentWords = []string{"now", "today", "tomorrow", "yesterday"}

// DependsOnMoment reports whether the value of a literal depends on when it is read, so that a plan
// with it serves one statement only. Settings on which the value depends are part of a plan's cache
// key instead.
func DependsOnMoment(t *types.Type, text string) bool {
	if t.Elem != nil {
		return DependsOnMoment(t.Elem, text)
	}
	for _, a := range t.Fields() {
		if DependsOnMoment(a.Type, text) {
			return true
		}
	}
	switch t.Family {
	case types.TimeTZ:
		// Without an offset in numbers it has that of a zone today.
		if !strings.ContainsAny(text, "+-") {
			return true
		}
		fallthrough
	case types.Date, types.Timestamp, types.Time:
		lower := strings.ToLower(text)
		for _, w := range momentWords {
			if strings.Contains(lower, w) {
				return true
			}
		}
	}
	return false
}
