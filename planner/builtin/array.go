package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

func arrayFunctions() []def {
	return []def{
		f("array_length(anyarray,int4) int4", dimension(func(n, _ int) int { return n })),
		f("array_lower(anyarray,int4) int4", dimension(func(_, lower int) int { return lower })),
		f("array_upper(anyarray,int4) int4",
			dimension(func(n, lower int) int { return lower + n - 1 })),
		f("array_ndims(anyarray) int4",
			func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
				if len(a[0].Arr.Dims) == 0 {
					return types.Null, nil
				}
				return types.NewInt(int64(len(a[0].Arr.Dims))), nil
			}),
		f("array_dims(anyarray) text", arrayDims),
		f("cardinality(anyarray) int4",
			func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
				return types.NewInt(int64(len(a[0].Arr.Elems))), nil
			}),
		n("array_append(anycompatiblearray,anycompatible) anycompatiblearray", arrayAppend),
		n("array_prepend(anycompatible,anycompatiblearray) anycompatiblearray", arrayPrepend),
		n("array_cat(anycompatiblearray,anycompatiblearray) anycompatiblearray", arrayCat),
		n("array_remove(anycompatiblearray,anycompatible) anycompatiblearray",
			comparing(equalityOperator, arrayRemove)),
		n("array_replace(anycompatiblearray,anycompatible,anycompatible) anycompatiblearray",
			comparing(equalityOperator, arrayReplace)),
		n("array_position(anycompatiblearray,anycompatible,int4?) int4",
			comparing(equalityOperator, arrayPosition)),
		n("array_positions(anycompatiblearray,anycompatible) int4[]",
			comparing(equalityOperator, arrayPositions)),
		n("array_fill(anyelement,int4[],int4[]?) anyarray", arrayFill),
		f("trim_array(anyarray,int4) anyarray", trimArray),
		n("array_to_string(anyarray,text,text?) text", arrayToString).stable(),
		n("string_to_array(text,text,text?) text[]", stringToArray),
		{sig: "string_to_table(text,text,text?) text", set: stringToTable, nulls: true},
		s("unnest(anyarray) anyelement", "", unnest),
		s("generate_subscripts(anyarray,int4,bool?) int4", "", generateSubscripts),
		f("arraycontains(anyarray,anyarray) bool", comparing(equalityOperator, contains)),
		f("arraycontained(anyarray,anyarray) bool", comparing(equalityOperator, swapped(contains))),
		f("arrayoverlap(anyarray,anyarray) bool", comparing(equalityOperator, overlap)),
	}
}

func arrayOperators() []def {
	return []def{
		n("||(anycompatiblearray,anycompatible) anycompatiblearray", arrayAppend),
		n("||(anycompatible,anycompatiblearray) anycompatiblearray", arrayPrepend),
		n("||(anycompatiblearray,anycompatiblearray) anycompatiblearray", arrayCat),
		f("@>(anyarray,anyarray) bool", comparing(equalityOperator, contains)),
		f("<@(anyarray,anyarray) bool", comparing(equalityOperator, swapped(contains))),
		f("&&(anyarray,anyarray) bool", comparing(equalityOperator, overlap)),
	}
}

func dimension(of func(n, lower int) int) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		d := a[1].I
		if d < 1 || d > int64(len(a[0].Arr.Dims)) {
			return types.Null, nil
		}
		return types.NewInt(int64(of(a[0].Arr.Dims[d-1], a[0].Arr.Lower[d-1]))), nil
	}
}

func arrayDims(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if len(a[0].Arr.Dims) == 0 {
		return types.Null, nil
	}
	var b strings.Builder
	for i, n := range a[0].Arr.Dims {
		lo := a[0].Arr.Lower[i]
		b.WriteString("[" + strconv.Itoa(lo) + ":" + strconv.Itoa(lo+n-1) + "]")
	}
	return types.NewString(b.String()), nil
}

