package builtin

import (
	"regexp"
	"slices"
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// scalar is the implementation of a function over datums.
type scalar = func(rt *expr.Runtime, a []types.Datum) (types.Datum, error)

// vector is the implementation of a function over vectors.
type vector = func(rt *expr.Runtime, a []*types.Vec, sel []int32, out *types.Vec) error

// setBody is the implementation of a set-returning function.
type setBody = func(rt *expr.Runtime, a []types.Datum, emit func(row []types.Datum) error) error

// def is one line of a table of functions: a signature and the implementation. The signature may
// stand for several overloads, or functions: "lpad(text,int4,text?) text" has an optional argument,
// "length(text|bpchar) int4" one of either type, and "ceil|ceiling(float8) float8" two names. A "*"
// after the last argument makes it variadic.
type def struct {
	sig string
	fn  scalar
	vec vector
	set setBody
	// names and types of the columns of a set-returning function, or of one that returns a record:
	// "key text,value jsonb"
	cols  string
	vol   expr.Volatility
	nulls bool // called with NULL arguments too
	// forRow gives a copy of the function the bodies for a call with a column definition list.
	forRow func(fn *expr.Func, row *types.Type)
	// safe marks a function that is leakproof in PostgreSQL, and here.
	safe bool
	// inlined marks a function whose arguments PostgreSQL writes as text instead.
	inlined bool
	// bySetting: see dependsOnSetting.
	bySetting bool
}

// f defines an immutable strict function.
func f(sig string, fn scalar) def { return def{sig: sig, fn: fn} }

// v defines an immutable strict function with a vector kernel.
func v(sig string, fn scalar, vec vector) def { return def{sig: sig, fn: fn, vec: vec} }

// n defines an immutable function that also takes NULLs.
func n(sig string, fn scalar) def { return def{sig: sig, fn: fn, nulls: true} }

// s defines a strict set-returning function.
func s(sig, cols string, fn setBody) def { return def{sig: sig, cols: cols, set: fn} }

func (d def) stable() def {
	d.vol = expr.Stable
	return d
}

// byText marks a function that PostgreSQL inlines as one of the texts of its arguments.
func (d def) byText() def {
	d.inlined = true
	return d.stable()
}

// dependsOnSetting marks a function that PostgreSQL declares immutable though a setting changes its
// result.
func (d def) dependsOnSetting() def {
	d.bySetting = true
	return d.stable()
}

func (d def) volatile() def {
	d.vol = expr.Volatile
	return d
}

// leakproof marks a function by which nothing is known of its arguments but by its result.
func (d def) leakproof() def {
	d.safe = true
	return d
}

func allLeakproof(defs []def) []def {
	for i := range defs {
		defs[i] = defs[i].leakproof()
	}
	return defs
}

func (d def) build(sig string) *expr.Func {
	name, args, variadic, ret := parseSignature(sig)
	fn := &expr.Func{
		Name: name, Args: args, Variadic: variadic, Returns: ret, Volatility: d.vol,
		NotStrict: d.nulls, Leakproof: d.safe, Inlined: d.inlined, Scalar: d.fn, Vector: d.vec,
		Set: d.set, BySetting: d.bySetting,
	}
	if ret != nil && isPolymorphic(ret) {
		fn.Returns, fn.ReturnType = nil, polymorphicReturn(args, variadic, ret)
	}
	if d.set != nil {
		fn.Columns = parseColumns(name, d.cols, ret)
	} else if d.cols != "" {
		fn.Returns = types.RowOf(parseFields(d.cols))
	}
	if d.forRow != nil {
		fn.ForRow = func(row *types.Type) *expr.Func {
			c := *fn
			d.forRow(&c, row)
			return &c
		}
	}
	return fn
}

// polymorphicReturn derives the result type from the resolved arguments: the type that the element
// of a polymorphic argument was resolved to, or an array of it.
func polymorphicReturn(decl []*types.Type, variadic bool,
	ret *types.Type) func([]*types.Type) *types.Type {
	return func(args []*types.Type) *types.Type {
		if decl[0].OID == AnyRange.OID || decl[0].OID == AnyMultiRange.OID {
			return ofRange(ret, args[0])
		}
		var elem *types.Type
		for i, a := range args {
			d := declared(decl, variadic, i)
			switch d.OID {
			case AnyArray.OID, AnyCompatibleArray.OID:
				elem = a.Elem
			case AnyElement.OID, AnyNonArray.OID, AnyEnum.OID, AnyCompatible.OID:
				elem = a
			}
			if elem != nil {
				break
			}
		}
		if ret.OID == AnyArray.OID || ret.OID == AnyCompatibleArray.OID {
			return types.ArrayOf(elem.WithMod(types.NoMod))
		}
		return elem.WithMod(types.NoMod)
	}
}

// ofRange returns the polymorphic result of a function whose first argument is a range or
// multirange.
func ofRange(ret, arg *types.Type) *types.Type {
	r := arg
	if arg.Family == types.MultiRange {
		r = arg.Sub
	}
	switch ret.OID {
	case AnyRange.OID:
		return r
	case AnyMultiRange.OID:
		return types.MultiRangeOf(r)
	}
	return r.Sub
}

// declared returns the declared type of argument i.
func declared(decl []*types.Type, variadic bool, i int) *types.Type {
	if variadic && i >= len(decl)-1 {
		return decl[len(decl)-1]
	}
	return decl[i]
}

// alternatives are the names of a function, or the types of an argument.
var alternatives = regexp.MustCompile(`[\w\[\]]+(\|[\w\[\]]+)+`)

// overloads returns the signatures that one of a table stands for.
func overloads(sig string) (out []string) {
	if at := alternatives.FindStringIndex(sig); at != nil {
		for one := range strings.SplitSeq(sig[at[0]:at[1]], "|") {
			out = append(out, overloads(sig[:at[0]]+one+sig[at[1]:])...)
		}
		return out
	}
	name, args, _ := strings.Cut(sig, "(")
	with, after, optional := strings.Cut(args, "?")
	if !optional {
		return []string{sig}
	}
	without := with[:max(0, strings.LastIndexByte(with, ','))]
	_, result, _ := strings.Cut(after, ")")
	return append([]string{name + "(" + without + ")" + result}, overloads(name+"("+with+after)...)
}

func parseSignature(sig string) (name string, args []*types.Type, variadic bool, ret *types.Type) {
	open := strings.IndexByte(sig, '(')
	end := strings.LastIndexByte(sig, ')')
	name = sig[:open]
	if list := sig[open+1 : end]; list != "" {
		for a := range strings.SplitSeq(list, ",") {
			if strings.HasSuffix(a, "*") {
				variadic, a = true, a[:len(a)-1]
			}
			args = append(args, typeNamed(a))
		}
	}
	if r := strings.TrimSpace(sig[end+1:]); r != "" {
		ret = typeNamed(r)
	}
	return name, args, variadic, ret
}

func parseColumns(name, cols string, ret *types.Type) []expr.SetColumn {
	if cols == "" {
		if isPolymorphic(ret) {
			ret = nil
		}
		return []expr.SetColumn{{Name: name, Type: ret}}
	}
	var out []expr.SetColumn
	for c := range strings.SplitSeq(cols, ",") {
		cname, tname, _ := strings.Cut(c, " ")
		var t *types.Type
		if tname != "" {
			t = typeNamed(tname)
		}
		out = append(out, expr.SetColumn{Name: cname, Type: t})
	}
	return out
}

// parseFields is parseColumns for the fields of a record.
func parseFields(cols string) []types.Attribute {
	var out []types.Attribute
	for i, c := range parseColumns("", cols, nil) {
		out = append(out, types.Attribute{Name: c.Name, Type: c.Type, Number: i + 1})
	}
	return out
}

var namedTypes = func() map[string]*types.Type {
	m := map[string]*types.Type{}
	pseudo := []*types.Type{Any, AnyElement, AnyArray, AnyNonArray, AnyEnum, AnyCompatible,
		AnyCompatibleArray, AnyRange, AnyMultiRange}
	for _, t := range slices.Concat(types.All(), types.Extended(), pseudo) {
		m[t.Name] = t
	}
	return m
}()

// typeNamed returns a type by the name that the tables of this package use. It panics for an
// unknown name, which is a mistake in a table.
func typeNamed(name string) *types.Type {
	if t, ok := namedTypes[name]; ok {
		return t
	}
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		return types.ArrayOf(typeNamed(elem))
	}
	panic("builtin: no type " + name)
}

// aggDef is one line of a table of aggregates.
type aggDef struct {
	sig     string
	make    func(args []*types.Type) expr.Accumulator
	nulls   bool // rows with NULL arguments are passed to it too
	ordered bool // its result depends on the order of its rows
	within  bool // WITHIN GROUP
	returns func(args []*types.Type) *types.Type
}

func (d aggDef) build(sig string) *expr.Aggregate {
	name, args, variadic, ret := parseSignature(sig)
	a := &expr.Aggregate{
		Name: name, Args: args, Variadic: variadic, Returns: ret, New: d.make,
		Strict: !d.nulls, OrderSensitive: d.ordered, WithinGroup: d.within,
	}
	switch {
	case d.returns != nil:
		a.Returns, a.ReturnType = nil, d.returns
	case isPolymorphic(ret):
		a.Returns, a.ReturnType = nil, polymorphicReturn(args, variadic, ret)
	}
	return a
}

// agg defines a strict aggregate whose result does not depend on the order of its rows.
func agg(sig string, make func(args []*types.Type) expr.Accumulator) aggDef {
	return aggDef{sig: sig, make: make}
}
