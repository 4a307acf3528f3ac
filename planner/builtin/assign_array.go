package builtin

import (
	"math"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// intoArray assigns to an element or a slice of an array. An array that is NULL counts as empty.
func (p *assigning) intoArray(old types.Datum, s *AssignStep, bounds []types.Datum,
	rest []AssignStep) (types.Datum, error) {
	arr := old.Arr
	if old.Null {
		arr = &types.ArrayValue{}
	}
	if s.Subscripts[0].Slice {
		if p.value.Null {
			return types.Datum{Arr: arr}, nil
		}
		return p.slice(arr, s.Subscripts, bounds)
	}
	at := make([]int, len(bounds))
	for i, b := range bounds {
		at[i] = int(b.I)
	}
	part, err := p.into(elementAt(arr, at), rest)
	if err != nil {
		return types.Null, err
	}
	return p.element(arr, at, part)
}

// elementAt returns the element at the subscripts; NULL if there is none.
func elementAt(arr *types.ArrayValue, at []int) types.Datum {
	if len(arr.Dims) != len(at) {
		return types.Null
	}
	n := 0
	for i := range at {
		k := at[i] - arr.Lower[i]
		if k < 0 || k >= arr.Dims[i] {
			return types.Null
		}
		n = n*arr.Dims[i] + k
	}
	return arr.Elems[n]
}

// element replaces one element. It makes an array of an empty one, and extends one of one
// dimension, with NULLs in the gap.
func (p *assigning) element(arr *types.ArrayValue, at []int,
	value types.Datum) (types.Datum, error) {
	if len(arr.Dims) == 0 {
		return checkBounds(&types.ArrayValue{Elems: []types.Datum{value},
			Dims: slices.Repeat([]int{1}, len(at)), Lower: at})
	}
	if len(arr.Dims) != len(at) {
		return types.Null, errSubscripts("wrong number of array subscripts")
	}
	out, err := p.reach(arr, at, at)
	if err != nil {
		return types.Null, err
	}
	n := 0
	for i := range at {
		n = n*out.Dims[i] + at[i] - out.Lower[i]
	}
	out.Elems[n] = value
	return types.Datum{Arr: out}, nil
}

// slice replaces the elements from low to high by those of the value, whose dimensions do not
// matter.
func (p *assigning) slice(arr *types.ArrayValue, subs []AssignSubscript,
	bounds []types.Datum) (types.Datum, error) {
	if len(arr.Dims) > 0 && len(arr.Dims) < len(subs) {
		return types.Null, errSubscripts("wrong number of array subscripts")
	}
	low, high, err := sliceBounds(arr, subs, bounds)
	if err != nil {
		return types.Null, err
	}
	from := p.value.Arr.Elems
	if len(arr.Dims) == 0 {
		return p.newSlice(from, low, high)
	}
	total := int64(1)
	for i := range low {
		if low[i] > high[i] {
			return types.Null, errSubscripts("upper bound cannot be less than lower bound")
		}
		if total *= int64(high[i]) - int64(low[i]) + 1; total > maxArraySize {
			return types.Null, errArrayTooLarge()
		}
	}
	out, err := p.reach(arr, low, high)
	if err != nil {
		return types.Null, err
	}
	if total > int64(len(from)) {
		return types.Null, errSubscripts("source array too small")
	}
	for i := range low {
		low[i] -= out.Lower[i]
		high[i] -= out.Lower[i]
	}
	replaceSection(out.Elems, from, out.Dims, low, high)
	return types.Datum{Arr: out}, nil
}

// newSlice makes an array of the first elements of from, as many as fit between the bounds.
func (p *assigning) newSlice(from []types.Datum, low, high []int) (types.Datum, error) {
	out := &types.ArrayValue{Lower: low}
	total := int64(1)
	for i := range low {
		n := int64(high[i]) - int64(low[i]) + 1
		if n > math.MaxInt32 {
			return types.Null, errArrayTooLarge()
		}
		if total *= max(n, 0); total > maxArraySize {
			return types.Null, errArrayTooLarge()
		}
		out.Dims = append(out.Dims, int(n))
	}
	if int64(len(from)) < total {
		return types.Null, errSubscripts("source array too small")
	}
	if total == 0 {
		return types.Datum{Arr: &types.ArrayValue{}}, nil
	}
	elems, err := cloned(p.rt, from[:total], 0)
	if err != nil {
		return types.Null, err
	}
	out.Elems = elems.elems
	return checkBounds(out)
}

// sliceBounds returns the bounds of a slice. Those that are not written are the array's.
func sliceBounds(arr *types.ArrayValue, subs []AssignSubscript,
	bounds []types.Datum) (low, high []int, err error) {
	take := func() int {
		b := int(bounds[0].I)
		bounds = bounds[1:]
		return b
	}
	for i, sub := range subs {
		if len(arr.Dims) == 0 && !(sub.Low && sub.High) {
			return nil, nil, errSubscripts("array slice subscript must provide both boundaries").
				WithDetail("When assigning to a slice of an empty array value, slice boundaries " +
					"must be fully specified.")
		}
		var l, h int
		if sub.Low {
			l = take()
		} else {
			l = arr.Lower[i]
		}
		if sub.High {
			h = take()
		} else {
			h = arr.Lower[i] + arr.Dims[i] - 1
		}
		low, high = append(low, l), append(high, h)
	}
	for i := len(subs); i < len(arr.Dims); i++ {
		low, high = append(low, arr.Lower[i]), append(high, arr.Lower[i]+arr.Dims[i]-1)
	}
	return low, high, nil
}

// reach returns a copy of an array that has elements from low to high: one of one dimension is
// extended with NULLs, one of several must have them.
func (p *assigning) reach(arr *types.ArrayValue, low, high []int) (*types.ArrayValue, error) {
	if len(arr.Dims) > 1 {
		for i := range low {
			if low[i] < arr.Lower[i] || high[i] >= arr.Lower[i]+arr.Dims[i] {
				return nil, errSubscripts("array subscript out of range")
			}
		}
		elems, err := cloned(p.rt, arr.Elems, 0)
		if err != nil {
			return nil, err
		}
		return &types.ArrayValue{Elems: elems.elems, Dims: arr.Dims, Lower: arr.Lower}, nil
	}
	first := min(low[0], arr.Lower[0])
	end := max(high[0]+1, arr.Lower[0]+arr.Dims[0])
	if end-first > maxArraySize {
		return nil, errArrayTooLarge()
	}
	e := &elements{rt: p.rt}
	if err := e.ensureCapacity(end - first); err != nil {
		return nil, err
	}
	for i := first; i < end; {
		var err error
		if i == arr.Lower[0] {
			err = e.copy(arr.Elems)
			i += len(arr.Elems)
		} else {
			err = e.add(types.Null)
			i++
		}
		if err != nil {
			return nil, err
		}
	}
	out := &types.ArrayValue{Elems: e.elems, Dims: []int{end - first}, Lower: []int{first}}
	_, err := checkBounds(out)
	return out, err
}

// replaceSection writes the elements of from to the elements from low to high, which are counted
// from 0, of an array with dimensions dims. It returns the elements that are left.
func replaceSection(elems, from []types.Datum, dims, low, high []int) []types.Datum {
	if len(dims) == 1 {
		n := copy(elems[low[0]:high[0]+1], from)
		return from[n:]
	}
	stride := len(elems) / dims[0]
	for i := low[0]; i <= high[0]; i++ {
		from = replaceSection(elems[i*stride:(i+1)*stride], from, dims[1:], low[1:], high[1:])
	}
	return from
}

// checkBounds refuses an array whose subscripts are not all below the largest integer.
func checkBounds(arr *types.ArrayValue) (types.Datum, error) {
	for i, lower := range arr.Lower {
		if lower+arr.Dims[i] > math.MaxInt32 {
			return types.Null, sqlerr.New(sqlerr.ProgramLimitExceeded,
				"array lower bound is too large: %d", lower)
		}
	}
	return types.Datum{Arr: arr}, nil
}
