package stats

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/minidb/minidb/table/types"
)

// gathered is what a pass over the rows finds out about a column, beside the sample.
type gathered struct {
	t      *types.Type
	rows   int64
	nulls  int64
	bytes  int64
	sketch *sketch // nil for types without equality

	blocks []int64 // as of the analysis; nil: all rows were read
	table  float64 // with blocks, how many rows the table has
}

func newGathered(t *types.Type) *gathered {
	g := &gathered{t: t}
	if elem := t.Elem; !t.Unordered() && (elem == nil || !elem.Unordered()) {
		g.sketch = newSketch()
	}
	return g
}

// add takes the column of a batch.
func (g *gathered) add(v *types.Vec, n int) {
	g.rows += int64(n)
	for i := range n {
		if v.HasNull && v.Nulls[i] {
			g.nulls++
			continue
		}
		if g.t.Family.Storage() == types.I64 {
			g.sketch.add(types.HashInt(v.I[i], 0))
			continue
		}
		d := v.Get(i)
		g.bytes += width(g.t, d)
		if g.sketch != nil {
			g.sketch.add(g.hash(d))
		}
	}
}

// hash returns equal hashes for equal values. It hashes a jsonb as its text, which nearly does.
func (g *gathered) hash(d types.Datum) uint64 {
	if g.t.Family == types.JSON {
		return types.HashString(d.S, 0)
	}
	return types.Hash(g.t, d, 0)
}

// storedLen is what PostgreSQL stores for a text of n bytes.
func storedLen(n int) int64 {
	if n < 127 {
		return int64(n) + 1
	}
	return int64(n) + 4
}

// width is about what PostgreSQL stores for a value.
func width(t *types.Type, d types.Datum) int64 {
	switch {
	case t.Len > 0:
		return int64(t.Len)
	case t.Family == types.Decimal:
		return 4 + 2*((d.Dec.NumDigits()+3)/4)
	case t.Family == types.Array:
		n := int64(20)
		for _, e := range d.Arr.Elems {
			if !e.Null {
				n += max(width(t.Elem, e), int64(len(e.S)))
			}
		}
		return n
	}
	return storedLen(len(d.S))
}

// value is a value of the sample, the number of its row among the rows of the sample, and that of
// its block: where all rows were read, each is one.
type value struct {
	d         types.Datum
	at, block int
}

// column makes the statistics of a column of the sample. target is the number of common values, and
// of the histogram's buckets. The result is meaningless if the context has ended.
func (g *gathered) column(e *ending, v *types.Vec, order []int64, target int) *Column {
	c := &Column{Type: g.t.WithMod(types.NoMod), Width: float64(max(g.t.Len, 0))}
	if g.rows == 0 {
		return c
	}
	there := g.rows - g.nulls
	c.NullFraction = float64(g.nulls) / float64(g.rows)
	if there == 0 {
		return c
	}
	if g.t.Len <= 0 {
		c.Width = float64(g.bytes) / float64(there)
	}
	if g.sketch == nil {
		return c
	}
	var values []value
	wides, block := 0, 0
	for place, i := range byNumber(e, order) {
		if e.step() {
			return c
		}
		if block = place; g.blocks != nil {
			block, _ = slices.BinarySearch(g.blocks, order[i]+1)
		}
		switch d := v.Get(i); {
		case d.Null:
		case wide(g.t, d):
			wides++
		default:
			values = append(values, value{d, place, block})
		}
	}
	sortStable(e, values, func(a, b value) int { return g.compare(a.d, b.d) })
	runs := g.runs(e, values)
	if g.blocks != nil {
		c.Distinct = spread(runs, wides, float64(len(order))/g.table,
			math.Round(g.table*float64(there)/float64(g.rows)))
	} else if int64(len(order)) == g.rows { // the sample is the whole table
		c.Distinct = float64(len(runs) + wides)
	} else {
		c.Distinct = g.distinct(float64(there), len(runs) == len(values))
	}
	c.Distinct = max(c.Distinct, 1)
	sample := float64(len(order))
	common := g.common(e, runs, c.Distinct, len(values), wides == 0, target)
	for _, r := range common {
		c.Common = append(c.Common, values[r.from].d)
		c.Frequencies = append(c.Frequencies, float64(r.n)/sample)
	}
	c.Complete = len(common) == len(runs) && wides == 0 && c.Distinct <= float64(len(runs))
	if g.t.Family == types.JSON {
		return c
	}
	if e.err == nil {
		c.Correlation = correlation(e, values)
		c.Bounds = bounds(e, values, runs, common, target)
	}
	return c
}

