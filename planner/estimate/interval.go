package estimate

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// Interval is a section of a column: equal to Eq, NULL, or between Low and High.
type Interval struct {
	Eq                expr.Expr
	IsNull            bool
	Low, High         expr.Expr
	LowIncl, HighIncl bool
}

// Intervals returns the share of rows whose column is in one of several intervals, which do not
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
	switch {
	case c == nil:
		return guessInterval(iv)
	case iv.IsNull:
		return c.NullFraction
	case iv.Eq == nil:
		return e.between(c, iv)
	}
	if v, known := e.value(c, iv.Eq); known {
		return c.Equal(v)
	}
	return c.EqualAny()
}

// guessInterval returns the guessed share of an interval of a column without statistics.
func guessInterval(iv *Interval) float64 {
	switch {
	case iv.Eq != nil || iv.IsNull:
		return equalSelective
	case iv.Low != nil && iv.High != nil:
		return boundSelective
	}
	return rangeSelective
}

// between returns the share of an interval with bounds, of which some may not be known yet.
func (e *Estimator) between(c *stats.Column, iv *Interval) float64 {
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
