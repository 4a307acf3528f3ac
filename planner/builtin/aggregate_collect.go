package builtin

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// collectAggregates collect their rows, in order, into one value.
var collectAggregates = []aggDef{
	ordered("array_agg(anynonarray|anyarray) anyarray", newArrayAgg),
	ordered("string_agg(text,text) text", newStringAgg),
	ordered("string_agg(bytea,bytea) bytea", newStringAgg),
}

// ordered defines an aggregate that takes NULLs too, and whose result depends on the order of its
// rows.
func ordered(sig string, make func(args []*types.Type) expr.Accumulator) aggDef {
	return aggDef{sig: sig, make: make, nulls: true, ordered: true}
}

// datumSize returns about how many bytes a datum refers to.
func datumSize(d types.Datum) int {
	size := 88 + len(d.S)
	if d.Arr != nil {
		for _, e := range d.Arr.Elems {
			size += datumSize(e)
		}
	}
	if d.Dec != nil {
		size += 40
	}
	return size
}

// arrayAgg is array_agg; over arrays it makes an array of one dimension more.
type arrayAgg struct {
	elems  []types.Datum
	dims   []int // of the input arrays
	lower  []int // bounds of the first one
	rows   int
	nested bool
	size   int
}

func newArrayAgg(args []*types.Type) expr.Accumulator { return NewArrayAgg(args[0]) }

// NewArrayAgg returns an accumulator that collects values of type t into an array. Its Result is
// NULL if there are no values.
func NewArrayAgg(t *types.Type) expr.Accumulator { return &arrayAgg{nested: t.Nests()} }

func (s *arrayAgg) Add(_ *expr.Runtime, a []types.Datum) error {
	s.size += datumSize(a[0])
	s.rows++
	if !s.nested {
		s.elems = append(s.elems, a[0])
		return nil
	}
	if a[0].Null {
		return sqlerr.New(sqlerr.NullValueNotAllowed, "cannot accumulate null arrays")
	}
	in := a[0].Arr
	if len(in.Dims) == 0 {
		return sqlerr.New(sqlerr.ArraySubscriptError, "cannot accumulate empty arrays")
	}
	if s.rows == 1 {
		s.dims, s.lower = in.Dims, in.Lower
	} else if !slices.Equal(s.dims, in.Dims) {
		return sqlerr.New(sqlerr.ArraySubscriptError,
			"cannot accumulate arrays of different dimensionality")
	}
	s.elems = append(s.elems, in.Elems...)
	return nil
}

func (s *arrayAgg) Result(*expr.Runtime) (types.Datum, error) {
	if s.rows == 0 {
		return types.Null, nil
	}
	// A copy, since the frame of a window may add rows after this result.
	elems := append([]types.Datum(nil), s.elems...)
	if !s.nested {
		return types.NewArray(elems), nil
	}
	out := &types.ArrayValue{Elems: elems, Dims: append([]int{s.rows}, s.dims...)}
	out.Lower = append([]int{1}, s.lower...)
	return types.Datum{Arr: out}, nil
}

func (s *arrayAgg) Size() int { return s.size }

// stringAgg is string_agg: each value but the first is preceded by the separator of its row.
type stringAgg struct {
	text []byte
	seen bool
}

func newStringAgg([]*types.Type) expr.Accumulator { return &stringAgg{} }

func (s *stringAgg) Add(_ *expr.Runtime, a []types.Datum) error {
	if a[0].Null {
		return nil
	}
	if s.seen && !a[1].Null {
		s.text = append(s.text, a[1].S...)
	}
	s.seen = true
	s.text = append(s.text, a[0].S...)
	if len(s.text) > maxTextLen {
		return errTooLong()
	}
	return nil
}

func (s *stringAgg) Result(*expr.Runtime) (types.Datum, error) {
	if !s.seen {
		return types.Null, nil
	}
	return types.NewString(string(s.text)), nil
}

func (s *stringAgg) Size() int { return cap(s.text) }
