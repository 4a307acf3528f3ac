package exec

import (
	"math"
	"sort"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// partition is the rows from … to-1, with their groups of peers: rows equal in the window's order.
type partition struct {
	run      *run
	from, to int
	order    []orderKey
	group    []int // by row: number of its group of peers
	starts   []int // by group: its first row; one more entry for the end
}

func newPartition(r *run, from, to int, order []orderKey) *partition {
	p := &partition{run: r, from: from, to: to, order: order, group: make([]int, to-from)}
	for i := from; i < to; i++ {
		if i == from || len(order) > 0 && compareRows(order, i-1, i) != 0 {
			p.starts = append(p.starts, i)
		}
		p.group[i-from] = len(p.starts) - 1
	}
	p.starts = append(p.starts, to)
	return p
}

// peers are the rows [first, last) equal to row i.
func (p *partition) peers(i int) (first, last int) {
	g := p.group[i-p.from]
	return p.starts[g], p.starts[g+1]
}

// framer finds the frame of each row.
type framer struct {
	p          *partition
	mode       string
	start, end frameBound
	exclude    string
}

// frameBound is one end of a frame.
type frameBound struct {
	kind   string
	rows   int         // ROWS and GROUPS
	offset types.Datum // RANGE
	t      *types.Type // of the offset
}

func (c *windowCall) framer(p *partition) (*framer, error) {
	f := &framer{p: p, mode: c.call.Frame.Mode, exclude: c.call.Frame.Exclude}
	if f.mode == "" {
		f.mode = "range"
		f.start.kind, f.end.kind = "unbounded preceding", "current row"
		return f, nil
	}
	var err error
	if f.start, err = c.bound(p, &c.call.Frame, c.call.Frame.StartKind, &c.start,
		"starting"); err != nil {
		return nil, err
	}
	f.end, err = c.bound(p, &c.call.Frame, c.call.Frame.EndKind, &c.end, "ending")
	return f, err
}

func (c *windowCall) bound(p *partition, fr *opt.Frame, kind string, e *scalarExpr,
	which string) (frameBound, error) {
	b := frameBound{kind: kind}
	if kind != "preceding" && kind != "following" {
		if kind == "" {
			b.kind = "current row"
		}
		return b, nil
	}
	d, err := e.value(p.run)
	if err != nil {
		return b, err
	}
	if d.Null {
		return b, sqlerr.New(sqlerr.NullValueNotAllowed, "frame %s offset must not be null", which)
	}
	b.offset, b.t = d, e.e.Type()
	if fr.Mode != "range" {
		if d.I < 0 {
			return b, sqlerr.New("22013", "frame %s offset must not be negative", which)
		}
		b.rows = int(min(d.I, int64(p.to-p.from)+1))
		return b, nil
	}
	if negativeOffset(b.t, d) {
		return b, sqlerr.New("22013", "invalid preceding or following size in window function")
	}
	return b, nil
}

// negativeOffset reports whether an offset cannot be one: it is negative or NaN.
func negativeOffset(t *types.Type, d types.Datum) bool {
	switch t.Family {
	case types.Int:
		return d.I < 0
	case types.Float:
		return d.F < 0 || math.IsNaN(d.F)
	case types.Decimal:
		return d.Dec.Form == apd.NaN || types.NumericSign(d.Dec) < 0
	case types.Interval:
		return types.IntervalCmp(d.Iv, types.IntervalValue{}) < 0
	}
	return false
}

// frame is the rows [lo, hi) of the frame of row i, exclusions apart.
func (f *framer) frame(i int) (lo, hi int, err error) {
	p := f.p
	if lo, err = f.edge(&f.start, i, false); err != nil {
		return 0, 0, err
	}
	if hi, err = f.edge(&f.end, i, true); err != nil {
		return 0, 0, err
	}
	lo, hi = max(lo, p.from), min(hi, p.to)
	return lo, max(lo, hi), nil
}

// edge is the first row of the frame or, with after set, the row after its last.
func (f *framer) edge(b *frameBound, i int, after bool) (int, error) {
	p := f.p
	switch b.kind {
	case "unbounded preceding":
		return p.from, nil
	case "unbounded following":
		return p.to, nil
	}
	one := 0
	if after {
		one = 1
	}
	switch f.mode {
	case "rows":
		return i + b.signed() + one, nil
	case "groups":
		g := p.group[i-p.from] + b.signed() + one
		return p.starts[min(max(g, 0), len(p.starts)-1)], nil
	}
	first, last := p.peers(i)
	if b.kind == "current row" {
		if after {
			return last, nil
		}
		return first, nil
	}
	return f.rangeEdge(b, i, after)
}

func (b *frameBound) signed() int {
	switch b.kind {
	case "preceding":
		return -b.rows
	case "following":
		return b.rows
	}
	return 0
}

// rangeEdge searches the partition for the key of row i less or plus the offset.
func (f *framer) rangeEdge(b *frameBound, i int, after bool) (int, error) {
	p := f.p
	if len(p.order) != 1 {
		return 0, sqlerr.New(sqlerr.WindowingError,
			"RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	k := &p.order[0]
	first, last := p.peers(i)
	if k.col.HasNull && k.col.Nulls[i] {
		if after {
			return last, nil
		}
		return first, nil
	}
	minus := (b.kind == "preceding") != k.desc
	target, t, err := offsetKey(k.col.Type, k.col.Get(i), b, minus, p.run.ev.Runtime.Location)
	if err != nil {
		return 0, err
	}
	target = withoutNaN(k.col.Type, k.col.Get(i), target, after != k.desc)
	n := p.to - p.from
	at := sort.Search(n, func(j int) bool {
		c := f.compareTarget(k, p.from+j, target, t)
		if after {
			return c > 0
		}
		return c >= 0
	})
	return p.from + at, nil
}

// compareTarget orders the key of row j against the target, as the window's order does.
func (f *framer) compareTarget(k *orderKey, j int, target types.Datum, t *types.Type) int {
	if k.col.HasNull && k.col.Nulls[j] {
		if k.nullsFirst {
			return -1
		}
		return 1
	}
	d := k.col.Get(j)
	if k.col.Type.Family == types.Date && t.Family == types.Timestamp {
		if ts, err := types.DateToTimestamp(d.I); err == nil {
			d = types.NewInt(ts)
		}
	}
	c := types.Compare(t, d, target)
	if k.desc {
		return -c
	}
	return c
}