// distinct estimates the number of different values among so many. differ: those of the sample are.
func (g *gathered) distinct(values float64, differ bool) float64 {
	n := min(math.Round(g.sketch.estimate()), values)
	if differ && n > unique*values {
		return values // within the sketch's error, and no value came twice
	}
	return n
}

func (g *gathered) compare(a, b types.Datum) int {
	if g.t.Family == types.JSON {
		return strings.Compare(a.S, b.S)
	}
	return types.Compare(g.t, a, b)
}

// byNumber lists the places of the sample in the order of their rows.
func byNumber(e *ending, order []int64) []int {
	out := make([]int, len(order))
	for i := range out {
		out[i] = i
	}
	sortStable(e, out, func(a, b int) int { return int(order[a] - order[b]) })
	return out
}

// run is n equal values of the sorted sample, of so many blocks.
type run struct{ from, n, blocks int }

func (g *gathered) runs(e *ending, values []value) []run {
	var out []run
	for i := range values {
		if e.step() {
			return nil
		}
		if i > 0 && g.compare(values[i-1].d, values[i].d) == 0 {
			r := &out[len(out)-1]
			if r.n++; values[i-1].block != values[i].block {
				r.blocks++
			}
			continue
		}
		out = append(out, run{i, 1, 1})
	}
	return out
}

// unique is the estimated share of different values above which, if no value occurs twice in the
// sample, all values are taken to be different.
const unique = 0.97

// commoner is how many times more frequent than the average a value of the sample must be to count
// as common, and leastCommon how often it must occur: fewer may be chance.
const (
	commoner    = 1.25
	leastCommon = 2
)

// common chooses the most common values: all, where these are few and the sample has them several
// times, else those that are clearly more frequent than the average.
func (g *gathered) common(e *ending, runs []run, distinct float64, values int, all bool,
	target int) []run {
	var out []run
	least := leastCommon
	if g.blocks != nil {
		least = leastBlocks
	}
	for _, r := range runs {
		if r.blocks >= least {
			out = append(out, r)
		}
	}
	sortStable(e, out, func(a, b run) int { return b.n - a.n })
	if all && len(out) == len(runs) && len(out) <= target && distinct <= float64(len(runs)) {
		return out
	}
	out = out[:min(len(out), target)]
	average := float64(values) / distinct
	for i, r := range out {
		if float64(r.n) < commoner*average {
			return out[:i]
		}
	}
	return out
}

// bounds cuts the values that are not common into buckets of equal numbers.
func bounds(e *ending, values []value, runs, common []run, target int) []types.Datum {
	taken := map[int]bool{}
	for _, r := range common {
		taken[r.from] = true
	}
	var rest []types.Datum
	distinct := 0
	for _, r := range runs {
		if taken[r.from] {
			continue
		}
		distinct++
		for i := range r.n {
			if e.step() {
				return nil
			}
			rest = append(rest, values[r.from+i].d)
		}
	}
	n := min(target+1, distinct)
	if n < 2 {
		return nil
	}
	out := make([]types.Datum, n)
	for i := range out {
		out[i] = rest[i*(len(rest)-1)/(n-1)]
	}
	return out
}

// correlation is that of the values' order with the rows' (Pearson's, of the ranks).
func correlation(e *ending, values []value) float64 {
	n := float64(len(values))
	if n < 2 {
		return 0
	}
	// places has gaps where rows are NULL: what counts are ranks among the values.
	places := make([]int, len(values))
	for i, v := range values {
		places[i] = v.at
	}
	sortStable(e, places, cmp.Compare[int])
	rank := make(map[int]int, len(places))
	for i, p := range places {
		if e.step() {
			return 0
		}
		rank[p] = i
	}
	sum := 0.0
	for i, v := range values {
		if e.step() {
			return 0
		}
		sum += float64(i) * float64(rank[v.at])
	}
	mean := (n - 1) / 2
	variance := (n*n - 1) / 12
	return max(-1, min(1, (sum/n-mean*mean)/variance))
}
