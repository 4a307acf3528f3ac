package bind

// Costs are what a session wants the planner to think of ways to run a statement: PostgreSQL's enable_…
// and page costs. The zero value is the planner's own judgement.
type Costs struct {
	// No… make a way so dear that it is taken only where there is no other.
	NoSeqScan, NoIndexScan, NoIndexOnlyScan, NoHashJoin, NoNestLoop, NoSort bool
	// RandomPage is the cost of a page that is read out of order, in pages read in order; 0: 4.
	RandomPage float64
}