// oneDimensional makes an array of elements whose lower bound is lower.
func oneDimensional(elems []types.Datum, lower int) types.Datum {
	if len(elems) == 0 {
		return types.Datum{Arr: &types.ArrayValue{}}
	}
	return types.Datum{
		Arr: &types.ArrayValue{Elems: elems, Dims: []int{len(elems)}, Lower: []int{lower}}}
}

func lowerBound(a *types.ArrayValue) int {
	if len(a.Lower) == 0 {
		return 1
	}
	return a.Lower[0]
}

func errNotOneDimensional() error {
	return sqlerr.New("22000", "argument must be empty or one-dimensional array")
}

func arrayAppend(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NewArray([]types.Datum{a[1]}), nil
	}
	if len(a[0].Arr.Dims) > 1 {
		return types.Null, errNotOneDimensional()
	}
	out, err := concatElements(rt, a[0].Arr.Elems, a[1:])
	return oneDimensional(out, lowerBound(a[0].Arr)), err
}

func arrayPrepend(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[1].Null {
		return types.NewArray([]types.Datum{a[0]}), nil
	}
	if len(a[1].Arr.Dims) > 1 {
		return types.Null, errNotOneDimensional()
	}
	out, err := concatElements(rt, a[:1], a[1].Arr.Elems)
	return oneDimensional(out, lowerBound(a[1].Arr)), err
}

func concatElements(rt *expr.Runtime, x, y []types.Datum) ([]types.Datum, error) {
	out, err := cloned(rt, x, len(y))
	if err != nil {
		return nil, err
	}
	err = out.addAll(y)
	return out.elems, err
}

// arrayCat concatenates arrays of the same number of dimensions, or adds an array with one
// dimension less to an end of the other.
func arrayCat(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	switch {
	case a[0].Null && a[1].Null:
		return types.Null, nil
	case a[0].Null || !a[1].Null && len(a[0].Arr.Elems) == 0:
		return a[1], nil
	case a[1].Null || len(a[1].Arr.Elems) == 0:
		return a[0], nil
	}
	x, y := a[0].Arr, a[1].Arr
	dims, lower, ok := catDims(x, y)
	if !ok {
		return types.Null, errSubscripts("cannot concatenate incompatible arrays").
			WithDetail("%s", incompatible(len(x.Dims), len(y.Dims)))
	}
	both, err := concatElements(rt, x.Elems, y.Elems)
	return types.Datum{Arr: &types.ArrayValue{Elems: both, Dims: dims, Lower: lower}}, err
}

// incompatible says why arrays of so many dimensions cannot be concatenated.
func incompatible(x, y int) string {
	switch y - x {
	case 0:
		return "Arrays with differing element dimensions are not compatible for concatenation."
	case 1, -1:
		return "Arrays with differing dimensions are not compatible for concatenation."
	}
	return fmt.Sprintf("Arrays of %d and %d dimensions are not compatible for concatenation.", x, y)
}

// catDims returns the dimensions and lower bounds of the concatenation of two arrays. It returns
// false if the arrays cannot be concatenated.
func catDims(x, y *types.ArrayValue) (dims, lower []int, ok bool) {
	out, more := x, 1 // the array whose form the result has, and the number of entries added to it
	switch {
	case sameForm(x, 1, y, 1):
		more = y.Dims[0]
	case sameForm(x, 1, y, 0):
	case sameForm(x, 0, y, 1):
		out = y
	default:
		return nil, nil, false
	}
	dims = slices.Clone(out.Dims)
	dims[0] += more
	return dims, out.Lower, true
}

// sameForm reports whether the dimensions of two arrays are the same, with their lower bounds, but
// for the first ones: i of x, and j of y.
func sameForm(x *types.ArrayValue, i int, y *types.ArrayValue, j int) bool {
	return slices.Equal(x.Dims[i:], y.Dims[j:]) && slices.Equal(x.Lower[i:], y.Lower[j:])
}

// sameElement is IS NOT DISTINCT FROM over elements.
func sameElement(t *types.Type, x, y types.Datum) bool {
	if x.Null || y.Null {
		return x.Null && y.Null
	}
	return types.Compare(t, x, y) == 0
}

