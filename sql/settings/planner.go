package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Planner has the settings about plans. Its fields are those of Costs in planner/opt.
type Planner struct {
	NoSeqScan, NoIndexScan, NoIndexOnlyScan, NoHashJoin, NoNestLoop, NoSort bool
	RandomPage                                                              float64
}

const maxReal = 1.79769e+308

// refused are parameters of PostgreSQL that would have to do something here, and what to do
// instead.
var refused = map[string]string{
	"work_mem": "Sorts and hash tables do not spill to disk: minidb.statement_memory " +
		"bounds what they hold.",
	"hash_mem_multiplier": "Sorts and hash tables do not spill to disk: minidb.statement_memory " +
		"bounds what they hold.",
	"maintenance_work_mem": "A schema change holds what it writes in the transaction, not in " +
		"memory of its own.",
	"effective_cache_size": "The planner has no model of caches; set random_page_cost instead.",
	"cpu_tuple_cost": "The planner's costs are in rows; random_page_cost and seq_page_cost " +
		"are those to set.",
	"cpu_index_tuple_cost": "The planner's costs are in rows; random_page_cost and seq_page_cost " +
		"are those to set.",
	"cpu_operator_cost": "The planner's costs are in rows; random_page_cost and seq_page_cost " +
		"are those to set.",
	"plan_cache_mode": "Plans of prepared statements do not depend on the values of " +
		"parameters.",
}

// derivePlanner returns the settings about plans, and their part of the plan cache's key, which is
// empty for the defaults.
func derivePlanner(text func(string) string) (p Planner, key string) {
	off := func(name string) bool { return text(name) == "off" }
	p = Planner{NoSeqScan: off("enable_seqscan"), NoIndexScan: off("enable_indexscan"),
		NoIndexOnlyScan: off("enable_indexonlyscan"),
		NoHashJoin:      off("enable_hashjoin"), NoNestLoop: off("enable_nestloop"),
		NoSort: off("enable_sort")}
	random, seq := text("random_page_cost"), text("seq_page_cost")
	if random != "4" || seq != "1" {
		r, _ := strconv.ParseFloat(random, 64) // in the form that parse made
		s, _ := strconv.ParseFloat(seq, 64)
		p.RandomPage = min(max(r/max(s, 1e-6), 1e-6), 1e6)
	}
	if p == (Planner{}) {
		return p, ""
	}
	return p, fmt.Sprint(p)
}

// parseReal reads a number without a unit.
func (d *Def) parseReal(value string) (string, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || f != f {
		return "", d.invalid(value)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if f < 0 || f > maxReal {
		return "", outside(text, d.Name, "0", "1.79769e+308")
	}
	return text, nil
}
