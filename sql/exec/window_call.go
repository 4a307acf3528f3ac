package exec

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// windowFunctions are the window functions that are no aggregates.
var windowFunctions = map[string]bool{
	"row_number": true, "rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true,
	"ntile": true, "lag": true, "lead": true, "first_value": true, "last_value": true,
	"nth_value": true,
}

// needsPeers reports whether the call asks for the rows equal to one in the window's order.
func (c *windowCall) needsPeers() bool {
	switch c.call.Name {
	case "row_number", "ntile", "lag", "lead":
		return c.call.Agg != nil
	}
	f := &c.call.Frame
	return !c.framed() || f.Mode != "rows" || f.Exclude == "group" || f.Exclude == "ties"
}

// framed reports whether the call is computed over a frame.
func (c *windowCall) framed() bool {
	switch c.call.Name {
	case "first_value", "last_value", "nth_value":
		return true
	}
	return c.call.Agg != nil
}

// frameWalk is what a call over frames keeps from row to row of a partition.
type frameWalk struct {
	framer   *framer
	row      []types.Datum
	acc      expr.Accumulator // over the rows lo … hi-1; nil: over none
	lo, hi   int
	result   types.Datum
	buckets  types.Datum // argument of ntile
	carrying bool        // a frame is its rows from the first to the last
}

// begin makes the call ready for the rows of a partition.
func (c *windowCall) begin(p *partition) (err error) {
	c.walk = frameWalk{row: make([]types.Datum, len(c.types))}
	if c.call.Agg == nil && c.call.Name == "ntile" {
		c.walk.buckets = c.arg(0, p.from)
	}
	if c.framed() {
		c.walk.framer, err = c.framer(p)
		e := c.call.Frame.Exclude
		c.walk.carrying = e == "" || e == "no others"
	}
	return err
}

// compute sets the results of the rows from … to-1 of a partition. The result of row i is entry
// i-base of out.
func (c *windowCall) compute(p *partition, from, to, base int, out *types.Vec) error {
	if c.call.Agg != nil {
		return c.aggregate(from, to, base, out)
	}
	switch c.call.Name {
	case "ntile":
		return c.ntile(p, from, to, base, out)
	case "lag", "lead":
		c.shift(p, from, to, base, out)
		return nil
	case "first_value", "last_value", "nth_value":
		return c.pick(from, to, base, out)
	}
	for i := from; i < to; i++ {
		c.rank(p, i, i-base, out)
	}
	return nil
}

// rank sets entry at of out to the result of row i.
func (c *windowCall) rank(p *partition, i, at int, out *types.Vec) {
	if c.call.Name == "row_number" {
		out.I[at] = int64(i - p.from + 1)
		return
	}
	first, last := p.peers(i)
	n := p.to - p.from
	switch c.call.Name {
	case "rank":
		out.I[at] = int64(first - p.from + 1)
	case "dense_rank":
		out.I[at] = int64(p.groupOf(i) + 1)
	case "percent_rank":
		out.F[at] = 0
		if n > 1 {
			out.F[at] = float64(first-p.from) / float64(n-1)
		}
	case "cume_dist":
		out.F[at] = float64(last-p.from) / float64(n)
	}
}

func (c *windowCall) ntile(p *partition, from, to, base int, out *types.Vec) error {
	d := c.walk.buckets
	if !d.Null && d.I <= 0 {
		return sqlerr.New("22014", "argument of ntile must be greater than zero")
	}
	n := int64(p.to - p.from)
	for i := from; i < to; i++ {
		if d.Null {
			out.SetNull(i - base)
			continue
		}
		k, size, larger := int64(i-p.from), n/d.I, n%d.I
		if k < larger*(size+1) {
			out.I[i-base] = k/(size+1) + 1
		} else {
			out.I[i-base] = larger + (k-larger*(size+1))/size + 1
		}
	}
	return nil
}

// shift is lag and lead.
func (c *windowCall) shift(p *partition, from, to, base int, out *types.Vec) {
	for i := from; i < to; i++ {
		offset := int64(1)
		if len(c.types) > 1 {
			d := c.arg(1, i)
			if d.Null {
				out.SetNull(i - base)
				continue
			}
			offset = d.I
		}
		if c.call.Name == "lag" {
			offset = -offset
		}
		j := int64(i) + offset
		switch {
		case j >= int64(p.from) && j < int64(p.to):
			out.Set(i-base, c.arg(0, int(j)))
		case len(c.types) > 2:
			out.Set(i-base, c.arg(2, i))
		default:
			out.SetNull(i - base)
		}
	}
}

// pick is first_value, last_value and nth_value.
func (c *windowCall) pick(from, to, base int, out *types.Vec) error {
	f := c.walk.framer
	for i := from; i < to; i++ {
		lo, hi, err := f.frame(i)
		if err != nil {
			return err
		}
		nth := int64(1)
		if c.call.Name == "nth_value" {
			d := c.arg(1, i)
			if d.Null {
				out.SetNull(i - base)
				continue
			}
			if nth = d.I; nth <= 0 {
				return sqlerr.New("22016", "argument of nth_value must be greater than zero")
			}
		}
		found := -1
		f.each(i, lo, hi, func(j int) bool {
			nth--
			if nth <= 0 {
				found = j
			}
			return nth > 0 || c.call.Name == "last_value"
		})
		if found < 0 {
			out.SetNull(i - base)
		} else {
			out.Set(i-base, c.arg(0, found))
		}
	}
	return nil
}

// each calls fn with the rows of the frame of row i that are not excluded, until fn returns false.
func (f *framer) each(i, lo, hi int, fn func(j int) bool) {
	first, last := i, i
	if f.exclude == "group" || f.exclude == "ties" {
		first, last = f.p.peers(i)
	}
	for j := lo; j < hi; j++ {
		peer := j >= first && j < last
		switch f.exclude {
		case "current row":
			if j == i {
				continue
			}
		case "group":
			if peer {
				continue
			}
		case "ties":
			if peer && j != i {
				continue
			}
		}
		if !fn(j) {
			return
		}
	}
}

// aggregate computes an aggregate over frames. While the frame only grows at its end the state is
// carried from row to row; otherwise it is made anew for each frame that differs from the last.
func (c *windowCall) aggregate(from, to, base int, out *types.Vec) error {
	w := &c.walk
	rt := w.framer.p.run.ev.Runtime
	for i := from; i < to; i++ {
		lo, hi, err := w.framer.frame(i)
		if err != nil {
			return err
		}
		if w.carrying && w.acc != nil && lo == w.lo && hi == w.hi {
			out.Set(i-base, w.result)
			continue
		}
		first := lo
		if w.carrying && w.acc != nil && lo == w.lo && hi > w.hi {
			first = w.hi
		} else {
			w.acc = c.call.Agg.New(c.types)
		}
		rt.ArgTypes = c.types
		w.framer.each(i, first, hi, func(j int) bool {
			err = c.add(w.acc, rt, j, w.row)
			return err == nil
		})
		if err != nil {
			return err
		}
		if w.result, err = w.acc.Result(rt); err != nil {
			return err
		}
		w.lo, w.hi = lo, hi
		out.Set(i-base, w.result)
	}
	return nil
}

// add gives row j to an aggregate's state.
func (c *windowCall) add(acc expr.Accumulator, rt *expr.Runtime, j int, row []types.Datum) error {
	cols, at := c.rows.at(j)
	for k := range row {
		row[k] = cols[c.first+k].Get(at)
		if row[k].Null && c.call.Agg.Strict {
			return nil
		}
	}
	return acc.Add(rt, row)
}
