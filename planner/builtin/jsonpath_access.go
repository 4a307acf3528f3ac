package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// accessor evaluates the accessors of members and elements.
func (x *pathExec) accessor(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	switch it.Kind {
	case types.PathKey:
		return x.member(it, v, found)
	case types.PathAnyKey:
		switch {
		case v.is(types.JSONObject):
			return x.children(&pathWalk{it: it.Next, first: 1, last: 1, unwrap: x.path.Lax}, v, 1,
				found)
		case !x.lax:
			return x.fail(sqlerr.SQLJSONObjectNotFound,
				"jsonpath wildcard member accessor can only be applied to an object")
		}
	case types.PathAnyArray:
		switch {
		case v.is(types.JSONArray):
			return x.elements(it.Next, v, found, x.path.Lax)
		case x.path.Lax:
			return x.next(it, v, found)
		case !x.lax:
			return x.fail(sqlerr.SQLJSONArrayNotFound,
				"jsonpath wildcard array accessor can only be applied to an array")
		}
	case types.PathIndexArray:
		switch {
		case v.is(types.JSONArray) || x.path.Lax:
			return x.subscripts(it, v, found)
		case !x.lax:
			return x.fail(sqlerr.SQLJSONArrayNotFound,
				"jsonpath array accessor can only be applied to an array")
		}
	case types.PathAny:
		return x.descendants(it, v, found)
	}
	return pathMissing, nil
}

func (x *pathExec) member(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	if v.is(types.JSONObject) {
		if m := v.Member(it.Str); m != nil {
			return x.next(it, pathValue{JSONValue: m}, found)
		}
		if !x.lax {
			return x.fail(sqlerr.SQLJSONMemberNotFound, "JSON object does not contain key \"%s\"",
				it.Str)
		}
	} else if !x.lax {
		return x.fail(sqlerr.SQLJSONMemberNotFound,
			"jsonpath member accessor can only be applied to an object")
	}
	return pathMissing, nil
}

// subscripts evaluates an accessor with subscripts. In lax mode anything but an array counts as an
// array of itself.
func (x *pathExec) subscripts(it *types.PathItem, v pathValue, found *pathList) (pathResult,
	error) {
	elems := []*types.JSONValue{v.JSONValue}
	array := v.is(types.JSONArray)
	if array {
		elems = v.Elems
	}
	outer := x.size
	x.size = len(elems)
	defer func() { x.size = outer }()

	result := pathMissing
	for _, sub := range it.Subscripts {
		from, res, err := x.index(sub.From, v)
		if err != nil || res == pathFailed {
			return pathFailed, err
		}
		to := from
		if sub.To != nil {
			if to, res, err = x.index(sub.To, v); err != nil || res == pathFailed {
				return pathFailed, err
			}
		}
		if !x.lax && (from < 0 || from > to || to >= len(elems)) {
			return x.fail(sqlerr.InvalidSQLJSONSubscript,
				"jsonpath array subscript is out of bounds")
		}
		result = pathMissing
		for i := max(from, 0); i <= min(to, len(elems)-1); i++ {
			if settled(it, found) {
				return pathFound, nil
			}
			e := v
			if array {
				e = pathValue{JSONValue: elems[i]}
			}
			result, err = x.next(it, e, found)
			if err != nil || result == pathFailed || result == pathFound && found == nil {
				return result, err
			}
		}
	}
	return result, nil
}

// elements evaluates an item on each element of an array; nil collects them.
func (x *pathExec) elements(it *types.PathItem, v pathValue, found *pathList, unwrap bool,
) (pathResult, error) {
	return x.children(&pathWalk{it: it, first: 1, last: 1, unwrap: unwrap}, v, 1, found)
}

// descendants evaluates .**.
func (x *pathExec) descendants(it *types.PathItem, v pathValue, found *pathList) (pathResult,
	error) {
	res := pathMissing
	if it.First == 0 {
		outer := x.lax
		x.lax = true
		var err error
		res, err = x.next(it, v, found)
		x.lax = outer
		if err != nil || res == pathFound && found == nil {
			return res, err
		}
	}
	if v.JSONValue == nil || isScalar(v.JSONValue) {
		return res, nil
	}
	return x.children(&pathWalk{it: it.Next, first: it.First, last: it.Last, lax: true,
		unwrap: x.path.Lax}, v, 1, found)
}

// pathWalk is a walk through the levels from first to last below a value.
type pathWalk struct {
	it          *types.PathItem // evaluated on what is there; nil collects it
	first, last uint32          // both types.PathLastLevel: leaves only
	lax         bool            // ignore structural errors
	unwrap      bool
}

// children walks through the members or elements of v, which are at level.
func (x *pathExec) children(w *pathWalk, v pathValue, level uint32, found *pathList) (pathResult,
	error) {
	res := pathMissing
	if level > w.last {
		return res, nil
	}
	leaves := w.first == types.PathLastLevel && w.last == types.PathLastLevel
	for _, e := range v.Elems {
		child := pathValue{JSONValue: e}
		if level >= w.first || leaves && isScalar(e) {
			var err error
			if res, err = x.visit(w, child, found, res); err != nil || res == pathFailed ||
				res == pathFound && found == nil {
				return res, err
			}
		}
		if level < w.last && !isScalar(e) {
			var err error
			res, err = x.children(w, child, level+1, found)
			if err != nil || res == pathFailed || res == pathFound && found == nil {
				return res, err
			}
		}
	}
	return res, nil
}

// visit evaluates the walk's item on a child, or collects the child; before is the result so far.
func (x *pathExec) visit(w *pathWalk, child pathValue, found *pathList, before pathResult,
) (pathResult, error) {
	if w.it == nil {
		if err := x.rt.TickSteps(1); err != nil {
			return pathFailed, err
		}
		if found == nil {
			return pathFound, nil
		}
		return before, found.add(x.rt, child)
	}
	outer := x.lax
	x.lax = x.lax || w.lax
	res, err := x.itemOn(w.it, child, found, w.unwrap)
	x.lax = outer
	return res, err
}
