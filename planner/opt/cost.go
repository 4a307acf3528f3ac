package opt

import (
	"math"
)

// The cost model. A cost is a number of rows read in sequence: a plan of cost 1000 is expected to
// take as long as reading 1000 rows of a table from its beginning. Only the order of costs matters:
// they choose between plans for the same rows.
const (
	// fetchCost is added for a row that is fetched for an entry of an index which does not cover
	// the query: a point read of the row's key, of which neighbours often share a block.
	fetchCost = 1.8

	// seekCost is the start of a range: the iterator descends to a block that was not read before.
	seekCost = 2

	// smallEntry is what an entry of an index costs in place of a row that is much longer: more of
	// them lie in a block, and fewer columns are decoded.
	smallEntry = 0.8

	// lookupCost is an index lookup for one row of the left side of a join: a seek and a row, with
	// the overhead of setting the range up each time.
	lookupCost = 4

	// filterCost is the evaluation of a condition for a row, and projectCost that of a projection.
	// Both run over batches of columns, so that a row costs little.
	filterCost  = 0.05
	projectCost = 0.02

	// valueCost is a row of VALUES, which is in the plan already.
	valueCost = 0.01

	// aggregateCost is a row put into its group or compared with those already seen, by a hash of
	// its keys.
	aggregateCost = 0.1

	// sortStepCost is one comparison of a sort, of which a row takes log2(rows).
	sortStepCost = 0.1

	// hashBuildCost is a row of the right side put into the hash table of a join, copied with all
	// its columns. hashProbeCost is a row of the left side looked up there. The smaller side is
	// therefore better on the right.
	hashBuildCost = 0.4
	hashProbeCost = 0.2

	// nestCost is a pair of rows tested by a nested loop over rows that are in memory.
	nestCost = 0.05

	// joinedCost is a row that one join of several gives to the next.
	joinedCost = 0.1

	// disableCost is added to ways that the session does not want: PostgreSQL's disable_cost. Such
	// a way is taken where there is no other.
	disableCost = 1e10

	// usualRandomPage is PostgreSQL's default of random_page_cost. The figures above hold for it.
	usualRandomPage = 4
)

// Estimate is what the planner expects of a node: its rows, and the cost of the node with all below
// it.
type Estimate struct {
	Rows float64
	Cost float64
}

// Costs are a session's settings about ways to run a statement: PostgreSQL's enable_… and page
// costs. The zero value leaves the choice to the model.
type Costs struct {
	// No… make a way so expensive that it is taken only where there is no other.
	NoSeqScan, NoIndexScan, NoIndexOnlyScan, NoHashJoin, NoNestLoop, NoSort bool
	// RandomPage is the cost of a page that is read out of order, in pages read in order; 0: 4.
	RandomPage float64
}

// randomIO scales the costs of leaving the order of the keys by random_page_cost, relative to its
// default.
func (c Costs) randomIO() float64 {
	if c.RandomPage == 0 {
		return 1
	}
	return c.RandomPage / usualRandomPage
}

// penalty is what is added to a way that the session may not want.
func penalty(unwanted bool) float64 {
	if unwanted {
		return disableCost
	}
	return 0
}

// KeyScan describes a scan of a table by its rows or by an index.
type KeyScan struct {
	Index   bool    // entries of an index are read
	Fetches bool    // for each entry its row is fetched
	Small   bool    // entries are much smaller than rows
	Ranges  int     // sections of the key; 0: all of it
	Rows    float64 // in these sections
}

// Scan is the cost of reading by a key.
func (c Costs) Scan(s KeyScan) float64 {
	perRow := 1.0
	switch {
	case s.Index && s.Fetches:
		perRow = c.matchCost(true)
	case s.Index && s.Small:
		perRow = smallEntry
	}
	if s.Ranges == 0 {
		return s.Rows * perRow
	}
	return seekCost*c.randomIO()*float64(s.Ranges) + s.Rows*perRow
}

// matchCost is the cost of a row found by a key.
func (c Costs) matchCost(fetches bool) float64 {
	if fetches {
		return 1 + fetchCost*c.randomIO()
	}
	return 1
}

