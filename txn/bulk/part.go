package bulk

import "context"

// Part is the sorted entries from one key to another.
type Part struct {
	from, to []byte // nil: no bound
	runs     []run
}

// run is the entries of a chunk that belong to a part, from one index to another.
type run struct {
	c       *chunk
	at, end int
}

func (r *run) entry() entry { return r.c.entries[r.at] }

// cut takes the part's entries of each chunk.
func (p *Part) cut(chunks []*chunk) {
	for _, c := range chunks {
		r := run{c: c, end: len(c.entries)}
		if p.from != nil {
			r.at = c.search(p.from)
		}
		if p.to != nil {
			r.end = c.search(p.to)
		}
		if r.at < r.end {
			p.runs = append(p.runs, r)
		}
	}
}

// Each calls visit with every entry, in the order of their keys, until it returns an error. It may
// be called again. row is Sorter.Row as it was.
func (p *Part) Each(ctx context.Context,
	visit func(row uint32, key, value []byte) error) error {
	h := make(runs, len(p.runs))
	copy(h, p.runs)
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	for n := 1; len(h) > 0; n++ {
		if n%entriesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		top := &h[0]
		err := visit(top.c.entries[top.at].row, top.c.key(top.at), top.c.value(top.at))
		if err != nil {
			return err
		}
		if top.at++; top.at == top.end {
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		}
		h.down(0)
	}
	return nil
}

// entriesPerCheck is how many entries pass between two looks at the context.
const entriesPerCheck = 4096

// runs is a heap with the lowest key first.
type runs []run

func (h runs) less(i, j int) bool {
	return h[i].c.compare(h[i].entry(), h[j].c, h[j].entry()) < 0
}

// down moves the i-th run down to its place, if it may be above that.
func (h runs) down(i int) {
	for {
		low := 2*i + 1
		if low >= len(h) {
			return
		}
		if low+1 < len(h) && h.less(low+1, low) {
			low++
		}
		if !h.less(low, i) {
			return
		}
		h[i], h[low] = h[low], h[i]
		i = low
	}
}
