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

// compute sets the entries of out for the rows of a partition.
func (c *windowCall) compute(p *partition, out *types.Vec) error {
	if c.call.Agg != nil {
		return c.aggregate(p, out)
	}
	switch c.call.Name {
	case "ntile":
		return c.ntile(p, out)
	case "lag", "lead":
		return c.shift(p, out)
	case "first_value", "last_value", "nth_value":
		return c.pick(p, out)
	}
	for i := p.from; i < p.to; i++ {
		c.rank(p, i, out)
	}
	return nil
}

func (c *windowCall) rank(p *partition, i int, out *types.Vec) {
	first, last := p.peers(i)
	n := p.to - p.from
	switch c.call.Name {
	case "row_number":
		out.I[i] = int64(i - p.from + 1)
	case "rank":
		out.I[i] = int64(first - p.from + 1)
	case "dense_rank":
		out.I[i] = int64(p.group[i-p.from] + 1)
	case "percent_rank":
		out.F[i] = 0
		if n > 1 {
			out.F[i] = float64(first-p.from) / float64(n-1)
		}
	case "cume_dist":
		out.F[i] = float64(last-p.from) / float64(n)
	}
}

func (c *windowCall) ntile(p *partition, out *types.Vec) error {
	d := c.cols[0].Get(p.from)
	if !d.Null && d.I <= 0 {
		return sqlerr.New("22014", "argument of ntile must be greater than zero")
	}
	n := int64(p.to - p.from)
	for i := p.from; i < p.to; i++ {
		if d.Null {
			out.SetNull(i)
			continue
		}
		k, size, larger := int64(i-p.from), n/d.I, n%d.I
		if k < larger*(size+1) {
			out.I[i] = k/(size+1) + 1
		} else {
			out.I[i] = larger + (k-larger*(size+1))/size + 1
		}
	}
	return nil
}

// shift is lag and lead.
func (c *windowCall) shift(p *partition, out *types.Vec) error {
	for i := p.from; i < p.to; i++ {
		offset := int64(1)
		if len(c.cols) > 1 {
			d := c.cols[1].Get(i)
			if d.Null {
				out.SetNull(i)
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
			out.Set(i, c.cols[0].Get(int(j)))
		case len(c.cols) > 2:
			out.Set(i, c.cols[2].Get(i))
		default:
			out.SetNull(i)
		}
	}
	return nil
}

// pick is first_value, last_value and nth_value.
func (c *windowCall) pick(p *partition, out *types.Vec) error {
	f, err := c.framer(p)
	if err != nil {
		return err
	}
	for i := p.from; i < p.to; i++ {
		lo, hi, err := f.frame(i)
		if err != nil {
			return err
		}
		nth := int64(1)
		if c.call.Name == "nth_value" {
			d := c.cols[1].Get(i)
			if d.Null {
				out.SetNull(i)
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
			out.SetNull(i)
		} else {
			out.Set(i, c.cols[0].Get(found))
		}
	}
	return nil
}

// each calls fn with the rows of the frame of row i that are not excluded, until fn returns false.
func (f *framer) each(i, lo, hi int, fn func(j int) bool) {
	first, last := f.p.peers(i)
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
func (c *windowCall) aggregate(p *partition, out *types.Vec) error {
	f, err := c.framer(p)
	if err != nil {
		return err
	}
	rt := p.run.ev.Runtime
	row := make([]types.Datum, len(c.cols))
	var acc expr.Accumulator
	var result types.Datum
	accLo, accHi := -1, -1
	plain := f.exclude == "" || f.exclude == "no others"
	for i := p.from; i < p.to; i++ {
		lo, hi, err := f.frame(i)
		if err != nil {
			return err
		}
		if plain && acc != nil && lo == accLo && hi == accHi {
			out.Set(i, result)
			continue
		}
		from := lo
		if plain && acc != nil && lo == accLo && hi > accHi {
			from = accHi
		} else {
			acc = c.call.Agg.New(c.types)
		}
		rt.ArgTypes = c.types
		f.each(i, from, hi, func(j int) bool {
			err = c.add(acc, rt, j, row)
			return err == nil
		})
		if err != nil {
			return err
		}
		if result, err = acc.Result(rt); err != nil {
			return err
		}
		accLo, accHi = lo, hi
		out.Set(i, result)
	}
	return nil
}

// add gives row j to an aggregate's state.
func (c *windowCall) add(acc expr.Accumulator, rt *expr.Runtime, j int, row []types.Datum) error {
	for k, v := range c.cols {
		row[k] = v.Get(j)
		if row[k].Null && c.call.Agg.Strict {
			return nil
		}
	}
	return acc.Add(rt, row)
}
