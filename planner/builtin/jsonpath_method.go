package builtin

import (
	"errors"
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// method evaluates an item method.
func (x *pathExec) method(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	switch it.Kind {
	case types.PathType:
		name := &types.JSONValue{Kind: types.JSONString, Str: v.typeName()}
		return x.next(it, pathValue{JSONValue: name}, found)
	case types.PathSize:
		switch {
		case v.is(types.JSONArray):
			return x.next(it, pathInt(int64(len(v.Elems))), found)
		case x.path.Lax:
			return x.next(it, pathInt(1), found)
		case x.lax:
			return pathMissing, nil
		}
		return x.fail(sqlerr.SQLJSONArrayNotFound,
			"jsonpath item method .%s() can only be applied to an array", it.Kind)
	case types.PathDouble:
		return x.double(it, v, found)
	case types.PathDatetime:
		return x.datetime(it, v, found)
	case types.PathKeyValue:
		return x.keyValue(it, v, found)
	}
	return x.numeric(it, v, found)
}

func (v pathValue) typeName() string {
	if v.at != nil {
		return v.at.t.SQLName()
	}
	return v.TypeName()
}

var pathNumericMethods = map[types.PathKind]decOp{
	types.PathAbs:     onFirst(total(types.NumericAbs)),
	types.PathFloor:   onFirst(types.NumericFloor),
	types.PathCeiling: onFirst(types.NumericCeil),
}

func onFirst(op func(*apd.Decimal) (*apd.Decimal, error)) decOp {
	return func(a, _ *apd.Decimal) (*apd.Decimal, error) { return op(a) }
}

func (x *pathExec) numeric(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	if !v.is(types.JSONNumber) {
		return x.fail(sqlerr.NonNumericSQLJSONItem,
			"jsonpath item method .%s() can only be applied to a numeric value", it.Kind)
	}
	n, err := pathNumericMethods[it.Kind].run(x.rt, v.Num, v.Num)
	if err != nil {
		return x.caught(err)
	}
	return x.next(it, pathNumber(n), found)
}

// double reads a string as a number of type double precision. A number stays as it is, if it is in
// that type's range.
func (x *pathExec) double(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	parse := func(text string) (float64, bool) {
		f, err := types.ParseFloat(text, 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	switch {
	case v.is(types.JSONNumber):
		if _, ok := parse(types.NumericString(v.Num)); !ok {
			return x.fail(sqlerr.NonNumericSQLJSONItem, "numeric argument of jsonpath item method "+
				".%s() is out of range for type double precision", it.Kind)
		}
	case v.is(types.JSONString):
		if err := x.rt.Tick(len(v.Str)); err != nil {
			return pathFailed, err
		}
		f, ok := parse(v.Str)
		if !ok {
			return x.fail(sqlerr.NonNumericSQLJSONItem, "string argument of jsonpath item method "+
				".%s() is not a valid representation of a double precision number", it.Kind)
		}
		v = pathNumber(types.NumericFromFloat(f, 64))
	default:
		return x.fail(sqlerr.NonNumericSQLJSONItem,
			"jsonpath item method .%s() can only be applied to a string or numeric value", it.Kind)
	}
	return x.next(it, v, found)
}

// pathBase is a document whose objects .keyvalue() numbers: the number is the document's own, then
// where the object is in PostgreSQL's form of it.
type pathBase struct {
	id      int64
	root    *types.JSONValue
	offsets map[*types.JSONValue]int64 // nil until they are asked for
}

const pathBaseFactor = 10_000_000_000

// number returns the number of an object of the base.
func (b *pathBase) number(rt *expr.Runtime, v *types.JSONValue) (int64, error) {
	if b == nil || isScalar(b.root) {
		return 0, nil
	}
	if b.offsets == nil {
		var err error
		if b.offsets, err = types.JSONOffsets(b.root, rt.Tick); err != nil {
			return 0, err
		}
	}
	return b.id*pathBaseFactor + b.offsets[v], nil
}

// keyValue evaluates .keyvalue(): an object of id, key and value for each member.
func (x *pathExec) keyValue(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	if !v.is(types.JSONObject) {
		return x.fail(sqlerr.SQLJSONObjectNotFound,
			"jsonpath item method .%s() can only be applied to an object", it.Kind)
	}
	if len(v.Keys) == 0 {
		return pathMissing, nil
	}
	if settled(it, found) {
		return pathFound, nil
	}
	n, err := x.base.number(x.rt, v.JSONValue)
	if err != nil {
		return pathFailed, err
	}
	id := pathInt(n).JSONValue
	res := pathMissing
	for i, k := range v.Keys {
		if err := x.rt.Grow(256); err != nil {
			return pathFailed, err
		}
		pair := &types.JSONValue{Kind: types.JSONObject, Keys: []string{"id", "key", "value"},
			Elems: []*types.JSONValue{id, {Kind: types.JSONString, Str: k}, v.Elems[i]}}
		base := &pathBase{id: x.made, root: pair}
		x.made++
		res, err = x.based(base, func() (pathResult, error) {
			return x.next(it, pathValue{JSONValue: pair}, found)
		})
		if err != nil || res == pathFailed || res == pathFound && found == nil {
			return res, err
		}
	}
	return res, nil
}

// isData reports whether an error is a data exception.
func isData(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && len(e.Code) == 5 && e.Code[:2] == "22"
}
