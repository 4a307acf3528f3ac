package estimate

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// Interval is a section of a column: equal to Eq, NULL, or between Low and High.
type Interval struct {
	Eq                expr.Expr
	IsNull            bool
	Low, High         expr.Expr
	LowIncl, HighIncl bool
}

// Intervals is the share of rows whose column lies in one of several sections, which do not
// overlap.
func (e *Estimator) Intervals(id logical.ColID, ivs []Interval) float64 {
	s := 0.0
	for i := range ivs {
		s += e.interval(id, &ivs[i])
	}
	return min(s, 1)
}

func (e *Estimator) interval(id logical.ColID, iv *Interval) float64 {
	c, _ := e.column(id)
	if c == nil {
		switch {
		case iv.Eq != nil || iv.IsNull:
			return equalSelective
		case iv.Low != nil && iv.High != nil:
			return boundSelective
		}
		return rangeSelective
	}
	if iv.IsNull {
		return c.NullFraction
	}
	if iv.Eq != nil {
		if v, known := e.value(c, iv.Eq); known {
			return c.Equal(v)
		}
		return c.EqualAny()
	}
	s := 1 - c.NullFraction
	var low, high *types.Datum
	for _, bound := range []struct {
		x  expr.Expr
		to **types.Datum
	}{{iv.Low, &low}, {iv.High, &high}} {
		if bound.x == nil {
			continue
		}
		if v, known := e.value(c, bound.x); known {
			*bound.to = &v
		} else {
			s *= rangeSelective
		}
	}
	if low == nil && high == nil {
		if iv.Low != nil && iv.High != nil {
			return boundSelective * (1 - c.NullFraction)
		}
		return s
	}
	return min(s, c.Between(low, high, iv.LowIncl, iv.HighIncl))
}
