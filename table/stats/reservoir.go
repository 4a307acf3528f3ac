package stats

import (
	"math/rand/v2"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/table/types"
)

// reservoir keeps a uniform sample of the rows that were added (Vitter's algorithm R), their
// columns in vectors of their own memory.
type reservoir struct {
	rng      *rand.Rand
	capacity int
	budget   int // bytes of texts and the like that the sample may hold
	cols     []*types.Vec
	sizes    []int   // bytes by place in the sample
	order    []int64 // the row's number, by place in the sample
	bytes    int
	seen     int64
}

// tooWide is the length above which a value is not kept in full: such values are hardly ever
// frequent, and queries do not compare with them. They count as different from each other.
const tooWide = 1024

func newReservoir(ts []*types.Type, capacity, budget int, seed uint64) *reservoir {
	r := &reservoir{rng: rand.New(rand.NewPCG(seed, 0)), capacity: capacity, budget: budget,
		cols: make([]*types.Vec, len(ts))}
	for i, t := range ts {
		r.cols[i] = types.NewVec(t, 0)
	}
	return r
}

// add offers row i of a batch to the sample.
func (r *reservoir) add(cols []*types.Vec, i int) {
	n := r.seen
	r.seen++
	if len(r.order) < r.capacity {
		for _, c := range r.cols {
			c.Resize(len(r.order) + 1)
		}
		r.order, r.sizes = append(r.order, 0), append(r.sizes, 0)
		r.put(len(r.order)-1, n, cols, i)
	} else if at := r.rng.Int64N(r.seen); at < int64(r.capacity) {
		r.put(int(at), n, cols, i)
	}
	for r.bytes > r.budget && len(r.order) > 1 {
		r.shrink()
	}
}

func (r *reservoir) put(at int, number int64, cols []*types.Vec, i int) {
	size := 0
	for k, c := range cols {
		d, n := kept(c.Type, c.Get(i))
		r.cols[k].Set(at, d)
		size += n
	}
	r.bytes += size - r.sizes[at]
	r.sizes[at], r.order[at] = size, number
}

// shrink drops half of the sample at random. What is left is a uniform sample of what was seen, of
// the new capacity.
func (r *reservoir) shrink() {
	n := len(r.order)
	half := (n + 1) / 2
	r.rng.Shuffle(n, func(a, b int) {
		for _, c := range r.cols {
			x, y := c.Get(a), c.Get(b)
			c.Set(a, y)
			c.Set(b, x)
		}
		r.order[a], r.order[b] = r.order[b], r.order[a]
		r.sizes[a], r.sizes[b] = r.sizes[b], r.sizes[a]
	})
	r.bytes = 0
	for _, size := range r.sizes[:half] {
		r.bytes += size
	}
	for _, c := range r.cols {
		for i := half; i < n; i++ {
			c.Set(i, types.Datum{Null: true})
		}
		c.Resize(half)
	}
	r.order, r.sizes, r.capacity = r.order[:half], r.sizes[:half], half
}

// kept copies a datum into memory of its own, and returns its bytes. A value that is too wide is
// cut to one byte more than tooWide, so that wide recognises it by its length.
func kept(t *types.Type, d types.Datum) (types.Datum, int) {
	if d.Null {
		return d, 0
	}
	switch t.Family.Storage() {
	case types.Str:
		if len(d.S) > tooWide {
			d.S = d.S[:tooWide+1]
		}
		d.S = strings.Clone(d.S)
		return d, len(d.S)
	case types.Dec:
		if d.Dec.Form == apd.Finite {
			d.Dec = new(apd.Decimal).Set(d.Dec)
		}
		return d, 48
	case types.Arr:
		return d, 64 + 72*len(d.Arr.Elems)
	}
	return d, 8
}

// wide reports whether a kept datum was cut off.
func wide(t *types.Type, d types.Datum) bool {
	switch t.Family.Storage() {
	case types.Str:
		return len(d.S) > tooWide
	case types.Arr:
		return len(d.Arr.Elems) > tooWide/8
	}
	return false
}
