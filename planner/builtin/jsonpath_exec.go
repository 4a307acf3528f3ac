package builtin

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// pathValue is an item of a sequence that a path makes: JSON, or what .datetime() has read.
type pathValue struct {
	*types.JSONValue             // nil for a moment
	at               *pathMoment // else nil
}

func (v pathValue) is(k types.JSONKind) bool { return v.JSONValue != nil && v.Kind == k }

// pathList is a sequence of items, whose memory the statement's account counts.
type pathList struct {
	items   []pathValue
	charged int64
}

const pathValueSize = 16

// add appends an item. The list grows by doubling.
func (l *pathList) add(rt *expr.Runtime, v pathValue) error {
	if n := len(l.items); n == cap(l.items) {
		more := int64(max(n, 4)) * pathValueSize
		if err := rt.Grow(more); err != nil {
			return err
		}
		l.charged += more
	}
	l.items = append(l.items, v)
	return nil
}

// free gives the list's memory back before the evaluation ends.
func (l *pathList) free(rt *expr.Runtime) { rt.Return(l.charged) }

// pathResult is what the evaluation of an item has come to.
type pathResult uint8

const (
	pathFound   pathResult = iota // there is an item, or there are some in the list
	pathMissing                   // there is none
	pathFailed                    // an error that is not to be raised
)

// pathExec evaluates a path. It is PostgreSQL's executor in structure, for the order of evaluation
// decides which errors are found, and where a search for the first item ends.
//
// A list of found items that is nil means that only the existence of an item is asked for: the
// evaluation then ends at the first.
type pathExec struct {
	rt   *expr.Runtime
	path *types.Path
	root pathValue
	vars *types.JSONValue // nil: every variable is null
	// current is @: the item that the innermost filter looks at.
	current pathValue
	// base is the document, within which .keyvalue() numbers the objects.
	base           *pathBase
	inRoot, inVars *pathBase // those of $ and of the variables
	made           int64     // bases so far
	// size is that of the innermost array with subscripts, for last; -1 outside.
	size   int
	throw  bool // raise errors
	lax    bool // ignore structural errors: always in lax mode, within .** also in strict mode
	zoned  bool // comparisons may use the session's time zone
	regexp map[*types.PathItem]*pattern
}

// fail is an error of the path: it is raised, or makes the result unknown.
func (x *pathExec) fail(code string, format string, args ...any) (pathResult, error) {
	if !x.throw {
		return pathFailed, nil
	}
	return pathFailed, sqlerr.New(code, format, args...)
}

// caught is fail for the error of a computation. Only data exceptions can be silenced.
func (x *pathExec) caught(err error) (pathResult, error) {
	if !x.throw && isData(err) {
		return pathFailed, nil
	}
	return pathFailed, err
}

// all evaluates the path on the document.
func (x *pathExec) all(found *pathList) (pathResult, error) {
	if found == nil && !x.path.Lax {
		// In strict mode only the complete list shows that there is no error.
		var list pathList
		defer list.free(x.rt)
		res, err := x.item(x.path.Expr, x.root, &list)
		if res != pathFailed && err == nil && len(list.items) == 0 {
			res = pathMissing
		} else if res != pathFailed {
			res = pathFound
		}
		return res, err
	}
	return x.item(x.path.Expr, x.root, found)
}

// item evaluates an item on v. In lax mode, accessors and methods are applied to the elements of an
// array.
func (x *pathExec) item(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	return x.itemOn(it, v, found, x.path.Lax)
}

// next evaluates what follows an item whose result is v.
func (x *pathExec) next(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	if it != nil && it.Next != nil {
		return x.item(it.Next, v, found)
	}
	if found != nil {
		if err := found.add(x.rt, v); err != nil {
			return pathFailed, err
		}
	}
	return pathFound, x.rt.TickSteps(1)
}

// settled reports whether only the existence of the item's result is asked for: there is one.
func settled(it *types.PathItem, found *pathList) bool { return it.Next == nil && found == nil }

