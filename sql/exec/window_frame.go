package exec

import (
	"context"
	"errors"
	"math"
	"sort"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// partitionKeys are the sort keys of a window's rows: the first few are those of partitions.
type partitionKeys struct {
	partition, all int
	peers          bool // calls ask for the peers of a row
}

// partition is the rows from … to-1, with their groups of peers: rows equal in the window's order.
type partition struct {
	run      *run
	rows     *windowRows
	from, to int
	keys     partitionKeys
	starts   []int32 // by group: its first row, counted from from; one more entry for the end
	group    int     // that of the last row asked for
	counted  int64   // of starts, in bytes
}

func newPartition(ctx context.Context, r *run, rows *windowRows, from int,
	keys partitionKeys) (*partition, error) {
	p := &partition{run: r, rows: rows, from: from, to: rows.len, keys: keys}
	if keys.partition == 0 && !keys.peers {
		return p, nil
	}
	for i := from; i < rows.len; i++ {
		if i > from && keys.partition > 0 && rows.compare(0, keys.partition, i-1, i) != 0 {
			p.to = i
			break
		}
		if keys.peers && (i == from || keys.all > keys.partition &&
			rows.compare(keys.partition, keys.all, i-1, i) != 0) {
			if err := p.start(i); err != nil {
				return p, err
			}
		}
		if i%types.BatchSize == 0 && ctx.Err() != nil {
			return p, ctx.Err()
		}
	}
	return p, errors.Join(rows.err, p.start(p.to))
}

// start begins a group of peers at row i.
func (p *partition) start(i int) error {
	if n := len(p.starts); n == cap(p.starts) {
		room := max(16, 2*n)
		p.counted += 4 * int64(room)
		if err := p.run.mem.grow(4 * int64(room)); err != nil {
			return err
		}
		p.starts = append(make([]int32, 0, room), p.starts...)
		p.counted -= 4 * int64(n)
		p.run.mem.shrink(4 * int64(n))
	}
	p.starts = append(p.starts, int32(i-p.from))
	return nil
}

func (p *partition) free() {
	p.run.mem.shrink(p.counted)
	p.counted, p.starts = 0, nil
}

// groupOf is the number of the group of peers of row i. Most rows are asked for in their order.
func (p *partition) groupOf(i int) int {
	at := int32(i - p.from)
	for p.starts[p.group+1] <= at {
		p.group++
	}
	for p.starts[p.group] > at {
		p.group--
	}
	return p.group
}

// startOf is the first row of a group.
func (p *partition) startOf(group int) int { return p.from + int(p.starts[group]) }

// peers are the rows [first, last) equal to row i.
func (p *partition) peers(i int) (first, last int) {
	g := p.groupOf(i)
	return p.startOf(g), p.startOf(g + 1)
}

// orderKey is the first key of the window's order, of row i.
func (p *partition) orderKey(i int) types.Datum {
	cols, at := p.rows.at(i)
	return cols[p.rows.sorter.from[p.keys.partition]].Get(at)
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
		g := p.groupOf(i) + b.signed() + one
		return p.startOf(min(max(g, 0), len(p.starts)-1)), nil
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
	if p.keys.all-p.keys.partition != 1 {
		return 0, sqlerr.New(sqlerr.WindowingError,
			"RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	k := &p.rows.sorter.keys[p.keys.partition]
	key, keyType := p.orderKey(i), k.Expr.Type()
	first, last := p.peers(i)
	if key.Null {
		if after {
			return last, nil
		}
		return first, nil
	}
	minus := (b.kind == "preceding") != k.Desc
	target, t, err := offsetKey(keyType, key, b, minus, p.run.ev.Runtime.Location)
	if err != nil {
		return 0, err
	}
	target = withoutNaN(keyType, key, target, after != k.Desc)
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
func (f *framer) compareTarget(k *opt.SortKey, j int, target types.Datum, t *types.Type) int {
	d := f.p.orderKey(j)
	if d.Null {
		if k.NullsFirst {
			return -1
		}
		return 1
	}
	if k.Expr.Type().Family == types.Date && t.Family == types.Timestamp {
		if ts, err := types.DateToTimestamp(d.I); err == nil {
			d = types.NewInt(ts)
		}
	}
	c := types.Compare(t, d, target)
	if k.Desc {
		return -c
	}
	return c
}