func arrayRemove(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	if len(a[0].Arr.Dims) > 1 {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
			"removing elements from multidimensional arrays is not supported")
	}
	out := elements{rt: rt}
	for _, e := range a[0].Arr.Elems {
		if sameElement(rt.ArgTypes[1], e, a[1]) {
			continue
		}
		if err := out.add(e); err != nil {
			return types.Null, err
		}
	}
	return oneDimensional(out.elems, lowerBound(a[0].Arr)), nil
}

func arrayReplace(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	out := *a[0].Arr
	copied, err := cloned(rt, out.Elems, 0)
	if err != nil {
		return types.Null, err
	}
	out.Elems = copied.elems
	for i, e := range out.Elems {
		if sameElement(rt.ArgTypes[1], e, a[1]) {
			out.Elems[i] = a[2]
		}
	}
	return types.Datum{Arr: &out}, nil
}

func errSearch() error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "searching for elements in multidimensional "+
		"arrays is not supported")
}

func arrayPosition(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	if len(a[0].Arr.Dims) > 1 {
		return types.Null, errSearch()
	}
	if len(a[0].Arr.Dims) == 0 {
		return types.Null, nil
	}
	isNull := func(e types.Datum) bool { return e.Null }
	if a[1].Null && !slices.ContainsFunc(a[0].Arr.Elems, isNull) {
		return types.Null, nil
	}
	lower := lowerBound(a[0].Arr)
	from := lower
	if len(a) > 2 {
		if a[2].Null {
			return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed,
				"initial position must not be null")
		}
		from = int(a[2].I)
	}
	for i, e := range a[0].Arr.Elems {
		if lower+i >= from && sameElement(rt.ArgTypes[1], e, a[1]) {
			return types.NewInt(int64(lower + i)), nil
		}
	}
	return types.Null, nil
}

func arrayPositions(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	if len(a[0].Arr.Dims) > 1 {
		return types.Null, errSearch()
	}
	out := elements{rt: rt}
	for i, e := range a[0].Arr.Elems {
		if !sameElement(rt.ArgTypes[1], e, a[1]) {
			continue
		}
		if err := out.add(types.NewInt(int64(lowerBound(a[0].Arr) + i))); err != nil {
			return types.Null, err
		}
	}
	return oneDimensional(out.elems, 1), nil
}

func arrayFill(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[1].Null || len(a) > 2 && a[2].Null {
		return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed,
			"dimension array or low bound array cannot be null")
	}
	out := &types.ArrayValue{}
	total := int64(1)
	for i, d := range a[1].Arr.Elems {
		if d.Null {
			return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed,
				"dimension values cannot be null")
		}
		if total *= d.I; d.I < 0 || total > maxArraySize {
			return types.Null, errArrayTooLarge()
		}
		lower := 1
		if len(a) > 2 {
			if len(a[2].Arr.Elems) != len(a[1].Arr.Elems) {
				return types.Null, errSubscripts("wrong number of array subscripts").
					WithDetail("Low bound array has different size than dimensions array.")
			}
			lower = int(a[2].Arr.Elems[i].I)
		}
		out.Dims, out.Lower = append(out.Dims, int(d.I)), append(out.Lower, lower)
	}
	if len(out.Dims) == 0 || total == 0 {
		return types.Datum{Arr: &types.ArrayValue{}}, nil
	}
	filled := elements{rt: rt}
	if err := filled.ensureCapacity(int(total)); err != nil {
		return types.Null, err
	}
	for range total {
		if err := filled.add(a[0]); err != nil {
			return types.Null, err
		}
	}
	out.Elems = filled.elems
	return types.Datum{Arr: out}, nil
}