func (x *pathExec) itemOn(it *types.PathItem, v pathValue, found *pathList, unwrap bool,
) (pathResult, error) {
	if err := x.rt.TickSteps(1); err != nil {
		return pathFailed, err
	}
	if unwrap && v.is(types.JSONArray) && unwrapsArrays(it.Kind) {
		return x.elements(it, v, found, false)
	}
	switch it.Kind {
	case types.PathRoot:
		return x.based(x.inRoot, func() (pathResult, error) {
			return x.next(it, x.root, found)
		})
	case types.PathCurrent:
		return x.next(it, x.current, found)
	case types.PathNull, types.PathBool, types.PathNumber, types.PathString, types.PathVariable:
		return x.literal(it, found)
	case types.PathLast:
		if x.size < 0 {
			return pathFailed, sqlerr.New(sqlerr.InternalError,
				"evaluating jsonpath LAST outside of array subscript")
		}
		if settled(it, found) {
			return pathFound, nil
		}
		return x.next(it, pathInt(int64(x.size-1)), found)
	case types.PathAdd, types.PathSub, types.PathMul, types.PathDiv, types.PathMod:
		return x.arithmetic(it, v, found)
	case types.PathPlus, types.PathMinus:
		return x.signed(it, v, found)
	case types.PathFilter:
		holds, err := x.filter(it.Left, v)
		if err != nil || holds != pathTrue {
			return pathMissing, err
		}
		return x.next(it, v, found)
	}
	switch {
	case it.Kind.IsPredicate():
		return x.truth(it, v, found)
	case it.Kind >= types.PathType:
		return x.method(it, v, found)
	}
	return x.accessor(it, v, found)
}

// unwrapsArrays reports whether an item is applied to the elements of an array instead of the array
// itself, in lax mode.
func unwrapsArrays(k types.PathKind) bool {
	switch k {
	case types.PathKey, types.PathAnyKey, types.PathFilter, types.PathAbs, types.PathFloor,
		types.PathCeiling, types.PathDouble, types.PathDatetime, types.PathKeyValue:
		return true
	}
	return false
}

func pathNumber(n *apd.Decimal) pathValue {
	return pathValue{JSONValue: &types.JSONValue{Kind: types.JSONNumber, Num: n}}
}

func pathInt(n int64) pathValue { return pathNumber(types.NumericFromInt(n)) }

// literal evaluates a literal or a variable.
func (x *pathExec) literal(it *types.PathItem, found *pathList) (pathResult, error) {
	if settled(it, found) {
		return pathFound, nil
	}
	v := &types.JSONValue{}
	switch it.Kind {
	case types.PathBool:
		v.Kind, v.Bool = types.JSONBool, it.Bool
	case types.PathNumber:
		v.Kind, v.Num = types.JSONNumber, it.Num
	case types.PathString:
		v.Kind, v.Str = types.JSONString, it.Str
	case types.PathVariable:
		if x.vars == nil {
			break
		}
		if v = x.vars.Member(it.Str); v == nil {
			return pathFailed, sqlerr.New(sqlerr.UndefinedObject,
				"could not find jsonpath variable \"%s\"", it.Str)
		}
		return x.based(x.inVars, func() (pathResult, error) {
			return x.next(it, pathValue{JSONValue: v}, found)
		})
	}
	return x.next(it, pathValue{JSONValue: v}, found)
}

// based runs fn with another base for the numbers of .keyvalue().
func (x *pathExec) based(base *pathBase, fn func() (pathResult, error)) (pathResult, error) {
	outer := x.base
	x.base = base
	defer func() { x.base = outer }()
	return fn()
}