// ScanPenalty is what the session's settings add to a scan. byKey reports whether EXPLAIN calls it
// an index scan, covering whether an index-only one.
func (c Costs) ScanPenalty(byKey, covering bool) float64 {
	switch {
	case byKey && covering:
		return penalty(c.NoIndexOnlyScan)
	case byKey:
		return penalty(c.NoIndexScan)
	}
	return penalty(c.NoSeqScan)
}

// Stopped is the cost of a scan that ends early, when limit of its rows have been given. A
// thousandth remains, for the start.
func Stopped(cost, limit, rows float64) float64 { return cost * math.Max(limit/rows, 0.001) }

// Lookup is the cost of a row looked up alone.
const Lookup = lookupCost

// Lookups is the cost of looking elements of an array up, which give so many rows.
func Lookups(elements, rows float64) float64 { return elements*lookupCost + rows }

// IndexJoin is the cost of a join that looks each row of the left side up and finds so many
// matches. fetches reports whether rows are fetched for entries.
func (c Costs) IndexJoin(left Estimate, matches float64, fetches bool) float64 {
	return left.Cost + left.Rows*(lookupCost*c.randomIO()+matches*c.matchCost(fetches)) +
		penalty(c.NoNestLoop)
}

// HashJoin is the cost of a join by a hash table of the right side.
func (c Costs) HashJoin(left, right Estimate) float64 {
	return left.Cost + right.Cost + right.Rows*hashBuildCost + left.Rows*hashProbeCost +
		penalty(c.NoHashJoin)
}

// NestLoop is the cost of a join that tests all pairs, with the right side in memory.
func (c Costs) NestLoop(left, right Estimate) float64 {
	return left.Cost + right.Cost + left.Rows*right.Rows*nestCost + penalty(c.NoNestLoop)
}

// Apply is the cost of running the right side once for each row of the left one.
func Apply(left, right Estimate) float64 { return left.Cost + left.Rows*(right.Cost+1) }

// SortRows is the cost of sorting rows, without making them.
func (c Costs) SortRows(rows float64) float64 {
	return rows*math.Log2(math.Max(rows, 2))*sortStepCost + penalty(c.NoSort)
}

// Sort is the cost of a node that sorts its input.
func (c Costs) Sort(in Estimate) float64 { return in.Cost + c.SortRows(in.Rows) }

// Filter is the cost of a node that tests a condition for each row.
func Filter(in Estimate) float64 { return in.Cost + in.Rows*filterCost }

// Project is the cost of a node that computes expressions for each row.
func Project(in Estimate) float64 { return in.Cost + in.Rows*projectCost }

// Group is the cost of a node that puts rows into groups, or keeps the different ones.
func Group(in Estimate) float64 { return in.Cost + in.Rows*aggregateCost }

// Values is the cost of rows that are in the plan.
func Values(rows float64) float64 { return valueCost * rows }

// EachRow is the cost of a node that does for each row about what reading one takes: writes it,
// locks it, or keeps it to compare it with others.
func EachRow(inputs ...Estimate) float64 {
	cost := 0.0
	for _, in := range inputs {
		cost += in.Cost
	}
	for _, in := range inputs {
		cost += in.Rows
	}
	return cost
}

// The search for an order of joins (package rule) has the rows of tables and of joins, and no
// nodes. It weighs steps by the same figures.

// HashStep is the cost of joining so many rows with a table by a hash table of its rows.
func HashStep(rows, tableRows float64) float64 {
	return tableRows*hashBuildCost + rows*hashProbeCost
}

// Seeks is the least that looking so many keys up costs.
func Seeks(keys float64) float64 { return keys * seekCost }

// LookupStep is the cost of looking rows up in a table, each with so many matches.
func LookupStep(rows, matches float64) float64 { return rows * RangeStep(matches) }

// RangeStep is the cost of reading rows of a table by an index.
func RangeStep(rows float64) float64 { return lookupCost + rows*(1+fetchCost) }

// JoinedRows is the cost of passing the rows of a join on.
func JoinedRows(rows float64) float64 { return rows * joinedCost }