func trimArray(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	n, count := 0, int(a[1].I)
	if len(a[0].Arr.Dims) > 0 {
		n = a[0].Arr.Dims[0]
	}
	if count < 0 || count > n {
		return types.Null, errSubscripts("number of elements to trim must be between 0 and %d", n)
	}
	if n == count {
		return types.Datum{Arr: &types.ArrayValue{}}, nil
	}
	out := *a[0].Arr
	out.Dims = slices.Clone(out.Dims)
	out.Dims[0] -= count
	out.Lower = slices.Repeat([]int{1}, len(out.Dims)) // a slice has lower bounds of 1
	out.Elems = out.Elems[:len(out.Elems)/n*(n-count)]
	return types.Datum{Arr: &out}, nil
}

func arrayToString(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null || a[1].Null {
		return types.Null, nil
	}
	w := newWriter(rt)
	first := true
	for _, e := range a[0].Arr.Elems {
		text := ""
		switch {
		case !e.Null:
			text = textOf(rt, rt.ArgTypes[0].Elem, e)
		case len(a) > 2 && !a[2].Null:
			text = a[2].S
		default:
			continue
		}
		if !first {
			w.text(a[1].S)
		}
		first = false
		if w.text(text); w.err != nil {
			break
		}
	}
	return w.done()
}

// splitText calls emit for the parts of string_to_array: a NULL separator splits between
// characters, an empty one does not split.
func splitText(rt *expr.Runtime, a []types.Datum, emit func(types.Datum) error) error {
	rest, more := a[0].S, a[0].S != ""
	for more {
		part := rest
		switch {
		case a[1].Null:
			_, n := utf8.DecodeRuneInString(rest)
			part, rest = rest[:n], rest[n:]
			more = rest != ""
		case a[1].S == "":
			more = false
		default:
			part, rest, more = strings.Cut(rest, a[1].S)
		}
		d := types.NewString(part)
		if len(a) > 2 && !a[2].Null && part == a[2].S {
			d = types.Null
		}
		if err := emit(d); err != nil {
			return err
		}
		if err := rt.Tick(len(part) + types.DatumSize); err != nil {
			return err
		}
	}
	return nil
}

func stringToArray(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	out := elements{rt: rt}
	if err := splitText(rt, a, out.add); err != nil {
		return types.Null, err
	}
	return oneDimensional(out.elems, 1), nil
}

func stringToTable(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	if a[0].Null {
		return nil
	}
	return splitText(rt, a, func(d types.Datum) error { return emit([]types.Datum{d}) })
}

func unnest(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	row := make([]types.Datum, 1)
	for _, e := range a[0].Arr.Elems {
		row[0] = e
		if err := emit(row); err != nil {
			return err
		}
	}
	return nil
}

func generateSubscripts(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	d := a[1].I
	if d < 1 || d > int64(len(a[0].Arr.Dims)) {
		return nil
	}
	n, lower := a[0].Arr.Dims[d-1], a[0].Arr.Lower[d-1]
	for i := range n {
		x := lower + i
		if len(a) > 2 && a[2].Bool() {
			x = lower + n - 1 - i
		}
		if err := emit([]types.Datum{types.NewInt(int64(x))}); err != nil {
			return err
		}
	}
	return nil
}

// contains is a @> b: every element of b is in a. No array contains a NULL element.
func contains(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	for _, y := range a[1].Arr.Elems {
		in, err := hasElement(rt, a[0].Arr, y)
		if err != nil || !in {
			return types.NewBool(false), err
		}
	}
	return types.NewBool(true), nil
}

func overlap(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	for _, y := range a[1].Arr.Elems {
		in, err := hasElement(rt, a[0].Arr, y)
		if err != nil || in {
			return types.NewBool(in), err
		}
	}
	return types.NewBool(false), nil
}

// hasElement reports whether y, not NULL, is an element of an array of the first argument's type.
func hasElement(rt *expr.Runtime, in *types.ArrayValue, y types.Datum) (bool, error) {
	t := rt.ArgTypes[0].Elem
	if y.Null {
		return false, nil
	}
	for _, x := range in.Elems {
		if !x.Null && types.Compare(t, x, y) == 0 {
			return true, nil
		}
		if err := rt.TickSteps(1); err != nil {
			return false, err
		}
	}
	return false, nil
}