// operand evaluates an operand of an operation. unwrap replaces arrays by their elements, in lax
// mode.
func (x *pathExec) operand(it *types.PathItem, v pathValue, unwrap bool, found *pathList,
) (pathResult, error) {
	if !unwrap || !x.path.Lax {
		return x.item(it, v, found)
	}
	var list pathList
	defer list.free(x.rt)
	res, err := x.item(it, v, &list)
	if err != nil || res == pathFailed {
		return res, err
	}
	for _, e := range list.items {
		if e.is(types.JSONArray) {
			_, err = x.elements(nil, e, found, false)
		} else {
			err = found.add(x.rt, e)
		}
		if err != nil {
			return pathFailed, err
		}
	}
	return pathFound, nil
}

var pathArithmetic = map[types.PathKind]decOp{
	types.PathAdd: types.NumericAdd, types.PathSub: types.NumericSub,
	types.PathMul: types.NumericMul, types.PathDiv: types.NumericDiv,
	types.PathMod: types.NumericMod,
}

func (x *pathExec) arithmetic(it *types.PathItem, v pathValue, found *pathList) (pathResult,
	error) {
	var left, right pathList
	defer left.free(x.rt)
	defer right.free(x.rt)
	if res, err := x.operand(it.Left, v, true, &left); err != nil || res == pathFailed {
		return pathFailed, err
	}
	if res, err := x.operand(it.Right, v, true, &right); err != nil || res == pathFailed {
		return pathFailed, err
	}
	for _, o := range []struct {
		side string
		list *pathList
	}{{"left", &left}, {"right", &right}} {
		if len(o.list.items) != 1 || !o.list.items[0].is(types.JSONNumber) {
			return x.fail(sqlerr.SingletonSQLJSONItemRequired,
				"%s operand of jsonpath operator %s is not a single numeric value", o.side, it.Kind)
		}
	}
	n, err := pathArithmetic[it.Kind].run(x.rt, left.items[0].Num, right.items[0].Num)
	if err != nil {
		return x.caught(err)
	}
	if settled(it, found) {
		return pathFound, nil
	}
	return x.next(it, pathNumber(n), found)
}

// signed evaluates unary + and -, on each item of a sequence.
func (x *pathExec) signed(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	var list pathList
	defer list.free(x.rt)
	if res, err := x.operand(it.Left, v, true, &list); err != nil || res == pathFailed {
		return pathFailed, err
	}
	some := pathMissing
	for _, e := range list.items {
		number := e.is(types.JSONNumber)
		switch {
		case settled(it, found) && number:
			return pathFound, nil
		case settled(it, found):
			continue
		case !number:
			return x.fail(sqlerr.SQLJSONNumberNotFound,
				"operand of unary jsonpath operator %s is not a numeric value", it.Kind)
		}
		if it.Kind == types.PathMinus {
			e = pathNumber(types.NumericNeg(e.Num))
		}
		res, err := x.next(it, e, found)
		switch {
		case err != nil || res == pathFailed:
			return pathFailed, err
		case res == pathFound && found == nil:
			return pathFound, nil
		case res == pathFound:
			some = pathFound
		}
	}
	return some, nil
}

// index evaluates a subscript.
func (x *pathExec) index(it *types.PathItem, v pathValue) (int, pathResult, error) {
	var list pathList
	defer list.free(x.rt)
	if res, err := x.item(it, v, &list); err != nil || res == pathFailed {
		return 0, pathFailed, err
	}
	if len(list.items) != 1 || !list.items[0].is(types.JSONNumber) {
		res, err := x.fail(sqlerr.InvalidSQLJSONSubscript,
			"jsonpath array subscript is not a single numeric value")
		return 0, res, err
	}
	n, err := types.NumericTrunc(list.items[0].Num, 0)
	if err != nil {
		res, err := x.caught(err)
		return 0, res, err
	}
	i, ok := types.NumericToInt64(n)
	if !ok || i < math.MinInt32 || i > math.MaxInt32 {
		res, err := x.fail(sqlerr.InvalidSQLJSONSubscript,
			"jsonpath array subscript is out of integer range")
		return 0, res, err
	}
	return int(i), pathFound, nil
}
