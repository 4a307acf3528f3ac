package builtin

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// parameter is a named parameter of a function. Its default, if any, is the text of a value.
type parameter struct {
	name, typ, def string
	optional       bool
}

// namedParameters lists the functions whose parameters have names in PostgreSQL and which clients
// call by these names.
var namedParameters = map[string]string{
	"make_interval": "years int4 = 0, months int4 = 0, weeks int4 = 0, days int4 = 0, " +
		"hours int4 = 0, mins int4 = 0, secs float8 = 0",
	"make_date":        "year int4, month int4, day int4",
	"make_time":        "hour int4, min int4, sec float8",
	"make_timestamp":   "year int4, month int4, mday int4, hour int4, min int4, sec float8",
	"make_timestamptz": "year int4, month int4, mday int4, hour int4, min int4, sec float8",
	"jsonb_set": "jsonb_in jsonb, path text[], replacement jsonb, " +
		"create_if_missing bool = true",
	"jsonb_insert": "jsonb_in jsonb, path text[], replacement jsonb, insert_after bool = false",
	"jsonb_set_lax": "jsonb_in jsonb, path text[], replacement jsonb, " +
		"create_if_missing bool = true, null_value_treatment text = use_json_null",
	"jsonb_path_exists":         pathParameters,
	"jsonb_path_match":          pathParameters,
	"jsonb_path_query":          pathParameters,
	"jsonb_path_query_array":    pathParameters,
	"jsonb_path_query_first":    pathParameters,
	"jsonb_path_exists_tz":      pathParameters,
	"jsonb_path_match_tz":       pathParameters,
	"jsonb_path_query_tz":       pathParameters,
	"jsonb_path_query_array_tz": pathParameters,
	"jsonb_path_query_first_tz": pathParameters,
	"parse_ident":               "str text, strict bool = true",
}

const pathParameters = "target jsonb, path jsonpath, vars jsonb = {}, silent bool = false"

func parametersOf(function string) (out []parameter) {
	list := namedParameters[function]
	if list == "" {
		return nil
	}
	for one := range strings.SplitSeq(list, ", ") {
		var p parameter
		one, p.def, p.optional = strings.Cut(one, " = ")
		p.name, p.typ, _ = strings.Cut(one, " ")
		out = append(out, p)
	}
	return out
}

// NamedArguments sorts the arguments of a call f(1, b => 2) into the order of f's parameters. names
// has an entry per argument, "" for a positional one. order has an entry per parameter: the index
// of its argument, or -1 if its value is in defaults.
func NamedArguments(name string, names []string, args []*types.Type) (order []int,
	defaults []*expr.Const, err error) {
	params := parametersOf(name)
	missing := namedError(name, names, args)
	if params == nil || len(names) > len(params) {
		return nil, nil, missing
	}
	order = slices.Repeat([]int{-1}, len(params))
	defaults = make([]*expr.Const, len(params))
	for i, n := range names {
		at := i
		if n != "" {
			at = slices.IndexFunc(params, func(p parameter) bool { return p.name == n })
		}
		if at < 0 {
			return nil, nil, missing
		}
		if order[at] >= 0 {
			return nil, nil, sqlerr.New(sqlerr.SyntaxError,
				"argument name \"%s\" used more than once", n)
		}
		order[at] = i
	}
	for i, p := range params {
		if order[i] >= 0 {
			continue
		}
		if !p.optional {
			return nil, nil, missing
		}
		t := typeNamed(p.typ)
		d, err := types.ParseText(t, p.def, &types.DefaultFormat)
		if err != nil {
			return nil, nil, err
		}
		defaults[i] = &expr.Const{T: t, Value: d}
	}
	return order, defaults, nil
}

// namedError is functionError with the argument names of the call.
func namedError(name string, names []string, args []*types.Type) error {
	shown := make([]string, len(args))
	for i, a := range args {
		if shown[i] = displayName(a); names[i] != "" {
			shown[i] = names[i] + " => " + shown[i]
		}
	}
	return noFunction(name + "(" + strings.Join(shown, ", ") + ")")
}

// ResolveVariadic is ResolveFunction for a call f(…, VARIADIC array), where the array is the last
// of args. The chosen function takes the array itself and expands it.
func (n Name) ResolveVariadic(args []*types.Type) (*expr.Func, []*types.Type, error) {
	var cands []candidate
	for _, fn := range n.Functions() {
		if !fn.Variadic || len(fn.Args) != len(args) {
			continue
		}
		decl := slices.Clone(fn.Args)
		last := &decl[len(decl)-1]
		if isAny(*last) {
			*last = AnyArray
		} else {
			*last = types.ArrayOf(*last)
		}
		cands = append(cands, candidate{args: decl, fn: fn})
	}
	c, outcome := choose(cands, args)
	targets, err := c.targets(n.written(), args, outcome)
	if err != nil {
		return nil, nil, errNoArray(cands, args, err)
	}
	return ExpandVariadic(c.fn), targets, nil
}

// errNoArray returns the error for a call whose last argument is no array, where the function takes
// arrays of any type; otherwise is the error for any other call.
func errNoArray(cands []candidate, args []*types.Type, otherwise error) error {
	last := len(args) - 1
	if args[last].Base().Elem != nil || !slices.ContainsFunc(cands, func(c candidate) bool {
		return isAny(c.fn.Args[last]) && accepts(c.args[:last], args[:last])
	}) {
		return otherwise
	}
	return sqlerr.New(sqlerr.DatatypeMismatch, "VARIADIC argument must be an array")
}
