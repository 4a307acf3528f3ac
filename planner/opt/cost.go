package opt

import (
	"math"
)

// The cost model. A cost is a number of rows read in sequence: a plan of cost 1000 is expected to
// take as long as reading 1000 rows of a table from its beginning. Only the order of costs matters:
// they choose between plans for the same rows.
const (
	// fetchCost is added for each row that is fetched for an entry of a non-covering index: a point
	// read of the row's key. Neighbouring rows often share a block.
	fetchCost = 1.8

	// seekCost is the cost of the start of a range: the iterator descends to a block that was not
	// read before.
	seekCost = 2

	// smallEntry is the cost of an index entry that is much shorter than its row: more entries fit
	// into a block, and fewer columns are decoded.
	smallEntry = 0.8

	// lookupCost is the cost of an index look-up for one left row of a join: its key is made and
	// sought, in no order, among blocks that lie apart. A row read in sequence takes 0.1 µs.
	lookupCost = 25

	// filterCost is the cost of evaluating a condition for a row, and projectCost that of a
	// projection. Both run over batches of columns, so the cost per row is low.
	filterCost  = 0.05
	projectCost = 0.02

	// valueCost is the cost of a row of VALUES, which is in the plan already.
	valueCost = 0.01

	// aggregateCost is the cost of adding a row to its group, or of comparing it with earlier rows,
	// by a hash of its keys.
	aggregateCost = 0.1

	// sortStepCost is the cost of one comparison of a sort. A row takes log2(rows) of them.
	sortStepCost = 0.1

	// hashBuildCost is the cost of copying a right row with all its columns into the hash table of
	// a join. hashProbeCost is the cost of looking up a left row there. The smaller side is
	// therefore better on the right. hashStartCost is that of an empty table: for one left row a
	// look-up is as good.
	hashStartCost = lookupCost
	hashBuildCost = 0.4
	hashProbeCost = 0.2

	// nestCost is the cost of testing a pair of rows in a nested loop, with the right rows in
	// memory.
	nestCost = 0.05

	// joinedCost is the cost of a row that a join passes on to the next join.
	joinedCost = 0.1

	// disableCost is added to methods that the session's settings disable, like PostgreSQL's
	// disable_cost. Such a method is used only where there is no other.
	disableCost = 1e10

	// defaultRandomPage is PostgreSQL's default of random_page_cost, for which the other costs
	// hold.
	defaultRandomPage = 4
)

// Estimate is what the planner expects of a node: its rows, and the cost of the node with all nodes
// below it.
type Estimate struct {
	Rows float64
	Cost float64
}

// Costs are a session's settings about methods and costs: PostgreSQL's enable_… and page costs. The
// zero value disables nothing and uses the default costs.
type Costs struct {
	// No… disable a method: it is used only where there is no other.
	NoSeqScan, NoIndexScan, NoIndexOnlyScan, NoBitmapScan bool
	NoHashJoin, NoNestLoop, NoSort, NoHashAgg             bool
	// RandomPage is the cost of reading a page out of order, relative to reading pages in order; 0:
	// 4.
	RandomPage float64
}

// randomIO scales the costs of reading out of key order by random_page_cost, relative to its
// default.
func (c Costs) randomIO() float64 {
	if c.RandomPage == 0 {
		return 1
	}
	return c.RandomPage / defaultRandomPage
}

// penalty returns the cost that is added to a method which the session's settings may disable.
func penalty(unwanted bool) float64 {
	if unwanted {
		return disableCost
	}
	return 0
}

// KeyScan describes a scan of a table by its row key or by an index.
type KeyScan struct {
	Index   bool    // index entries are read
	Fetches bool    // the row of each entry is fetched
	Small   bool    // entries are much smaller than rows
	Ranges  int     // ranges of the key; 0: all of it
	Rows    float64 // rows in these ranges
}

// Scan returns the cost of a scan by a key.
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

// entryCost is the cost of an entry of a GIN index, of which no value is decoded.
const entryCost = 0.3

// KeysScan returns the cost of a scan by entries of GIN indexes: of so many entries in so many
// lists, and of fetching rows and testing their condition.
func (c Costs) KeysScan(lists, entries, rows float64) float64 {
	return seekCost*c.randomIO()*lists + entries*entryCost + rows*(c.matchCost(true)+filterCost) +
		penalty(c.NoBitmapScan)
}

