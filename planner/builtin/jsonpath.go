package builtin

import (
	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// jsonPathFunctions are the functions of jsonpath, each also as one that may use the session's time
// zone to compare dates and times.
func jsonPathFunctions() []def {
	out := []def{
		f("jsonb_path_exists_opr(jsonb,jsonpath) bool", pathOperator.exists),
		f("jsonb_path_match_opr(jsonb,jsonpath) bool", pathOperator.match),
	}
	for _, call := range []pathCall{{}, {zoned: true}} {
		suffix := ""
		vary := func(d def) def { return d }
		if call.zoned {
			suffix, vary = "_tz", def.stable
		}
		const args = "(jsonb,jsonpath,jsonb?,bool?) "
		out = append(out,
			vary(f("jsonb_path_exists"+suffix+args+"bool", call.exists)),
			vary(f("jsonb_path_match"+suffix+args+"bool", call.match)),
			vary(f("jsonb_path_query_array"+suffix+args+"jsonb", call.queryArray)),
			vary(f("jsonb_path_query_first"+suffix+args+"jsonb", call.queryFirst)),
			vary(s("jsonb_path_query"+suffix+args+"jsonb", "", call.query)))
	}
	return out
}

var jsonPathOperators = []def{
	f("@?(jsonb,jsonpath) bool", pathOperator.exists),
	f("@@(jsonb,jsonpath) bool", pathOperator.match),
}

// pathCall is how a path is evaluated: by an operator, which knows no variables and is silent, or
// by a function.
type pathCall struct{ operator, zoned bool }

var pathOperator = pathCall{operator: true}

// pathCache keeps parsed paths by their text.
var pathCache = lru.New[string, *types.Path](128)

func parsedPath(rt *expr.Runtime, text string) (*types.Path, error) {
	if p, ok := pathCache.Get(text); ok {
		return p, nil
	}
	p, err := types.ParsePath(text, rt)
	if err == nil {
		pathCache.Put(text, p)
	}
	return p, err
}

// exec makes the evaluation of a call's arguments: document, path, variables and silent.
func (c pathCall) exec(rt *expr.Runtime, a []types.Datum) (*pathExec, error) {
	path, err := parsedPath(rt, a[1].S)
	if err != nil {
		return nil, err
	}
	doc, err := types.ParseJSON(a[0].S, rt)
	if err != nil {
		return nil, err
	}
	x := &pathExec{rt: rt, path: path, lax: path.Lax, size: -1, zoned: c.zoned, made: 1}
	x.root = pathValue{JSONValue: doc}
	x.current = x.root
	x.inRoot = &pathBase{root: doc}
	if c.operator {
		return x, nil
	}
	x.throw = len(a) < 4 || !a[3].Bool()
	x.vars, x.made = &types.JSONValue{Kind: types.JSONObject}, 2
	if len(a) > 2 {
		if x.vars, err = types.ParseJSON(a[2].S, rt); err != nil {
			return nil, err
		}
	}
	if x.vars.Kind != types.JSONObject {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue,
			"\"vars\" argument is not an object").WithDetail("Jsonpath parameters should be " +
			"encoded as key-value pairs of \"vars\" object.")
	}
	x.inVars = &pathBase{id: 1, root: x.vars}
	return x, nil
}

// exists is jsonb_path_exists.
func (c pathCall) exists(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	x, err := c.exec(rt, a)
	if err != nil {
		return types.Null, err
	}
	res, err := x.all(nil)
	if err != nil || res == pathFailed {
		return types.Null, err
	}
	return types.NewBool(res == pathFound), nil
}

// found evaluates a path, and passes the items that it makes to use. In a silent call these are
// the ones before the first error.
func (c pathCall) found(rt *expr.Runtime, a []types.Datum,
	use func(x *pathExec, items []pathValue) error) error {
	x, err := c.exec(rt, a)
	if err != nil {
		return err
	}
	var found pathList
	defer found.free(rt)
	if _, err = x.all(&found); err != nil {
		return err
	}
	return use(x, found.items)
}

// match is jsonb_path_match.
func (c pathCall) match(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	result := types.Null
	err := c.found(rt, a, func(x *pathExec, items []pathValue) error {
		if len(items) == 1 && items[0].is(types.JSONBool) {
			result = types.NewBool(items[0].Bool)
		} else if x.throw && (len(items) != 1 || !items[0].is(types.JSONNull)) {
			return sqlerr.New(sqlerr.SingletonSQLJSONItemRequired,
				"single boolean result is expected")
		}
		return nil
	})
	return result, err
}

// query is jsonb_path_query.
func (c pathCall) query(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	return c.found(rt, a, func(_ *pathExec, items []pathValue) error {
		for _, v := range items {
			text := v.append(nil)
			if err := rt.Tick(len(text)); err != nil {
				return err
			}
			if err := emit([]types.Datum{types.NewString(string(text))}); err != nil {
				return err
			}
		}
		return nil
	})
}

// queryArray is jsonb_path_query_array.
func (c pathCall) queryArray(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	dst := []byte{'['}
	err := c.found(rt, a, func(_ *pathExec, items []pathValue) error {
		for i, v := range items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			before := len(dst)
			dst = v.append(dst)
			if err := rt.Grow(int64(len(dst) - before)); err != nil {
				return err
			}
			if err := rt.Tick(len(dst) - before); err != nil {
				return err
			}
		}
		return nil
	})
	return types.NewString(string(append(dst, ']'))), err
}

// queryFirst is jsonb_path_query_first.
func (c pathCall) queryFirst(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	result := types.Null
	err := c.found(rt, a, func(_ *pathExec, items []pathValue) error {
		if len(items) > 0 {
			result = types.NewString(string(items[0].append(nil)))
		}
		return nil
	})
	return result, err
}

func (v pathValue) append(dst []byte) []byte {
	if v.at != nil {
		return v.at.json().Append(dst)
	}
	return v.Append(dst)
}
