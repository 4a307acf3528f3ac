package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// lookupRows is how many left rows are looked up at once: each may find many.
const lookupRows = 128

// indexJoin looks the rows of its right side up by an index.
type indexJoin struct {
	run    *run
	left   operator
	inner  *physical.Scan
	index  *table.Index // nil: the rows
	keys   []*eval.Program
	filter *eval.Program
	match  *joinMatcher
	stats  *NodeStats // of the inner scan
	vecs   []*types.Vec
	pos    int // position in the left selection
	values []types.Datum
	rows   [][]types.Datum // keys of one lookup
	from   []int32         // left rows of these keys
	which  []int32
	found  *types.Batch
	sel    []int32
}

func (r *run) buildIndexJoin(n *physical.IndexJoin) (operator, error) {
	switch n.Kind {
	case opt.Inner, opt.Left, opt.Semi, opt.Anti:
	default:
		return nil, sqlerr.New(sqlerr.InternalError, "index join cannot be %s", n.Kind)
	}
	if err := r.readable(n.Inner.Table); err != nil {
		return nil, err
	}
	left, err := r.build(n.Left)
	if err != nil {
		return nil, err
	}
	j := &indexJoin{run: r, left: left, inner: n.Inner, index: n.Inner.Index}
	if j.index != nil && j.index.ID == table.RowIndexID {
		j.index = nil
	}
	if j.keys, err = compileAll(n.Keys); err != nil {
		return nil, err
	}
	if j.filter, err = compileOptional(n.Inner.Filter); err != nil {
		return nil, err
	}
	inner := columnTypes(n.Inner)
	if j.match, err = newJoinMatcher(r, n.Kind, n.Cond, columnTypes(n.Left), inner); err != nil {
		return nil, err
	}
	j.found = types.NewBatchCap(inner, 0)
	if r.stats != nil {
		j.stats = &NodeStats{}
		r.stats[n.Inner] = j.stats
	}
	return j, nil
}

func (j *indexJoin) Open(ctx context.Context) error {
	j.match.reset()
	return j.left.Open(ctx)
}

func (j *indexJoin) Close() error {
	j.match.reset()
	return j.left.Close()
}

func (j *indexJoin) Next(ctx context.Context) (*types.Batch, error) {
	return j.match.next(ctx, j)
}

// nextLeft implements candidateSource.
func (j *indexJoin) nextLeft(ctx context.Context) (*types.Batch, error) {
	b, err := j.left.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	j.run.ctx = ctx
	j.pos = 0
	j.vecs, err = j.run.evalKeys(j.keys, b, j.vecs)
	return b, err
}

// candidates looks the next left rows up. It implements candidateSource.
func (j *indexJoin) candidates(ctx context.Context) error {
	m := j.match
	upTo := min(len(m.sel), j.pos+lookupRows)
	j.collect(m.sel[j.pos:upTo])
	j.pos, m.completed = upTo, upTo
	j.found.Reset()
	m.rights = j.found.Cols
	if len(j.rows) == 0 {
		return nil
	}
	j.which = j.which[:0]
	err := table.Lookup(ctx, j.run.reads(j.inner), j.inner.Table, j.index, j.inner.Out, j.rows,
		j.found, &j.which)
	if err != nil {
		return err
	}
	j.run.lookedUp(j.inner, int64(len(j.rows)), int64(j.found.Len))
	sel := firstRows(j.found.Len)
	if j.filter != nil && len(sel) > 0 {
		if j.sel == nil {
			j.sel = make([]int32, 0, len(sel))
		}
		if j.sel, err = j.filter.EvalBool(&j.run.ev, j.found, nil, j.sel); err != nil {
			return err
		}
		sel = j.sel
	}
	j.count(len(sel))
	for _, r := range sel {
		m.add(j.from[j.which[r]], r)
	}
	return nil
}

// collect makes the keys of left rows; a NULL in a key equals nothing.
func (j *indexJoin) collect(sel []int32) {
	j.rows, j.from, j.values = j.rows[:0], j.from[:0], j.values[:0]
	width := len(j.vecs)
	if cap(j.values) < len(sel)*width {
		j.values = make([]types.Datum, 0, len(sel)*width)
	}
next:
	for _, l := range sel {
		at := len(j.values)
		for _, v := range j.vecs {
			if v.HasNull && v.Nulls[l] {
				j.values = j.values[:at]
				continue next
			}
			j.values = append(j.values, v.Get(int(l)))
		}
		j.rows = append(j.rows, j.values[at:len(j.values):len(j.values)])
		j.from = append(j.from, l)
	}
}

// count notes what EXPLAIN ANALYZE shows of the inner scan, which found so many rows.
func (j *indexJoin) count(found int) {
	if j.stats != nil {
		j.stats.Loops += int64(len(j.rows))
		j.stats.Rows += int64(found)
		j.stats.Removed += int64(j.found.Len - found)
	}
}
