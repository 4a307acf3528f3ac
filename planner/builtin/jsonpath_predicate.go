package builtin

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// pathTruth is the value of a predicate.
type pathTruth uint8

const (
	pathFalse pathTruth = iota
	pathTrue
	pathUnknown
)

func truthOf(b bool) pathTruth {
	if b {
		return pathTrue
	}
	return pathFalse
}

// truth evaluates a predicate whose value is an item of the path: true, false or null.
func (x *pathExec) truth(it *types.PathItem, v pathValue, found *pathList) (pathResult, error) {
	t, err := x.predicate(it, v)
	if err != nil {
		return pathFailed, err
	}
	if settled(it, found) {
		return pathFound, nil
	}
	val := &types.JSONValue{Kind: types.JSONBool, Bool: t == pathTrue}
	if t == pathUnknown {
		val = &types.JSONValue{}
	}
	return x.next(it, pathValue{JSONValue: val}, found)
}

// filter evaluates the predicate of a filter on v.
func (x *pathExec) filter(it *types.PathItem, v pathValue) (pathTruth, error) {
	outer := x.current
	x.current = v
	defer func() { x.current = outer }()
	return x.predicate(it, v)
}

func (x *pathExec) predicate(it *types.PathItem, v pathValue) (pathTruth, error) {
	if err := x.rt.TickSteps(1); err != nil {
		return pathUnknown, err
	}
	switch it.Kind {
	case types.PathAnd, types.PathOr:
		decides := truthOf(it.Kind == types.PathOr)
		left, err := x.predicate(it.Left, v)
		if err != nil || left == decides {
			return left, err
		}
		right, err := x.predicate(it.Right, v)
		if right == pathUnknown || right == decides {
			return right, err
		}
		return left, err
	case types.PathNot:
		t, err := x.predicate(it.Left, v)
		if t != pathUnknown {
			t = truthOf(t == pathFalse)
		}
		return t, err
	case types.PathIsUnknown:
		t, err := x.predicate(it.Left, v)
		return truthOf(t == pathUnknown), err
	case types.PathExists:
		return x.exists(it.Left, v)
	}
	return x.pairs(it, v)
}

// quietly runs fn so that errors of the path are not raised.
func (x *pathExec) quietly(fn func() (pathResult, error)) (pathResult, error) {
	outer := x.throw
	x.throw = false
	defer func() { x.throw = outer }()
	return fn()
}

func (x *pathExec) exists(it *types.PathItem, v pathValue) (pathTruth, error) {
	var list pathList
	defer list.free(x.rt)
	res, err := x.quietly(func() (pathResult, error) {
		if x.path.Lax {
			return x.item(it, v, nil)
		}
		// In strict mode only the complete list shows that there is no error.
		res, err := x.item(it, v, &list)
		if res != pathFailed {
			res = pathFound
			if len(list.items) == 0 {
				res = pathMissing
			}
		}
		return res, err
	})
	if res == pathFailed {
		return pathUnknown, err
	}
	return truthOf(res == pathFound), err
}

// pairs evaluates a predicate on all pairs of items of its operands. In lax mode it is true if it
// is so of one pair, in strict mode unknown if it is so of one.
func (x *pathExec) pairs(it *types.PathItem, v pathValue) (pathTruth, error) {
	var left, right pathList
	defer left.free(x.rt)
	defer right.free(x.rt)
	res, err := x.quietly(func() (pathResult, error) {
		res, err := x.operand(it.Left, v, true, &left)
		if err != nil || res == pathFailed || it.Right == nil {
			return res, err
		}
		return x.operand(it.Right, v, it.Kind != types.PathStartsWith, &right)
	})
	if err != nil || res == pathFailed {
		return pathUnknown, err
	}
	if it.Right == nil {
		right.items = []pathValue{{}}
	}
	found, unknown := false, false
	for _, l := range left.items {
		for _, r := range right.items {
			t, err := x.pair(it, l, r)
			switch {
			case err != nil:
				return pathUnknown, err
			case t == pathUnknown && !x.path.Lax:
				return pathUnknown, nil
			case t == pathTrue && x.path.Lax:
				return pathTrue, nil
			}
			found = found || t == pathTrue
			unknown = unknown || t == pathUnknown
		}
	}
	switch {
	case found:
		return pathTrue, nil
	case unknown:
		return pathUnknown, nil
	}
	return pathFalse, nil
}

// pair evaluates a predicate on one item of each operand.
func (x *pathExec) pair(it *types.PathItem, l, r pathValue) (pathTruth, error) {
	switch it.Kind {
	case types.PathStartsWith:
		if !l.is(types.JSONString) || !r.is(types.JSONString) {
			return pathUnknown, nil
		}
		return truthOf(strings.HasPrefix(l.Str, r.Str)), x.rt.Tick(len(r.Str))
	case types.PathLikeRegex:
		return x.likeRegex(it, l)
	}
	return x.compare(it.Kind, l, r)
}

func (x *pathExec) likeRegex(it *types.PathItem, v pathValue) (pathTruth, error) {
	if !v.is(types.JSONString) {
		return pathUnknown, nil
	}
	re := x.regexp[it]
	if re == nil {
		flags, err := it.Flags.Regex()
		if err != nil {
			return pathUnknown, err
		}
		if re, err = compileRegex(it.Str, flags); err != nil {
			return pathUnknown, err
		}
		if x.regexp == nil {
			x.regexp = map[*types.PathItem]*pattern{}
		}
		x.regexp[it] = re
	}
	matches, err := re.matches(x.rt, v.Str)
	return truthOf(matches), err
}

// compare evaluates a comparison of two items. Only scalars of one type can be compared, and null
// with everything.
func (x *pathExec) compare(op types.PathKind, l, r pathValue) (pathTruth, error) {
	if l.at != nil && r.at != nil {
		c, comparable, err := x.compareMoments(l.at, r.at)
		if err != nil || !comparable {
			return pathUnknown, err
		}
		return inOrder(op, c), x.rt.TickSteps(1)
	}
	if l.at != nil || r.at != nil || l.Kind != r.Kind {
		if l.is(types.JSONNull) || r.is(types.JSONNull) {
			return truthOf(op == types.PathNotEqual), nil
		}
		return pathUnknown, nil
	}
	if !isScalar(l.JSONValue) {
		return pathUnknown, nil
	}
	work := min(len(l.Str), len(r.Str))
	return inOrder(op, types.CompareJSON(l.JSONValue, r.JSONValue)), x.rt.Tick(work + 1)
}

// inOrder is the value of a comparison whose operands are in the order c.
func inOrder(op types.PathKind, c int) pathTruth {
	switch op {
	case types.PathEqual:
		return truthOf(c == 0)
	case types.PathNotEqual:
		return truthOf(c != 0)
	case types.PathLess:
		return truthOf(c < 0)
	case types.PathGreater:
		return truthOf(c > 0)
	case types.PathLessEqual:
		return truthOf(c <= 0)
	}
	return truthOf(c >= 0)
}

// errZoneNotUsed is raised even where errors of the path are not: the query calls the wrong
// function.
func errZoneNotUsed(from, to string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"cannot convert value from %s to %s without time zone usage", from, to).
		WithHint("Use *_tz() function for time zone support.")
}
