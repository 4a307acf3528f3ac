package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Planner are the wishes about plans: what the planner takes them for is in planner/bind.
type Planner struct {
	NoSeqScan, NoIndexScan, NoIndexOnlyScan, NoHashJoin, NoNestLoop, NoSort bool
	RandomPage                                                              float64
}

const (
	methods    = "Query Tuning / Planner Method Configuration"
	costs      = "Query Tuning / Planner Cost Constants"
	background = "Resource Usage / Asynchronous Behavior"
	maxReal    = 1.79769e+308
)

// plannerDefs are the parameters of the planner. The first ones steer it.
var plannerDefs = []Def{
	method("enable_hashjoin", "hash join plans"),
	method("enable_indexonlyscan", "index-only-scan plans"),
	method("enable_indexscan", "index-scan plans"),
	method("enable_nestloop", "nested-loop join plans"),
	method("enable_seqscan", "sequential-scan plans"),
	method("enable_sort", "explicit sort steps"),
	cost("random_page_cost", "4", "a nonsequentially fetched disk page"),
	cost("seq_page_cost", "1", "a sequentially fetched disk page"),

	// Permissions, prices and bounds of what the planner never does (see the package comment).
	method("enable_async_append", "async append plans"),
	method("enable_bitmapscan", "bitmap-scan plans"),
	method("enable_gathermerge", "gather merge plans"),
	method("enable_incremental_sort", "incremental sort steps"),
	method("enable_memoize", "memoization"),
	method("enable_mergejoin", "merge join plans"),
	method("enable_parallel_append", "parallel append plans"),
	method("enable_parallel_hash", "parallel hash plans"),
	method("enable_tidscan", "TID scan plans"),
	{Name: "geqo", Kind: Bool, Default: "on", Context: "user",
		Category: "Query Tuning / Genetic Query Optimizer",
		Desc:     "Enables genetic query optimization."},
	{Name: "jit", Kind: Bool, Default: "off", Context: "user",
		Category: "Query Tuning / Other Planner Options",
		Desc:     "Allow JIT compilation."},
	workers("max_parallel_maintenance_workers", "2", "processes per maintenance operation"),
	workers("max_parallel_workers", "8", "workers that can be active at one time"),
	workers("max_parallel_workers_per_gather", "2", "processes per executor node"),
	{Name: "min_parallel_index_scan_size", Kind: Int, Default: "64", Max: maxInt / 3, Unit: "8kB",
		Context: "user", Category: costs,
		Desc: "Sets the minimum amount of index data for a parallel scan."},
	{Name: "min_parallel_table_scan_size", Kind: Int, Default: "1024", Max: maxInt / 3, Unit: "8kB",
		Context: "user", Category: costs,
		Desc: "Sets the minimum amount of table data for a parallel scan."},
	{Name: "parallel_leader_participation", Kind: Bool, Default: "on", Context: "user",
		Category: background,
		Desc:     "Controls whether Gather and Gather Merge also run subplans."},
	cost("parallel_setup_cost", "1000", "starting up worker processes for parallel query"),
	cost("parallel_tuple_cost", "0.1", "passing each tuple (row) from worker to leader backend"),

	// They ask for what does not exist, or forbid the only way to do something.
	{Name: "enable_hashagg", Kind: Bool, Default: "on", Context: "user", Fixed: true,
		Category: methods,
		Desc:     "Enables the planner's use of hashed aggregation plans."},
	{Name: "enable_material", Kind: Bool, Default: "on", Context: "user", Fixed: true,
		Category: methods,
		Desc:     "Enables the planner's use of materialization."},
	{Name: "force_parallel_mode", Kind: Enum, Default: "off",
		Enum: []string{"off", "on", "regress"}, Context: "user", Fixed: true,
		Category: "Developer Options", Desc: "Forces use of parallel query facilities."},
}

func method(name, what string) Def {
	return Def{Name: name, Kind: Bool, Default: "on", Context: "user", Category: methods,
		Desc: "Enables the planner's use of " + what + "."}
}

func cost(name, value, of string) Def {
	return Def{Name: name, Kind: Real, Default: value, Context: "user", Category: costs,
		Desc: "Sets the planner's estimate of the cost of " + of + "."}
}

func workers(name, value, of string) Def {
	return Def{Name: name, Kind: Int, Default: value, Max: 1024, Context: "user",
		Category: background,
		Desc:     "Sets the maximum number of parallel " + of + "."}
}

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

// derivePlanner parses the wishes, and words them for the key of the plan cache: nothing for the
// defaults.
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
