package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// AssignStep is a step from a value to the part of it that is assigned to: a field of a composite
// value, an element or a slice of an array, a place in a jsonb, or a value of an hstore.
type AssignStep struct {
	// Type is the type of the value that contains the part, below all domains.
	Type *types.Type
	// Domain is the domain of that value, whose constraints the new value must meet; nil if it is
	// of none, or the caller checks it.
	Domain *types.Type
	// Field is the index of the field, if Type is composite.
	Field int
	// Subscripts are those of an array, a jsonb or an hstore, outermost first; nil for a field. If
	// one of them is a slice, all are.
	Subscripts []AssignSubscript
}

// AssignSubscript reports which bounds of a subscript are written, and so are among the arguments.
// That of an element has only an upper bound.
type AssignSubscript struct {
	Slice     bool
	Low, High bool
	Int       bool // the subscript of a jsonb is an integer
}

// Assign returns a function that assigns to a part of a value. Its arguments are the value, the
// written bounds of all steps in their order, and the new value of the part. A jsonb and an
// hstore have texts as bounds, an array integers. The result is a new value of the type of the
// first step.
func Assign(steps []AssignStep) *expr.Func {
	return &expr.Func{Name: "assign", NotStrict: true,
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			last := len(a) - 1
			p := &assigning{rt: rt, bounds: a[1:last], value: a[last]}
			return p.into(a[0], steps)
		}}
}

// assigning is one assignment; bounds are those of the steps that are still ahead.
type assigning struct {
	rt     *expr.Runtime
	bounds []types.Datum
	value  types.Datum
}

// into returns old with the new value at the place that the steps lead to.
func (p *assigning) into(old types.Datum, steps []AssignStep) (types.Datum, error) {
	if len(steps) == 0 {
		return p.value, nil
	}
	s, rest := &steps[0], steps[1:]
	v, err := p.step(old, s, rest)
	if err == nil && s.Domain != nil {
		err = s.Domain.Admit(v, &p.rt.Format)
	}
	return v, err
}

func (p *assigning) step(old types.Datum, s *AssignStep, rest []AssignStep) (types.Datum, error) {
	if s.Subscripts == nil {
		return p.intoField(old, s, rest)
	}
	bounds, err := p.next(s)
	if err != nil {
		return types.Null, err
	}
	if s.Type.Family == types.JSON {
		return p.intoJSON(old, s, bounds)
	}
	if part, _ := s.Type.Parts(); part != nil {
		return p.intoShape(old, s, bounds, rest)
	}
	if s.Type.Family == types.HStore {
		return p.intoHStore(old, bounds[0], rest)
	}
	return p.intoArray(old, s, bounds, rest)
}

// intoShape assigns to a part of a geometric value. A value that is NULL stays so, and NULL as a
// part changes nothing.
func (p *assigning) intoShape(old types.Datum, s *AssignStep, bounds []types.Datum,
	rest []AssignStep) (types.Datum, error) {
	if old.Null {
		return old, nil
	}
	if s.Subscripts[0].Slice {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
			"updates on slices of fixed-length arrays not implemented")
	}
	_, n := s.Type.Parts()
	i := bounds[0].I
	switch {
	case len(bounds) > 1:
		return types.Null, errSubscripts("wrong number of array subscripts")
	case i < 0 || i >= int64(n):
		return types.Null, errSubscripts("array subscript out of range")
	}
	part, err := p.into(types.PartAt(s.Type, old, int(i)), rest)
	if err != nil || part.Null {
		return old, err
	}
	return types.WithPart(s.Type, old, int(i), part), nil
}

// intoField assigns to a field. The other fields of a value that is NULL are NULL.
func (p *assigning) intoField(old types.Datum, s *AssignStep,
	rest []AssignStep) (types.Datum, error) {
	elems := make([]types.Datum, len(s.Type.Fields()))
	for i := range elems {
		elems[i] = types.Null
		if !old.Null && i < len(old.Arr.Elems) {
			elems[i] = old.Arr.Elems[i]
		}
	}
	var err error
	if elems[s.Field], err = p.into(elems[s.Field], rest); err != nil {
		return types.Null, err
	}
	return types.NewRecord(s.Type, elems), nil
}

// next takes the bounds of a step from those ahead. None of them may be NULL.
func (p *assigning) next(s *AssignStep) ([]types.Datum, error) {
	n := 0
	for _, sub := range s.Subscripts {
		for _, written := range []bool{sub.Low, sub.High} {
			if written {
				n++
			}
		}
	}
	bounds := p.bounds[:n]
	p.bounds = p.bounds[n:]
	what := "array"
	if s.Type.Family == types.JSON {
		what = "jsonb"
	}
	if s.Type.Family == types.HStore {
		what = "hstore"
	}
	for _, b := range bounds {
		if b.Null {
			return nil, sqlerr.New(sqlerr.NullValueNotAllowed,
				"%s subscript in assignment must not be null", what)
		}
	}
	return bounds, nil
}
