package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Planner has the settings about plans. Its fields are those of Costs in planner/opt.
type Planner struct {
	NoSeqScan, NoIndexScan, NoIndexOnlyScan, NoBitmapScan bool
	NoHashJoin, NoNestLoop, NoSort, NoHashAgg             bool
	RandomPage                                            float64
}

const maxReal = 1.79769e+308

// derivePlanner returns the settings about plans, and their part of the plan cache's key, which is
// empty for the defaults.
func derivePlanner(text func(string) string) (p Planner, key string) {
	off := func(name string) bool { return text(name) == "off" }
	p = Planner{NoSeqScan: off("enable_seqscan"), NoIndexScan: off("enable_indexscan"),
		NoIndexOnlyScan: off("enable_indexonlyscan"), NoBitmapScan: off("enable_bitmapscan"),
		NoHashJoin: off("enable_hashjoin"), NoNestLoop: off("enable_nestloop"),
		NoSort: off("enable_sort"), NoHashAgg: off("enable_hashagg")}
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
	if f < float64(d.Min) || f > maxReal {
		return "", outside(text, d.Name, strconv.FormatInt(d.Min, 10), "1.79769e+308")
	}
	if d.Max != 0 && (f < float64(d.Min) || f > float64(d.Max)) {
		return "", outside(text, d.Name, strconv.FormatInt(d.Min, 10),
			strconv.FormatInt(d.Max, 10))
	}
	return text, nil
}
