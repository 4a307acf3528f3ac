package advance

import (
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// state is what an aggregate keeps of its group. Each kind uses some of it.
type state struct {
	n         int64 // values that are not NULL
	trues     int64
	nans      int64
	infs      [2]int64 // positive, negative
	scale     int64    // the largest display scale of a finite value
	withScale int64    // finite values that have it
	sum       types.Datum
	best      types.Datum
}

func newState() state { return state{sum: zero, best: types.Null} }

var zero = types.NewDecimal(types.NumericFromInt(0))

// appendState appends the state of an aggregate of a kind.
func appendState(dst []byte, a *incremental.Aggregate, s *state) ([]byte, error) {
	switch a.Kind {
	case incremental.Reread:
		return dst, nil
	case incremental.Count:
		return appendVarints(dst, s.n), nil
	case incremental.And, incremental.Or:
		return appendVarints(dst, s.n, s.trues), nil
	case incremental.Min, incremental.Max:
		return appendField(appendVarints(dst, s.n), a.ArgType, s.best)
	}
	dst = appendVarints(dst, s.n, s.nans, s.infs[0], s.infs[1], s.scale, s.withScale)
	return appendField(dst, types.TNumeric, s.sum)
}

func appendVarints(dst []byte, ns ...int64) []byte {
	for _, n := range ns {
		dst = binary.AppendVarint(dst, n)
	}
	return dst
}

func appendField(dst []byte, t *types.Type, d types.Datum) ([]byte, error) {
	field, err := codec.EncodeValue(t, d)
	if err != nil {
		return nil, err
	}
	if field == nil {
		return appendVarints(dst, 0), nil
	}
	return append(appendVarints(dst, int64(len(field))+1), field...), nil
}

// stateReader reads states. After an error all that it reads is zero.
type stateReader struct {
	b   []byte
	err error
}

func (r *stateReader) fail() {
	if r.err == nil {
		r.err = fmt.Errorf("state of a group of an incremental view: %w", kv.ErrCorruption)
	}
	r.b = nil
}

func (r *stateReader) varint() int64 {
	n, w := binary.Varint(r.b)
	if w <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[w:]
	return n
}

func (r *stateReader) field(t *types.Type) types.Datum {
	n := r.varint() - 1
	switch {
	case r.err != nil || n < 0:
		return types.Null
	case n > int64(len(r.b)):
		r.fail()
		return types.Null
	}
	d, err := codec.DecodeValue(r.b[:n:n], t)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.b = r.b[n:]
	return d
}

func (r *stateReader) state(a *incremental.Aggregate) state {
	s := newState()
	switch a.Kind {
	case incremental.Reread:
	case incremental.Count:
		s.n = r.varint()
	case incremental.And, incremental.Or:
		s.n, s.trues = r.varint(), r.varint()
	case incremental.Min, incremental.Max:
		s.n = r.varint()
		s.best = r.field(a.ArgType)
	default:
		for _, to := range []*int64{&s.n, &s.nans, &s.infs[0], &s.infs[1], &s.scale,
			&s.withScale} {
			*to = r.varint()
		}
		s.sum = r.field(types.TNumeric)
	}
	return s
}

// apply adds the change of a group's values to a state. inexact reports that the state does not
// give the result any more: the rows of the group have to be read again.
func (s *state) apply(a *incremental.Aggregate, p *part) (inexact bool, err error) {
	switch a.Kind {
	case incremental.Reread:
		return true, nil
	case incremental.Sum, incremental.Avg:
		return s.addSum(p)
	}
	s.n += p.n
	switch a.Kind {
	case incremental.And, incremental.Or:
		s.trues += p.trues
	case incremental.Min, incremental.Max:
		return s.addExtreme(a, p), nil
	}
	return false, nil
}

// finite is the number of values that are no NaN and no infinity.
func (s *state) finite() int64 { return s.n - s.nans - s.infs[0] - s.infs[1] }

// addSum adds to a sum. Sums of finite values have an inverse, but the display scale of the result
// is the largest of the values: when the last value that has it goes, the next largest is unknown.
func (s *state) addSum(p *part) (inexact bool, err error) {
	if s.finite() == 0 {
		s.scale = -1
	}
	s.n += p.n
	s.nans += p.nans
	s.infs[0] += p.infs[0]
	s.infs[1] += p.infs[1]
	if s.finite() == 0 {
		s.scale, s.withScale, s.sum = 0, 0, zero
		return false, nil
	}
	s.withScale += p.scales[s.scale]
	for scale, n := range p.scales {
		if n > 0 && scale > s.scale {
			s.scale, s.withScale = scale, n
		}
	}
	if p.sum.Dec != nil {
		sum, err := types.NumericAdd(s.sum.Dec, p.sum.Dec)
		if err != nil {
			return false, err
		}
		s.sum = types.NewDecimal(sum)
	}
	return s.withScale <= 0, nil
}

// addExtreme moves the extreme value. gone reports that it is not there any more: the next one has
// to be looked up.
func (s *state) addExtreme(a *incremental.Aggregate, p *part) (gone bool) {
	if s.n == 0 {
		s.best = types.Null
		return false
	}
	sign := 1
	if a.Kind == incremental.Min {
		sign = -1
	}
	for _, v := range p.values {
		if v.weight < 0 && !s.best.Null && types.Compare(a.ArgType, v.value, s.best) == 0 {
			return true
		}
	}
	for _, v := range p.values {
		if v.weight > 0 &&
			(s.best.Null || sign*types.Compare(a.ArgType, v.value, s.best) > 0) {
			s.best = v.value
		}
	}
	return false
}

// result is the value of the aggregate.
func (s *state) result(a *incremental.Aggregate) (types.Datum, error) {
	switch {
	case a.Kind == incremental.Count:
		return types.NewInt(s.n), nil
	case s.n == 0:
		return types.Null, nil
	case a.Kind == incremental.And:
		return types.NewBool(s.trues == s.n), nil
	case a.Kind == incremental.Or:
		return types.NewBool(s.trues > 0), nil
	case a.Kind == incremental.Min, a.Kind == incremental.Max:
		return s.best, nil
	}
	total := s.total()
	if a.Kind == incremental.Avg {
		avg, err := types.NumericDiv(total.Dec, types.NumericFromInt(s.n))
		return types.NewDecimal(avg), err
	}
	if a.Func.Returns.OID != types.OIDInt8 {
		return total, nil
	}
	i, ok := types.NumericToInt64(total.Dec)
	if !ok {
		return types.Null, sqlerr.New(sqlerr.NumericValueOutOfRange, "bigint out of range")
	}
	return types.NewInt(i), nil
}

// total is the sum with NaNs and infinities.
func (s *state) total() types.Datum {
	switch {
	case s.nans > 0 || s.infs[0] > 0 && s.infs[1] > 0:
		return types.NewDecimal(types.NumericNaN())
	case s.infs[0] > 0:
		return types.NewDecimal(types.NumericInf(false))
	case s.infs[1] > 0:
		return types.NewDecimal(types.NumericInf(true))
	}
	return s.sum
}