// matchCost returns the cost of one row found by a key.
func (c Costs) matchCost(fetches bool) float64 {
	if fetches {
		return 1 + fetchCost*c.randomIO()
	}
	return 1
}

// ScanPenalty returns what the session's settings add to the cost of a scan. byKey reports whether
// EXPLAIN calls it an index scan, covering whether an index-only scan.
func (c Costs) ScanPenalty(byKey, covering bool) float64 {
	switch {
	case byKey && covering:
		return penalty(c.NoIndexOnlyScan)
	case byKey:
		return penalty(c.NoIndexScan)
	}
	return penalty(c.NoSeqScan)
}

// Stopped returns the cost of a scan that ends after limit of its rows. At least a thousandth of
// the cost remains, for the start.
func Stopped(cost, limit, rows float64) float64 { return cost * math.Max(limit/rows, 0.001) }

// Lookup is the cost of looking up one row by itself.
const Lookup = lookupCost

// Lookups returns the cost of looking up the elements of an array, which together find rows.
func Lookups(elements, rows float64) float64 { return elements*lookupCost + rows }

// IndexJoin returns the cost of a join that looks up each left row by an index and finds matches
// rows each time. fetches reports whether rows are fetched for index entries.
func (c Costs) IndexJoin(left Estimate, matches float64, fetches bool) float64 {
	return left.Cost + left.Rows*(lookupCost*c.randomIO()+matches*c.matchCost(fetches)) +
		penalty(c.NoNestLoop)
}

// HashJoin returns the cost of a join by a hash table of the right side.
func (c Costs) HashJoin(left, right Estimate) float64 {
	return left.Cost + right.Cost + HashStep(left.Rows, right.Rows) + penalty(c.NoHashJoin)
}

// NestLoop returns the cost of a join that tests all pairs, with the right side in memory.
func (c Costs) NestLoop(left, right Estimate) float64 {
	return left.Cost + right.Cost + left.Rows*right.Rows*nestCost + penalty(c.NoNestLoop)
}

// Apply returns the cost of running the right side once for each left row.
func Apply(left, right Estimate) float64 { return left.Cost + left.Rows*(right.Cost+1) }

// SortRows returns the cost of sorting rows, without that of making them.
func (c Costs) SortRows(rows float64) float64 {
	return rows*math.Log2(math.Max(rows, 2))*sortStepCost + penalty(c.NoSort)
}

// Sort returns the cost of a node that sorts its input.
func (c Costs) Sort(in Estimate) float64 { return in.Cost + c.SortRows(in.Rows) }

// Filter returns the cost of a node that tests a condition for each row.
func Filter(in Estimate) float64 { return in.Cost + in.Rows*filterCost }

// Project returns the cost of a node that computes expressions for each row.
func Project(in Estimate) float64 { return in.Cost + in.Rows*projectCost }

// Group returns the cost of a node that groups rows or removes duplicates.
func Group(in Estimate) float64 { return in.Cost + in.Rows*aggregateCost }

// Values returns the cost of rows that are in the plan.
func Values(rows float64) float64 { return valueCost * rows }

// EachRow returns the cost of a node that does, for each row of its inputs, about as much work as
// reading it takes: writes it, locks it, or keeps it to compare it with others.
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

// The search for a join order (package rule) estimates rows of tables and joins without making
// nodes. It uses the same costs.

// HashStep returns the cost of joining rows with a table by a hash table of the table's rows.
func HashStep(rows, tableRows float64) float64 {
	return hashStartCost + tableRows*hashBuildCost + rows*hashProbeCost
}

// Seeks returns the least cost of looking up a number of keys.
func Seeks(keys float64) float64 { return keys * seekCost }

// LookupStep returns the cost of looking up a number of rows in a table, each with a number of
// matches.
func LookupStep(rows, matches float64) float64 { return rows * RangeStep(matches) }

// RangeStep returns the cost of reading rows of a table by an index.
func RangeStep(rows float64) float64 { return lookupCost + rows*(1+fetchCost) }

// JoinedRows returns the cost of passing the rows of a join on.
func JoinedRows(rows float64) float64 { return rows * joinedCost }
