package choose

import (
	"math"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
)

// Costs, in units of one row read in sequence.
const (
	fetchCost     = 1.8  // a row fetched for an index entry
	seekCost      = 2    // the start of a range
	filterCost    = 0.05 // a condition
	projectCost   = 0.02
	aggregateCost = 0.1
	hashBuildCost = 0.4 // a row put into a hash table
	hashProbeCost = 0.2 // a row looked up
	nestCost      = 0.05
	lookupCost    = 4 // an index lookup for a row of the left side
)

// Guesses where nothing is known.
const (
	tableRows      = 1000
	equalSelective = 0.005
	rangeSelective = 0.33
	boundSelective = 0.05 // between two bounds
	otherSelective = 0.33
)

func rowsOf(d *table.Desc) float64 {
	switch d.Kind {
	case table.KindVirtual:
		return 200
	case table.KindSequence:
		return 1
	}
	return tableRows
}

// sortCost is the cost of sorting rows that are there.
func sortCost(rows float64) float64 {
	return rows * math.Log2(math.Max(rows, 2)) * 0.1
}

// selectivity is the guessed share of rows that conditions keep.
func selectivity(conds []expr.Expr) float64 {
	s := 1.0
	for _, cond := range conds {
		s *= condSelectivity(cond)
	}
	return math.Max(s, 1e-6)
}

func condSelectivity(e expr.Expr) float64 {
	switch e := e.(type) {
	case *expr.Call:
		switch e.Func.Name {
		case "=":
			return equalSelective
		case "<>":
			return 1 - equalSelective
		case "<", "<=", ">", ">=":
			return rangeSelective
		}
	case *expr.InList:
		s := math.Min(1, equalSelective*float64(len(e.List)))
		if e.Not {
			return 1 - s
		}
		return s
	case *expr.IsNull:
		if e.Not {
			return 1 - equalSelective
		}
		return equalSelective
	case *expr.And:
		return selectivity(e.Args)
	case *expr.Or:
		s := 0.0
		for _, a := range e.Args {
			s += condSelectivity(a)
		}
		return math.Min(s, 1)
	case *expr.Not:
		return math.Max(0, 1-condSelectivity(e.Arg))
	case *expr.Const:
		if e.Value.Bool() {
			return 1
		}
		return 0
	}
	return otherSelective
}
