package advance

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// part is what a delta does to an aggregate of a group.
type part struct {
	n, trues, nans int64
	infs           [2]int64
	scales         map[int64]int64 // finite values by display scale
	sum            types.Datum
	values         map[string]*valueWeight // of min and max
	// accumulator computes an aggregate that is read again, and seen has what it got, for DISTINCT.
	accumulator expr.Accumulator
	seen        map[string]struct{}
}

// valueWeight is a value with the sum of its weights.
type valueWeight struct {
	value  types.Datum
	weight int64
}

// add adds a value that is not NULL.
func (p *part) add(a *incremental.Aggregate, d types.Datum, weight int64) error {
	p.n += weight
	switch a.Kind {
	case incremental.And, incremental.Or:
		if d.Bool() {
			p.trues += weight
		}
	case incremental.Sum, incremental.Avg:
		return p.addNumber(a, d, weight)
	case incremental.Min, incremental.Max:
		return p.addValue(a, d, weight)
	}
	return nil
}

func (p *part) addNumber(a *incremental.Aggregate, d types.Datum, weight int64) error {
	if a.ArgType.Family == types.Int {
		d = types.NewDecimal(types.NumericFromInt(d.I))
	}
	switch d.Dec.Form {
	case types.NumericNaN().Form:
		p.nans += weight
		return nil
	case types.NumericInf(false).Form:
		if d.Dec.Negative {
			p.infs[1] += weight
		} else {
			p.infs[0] += weight
		}
		return nil
	}
	if p.scales == nil {
		p.scales = map[int64]int64{}
		p.sum = zero
	}
	p.scales[int64(types.NumericScale(d.Dec))] += weight
	add, err := d.Dec, error(nil)
	switch weight {
	case 1:
	case -1:
		add = types.NumericNeg(add)
	default:
		add, err = types.NumericMul(add, types.NumericFromInt(weight))
	}
	if err != nil {
		return err
	}
	sum, err := types.NumericAdd(p.sum.Dec, add)
	p.sum = types.NewDecimal(sum)
	return err
}

func (p *part) addValue(a *incremental.Aggregate, d types.Datum, weight int64) error {
	field, err := codec.EncodeValue(a.ArgType, d)
	if err != nil {
		return err
	}
	if p.values == nil {
		p.values = map[string]*valueWeight{}
	}
	v := p.values[string(field)]
	if v == nil {
		v = &valueWeight{value: d}
		p.values[string(field)] = v
	}
	v.weight += weight
	return nil
}

// accumulate adds a value to an aggregate that is computed from all rows of its group.
func (p *part) accumulate(rt *expr.Runtime, a *incremental.Aggregate, row []types.Datum) error {
	if p.accumulator == nil {
		p.accumulator = a.Func.New([]*types.Type{a.ArgType})
	}
	d := row[a.Arg]
	if d.Null && a.Func.Strict {
		return nil
	}
	if a.Distinct {
		key, err := codec.AppendKey(nil, a.ArgType, d, false, false)
		if err != nil {
			return err
		}
		if _, again := p.seen[string(key)]; again {
			return nil
		}
		if p.seen == nil {
			p.seen = map[string]struct{}{}
		}
		p.seen[string(key)] = struct{}{}
	}
	return p.accumulator.Add(rt, []types.Datum{d})
}
