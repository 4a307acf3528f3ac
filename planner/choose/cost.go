package choose

import (
	"math"

	"github.com/minidb/minidb/planner/bind"
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
	// disableCost is added to ways that the session does not want: PostgreSQL's disable_cost.
	disableCost = 1e10
)

// sortCost is the cost of sorting rows that are there.
func (c *chooser) sortCost(rows float64) float64 {
	return rows*math.Log2(math.Max(rows, 2))*0.1 + unwanted(c.env.Costs.NoSort)
}

// unwanted is what is added to the cost of a way that the session may not want.
func unwanted(no bool) float64 {
	if no {
		return disableCost
	}
	return 0
}

// random is how much dearer than thought of above the session takes it to leave the order of the keys.
func random(c bind.Costs) float64 {
	if c.RandomPage == 0 {
		return 1
	}
	return c.RandomPage / 4
}
