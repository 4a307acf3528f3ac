package choose

import "math"

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

// sortCost is the cost of sorting rows that are there.
func sortCost(rows float64) float64 {
	return rows * math.Log2(math.Max(rows, 2)) * 0.1
}
