package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// nestLoop keeps the right side in memory and tests every pair.
type nestLoop struct {
	run         *run
	kind        opt.JoinKind
	left, right operator
	match       *joinMatcher
	rightNode   physical.Node
	reopened    reopened
	store       *rowStore
	built       bool
	pos         int // position in the left selection
	row         int // right row to continue with

	// If there are keys, pairs whose keys surely differ are left out: see newNullAntiJoin.
	leftKeys, rightKeys []*eval.Program
	keys                *rowStore
	vecs                []*types.Vec
}

func (r *run) buildNestLoop(n *physical.NestLoop) (operator, error) {
	left, right, err := r.buildBoth(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	j := &nestLoop{run: r, kind: n.Kind, left: left, right: right, rightNode: n.Right}
	j.match, err = newJoinMatcher(r, n.Kind, n.Cond, columnTypes(n.Left), columnTypes(n.Right))
	if err != nil {
		return nil, err
	}
	j.store = newRowStore(&r.mem, columnTypes(n.Right))
	return j, nil
}

// newNullAntiJoin makes the join for a NOT IN of several columns, or of one with a further
// condition on which right rows are in the list. A left row is returned unless some right row of
// the list is equal to it or, because of NULLs, might be. A hash table cannot find the latter.
func (r *run) newNullAntiJoin(h *hashJoin, n *physical.HashJoin) (operator, error) {
	j := &nestLoop{run: r, kind: opt.Anti, left: h.left, right: h.right, rightNode: n.Right,
		leftKeys: h.leftKeys, rightKeys: h.rightKeys}
	var err error
	j.match, err = newJoinMatcher(r, opt.Anti, n.Cond, columnTypes(n.Left), columnTypes(n.Right))
	if err != nil {
		return nil, err
	}
	j.store = newRowStore(&r.mem, columnTypes(n.Right))
	j.keys = newRowStore(&r.mem, programTypes(h.rightKeys))
	return j, nil
}

func (j *nestLoop) Open(ctx context.Context) error {
	if err := j.left.Open(ctx); err != nil {
		return err
	}
	if j.reopened.keepsRows(j.run, j.rightNode) && j.built {
		j.match.reset()
		return nil
	}
	j.forget()
	return j.right.Open(ctx)
}

func (j *nestLoop) forget() {
	j.built = false
	j.store.reset()
	if j.keys != nil {
		j.keys.reset()
	}
	j.match.reset()
}

func (j *nestLoop) Close() error {
	j.forget()
	j.store.free()
	return closeAll(j.left, j.right)
}

func (j *nestLoop) build(ctx context.Context) error {
	if err := eachBatch(ctx, j.right, j.addRight); err != nil {
		return err
	}
	j.built = true
	j.match.rights = j.store.cols
	j.match.expectRight(j.store.len)
	return nil
}

func (j *nestLoop) addRight(ctx context.Context, b *types.Batch) error {
	err := j.store.addBatch(b)
	if err != nil || j.keys == nil {
		return err
	}
	j.run.ctx = ctx
	if j.vecs, err = j.run.evalKeys(j.rightKeys, b, j.vecs); err != nil {
		return err
	}
	return j.keys.add(j.vecs, selection(b))
}

func (j *nestLoop) Next(ctx context.Context) (*types.Batch, error) {
	if !j.built {
		if err := j.build(ctx); err != nil {
			return nil, err
		}
	}
	return j.match.next(ctx, j)
}

// nextLeft implements candidateSource.
func (j *nestLoop) nextLeft(ctx context.Context) (*types.Batch, error) {
	b, err := j.left.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	j.pos, j.row = 0, 0
	if j.keys != nil {
		j.vecs, err = j.run.evalKeys(j.leftKeys, b, j.vecs)
	}
	return b, err
}

// candidates implements candidateSource.
func (j *nestLoop) candidates(context.Context) error {
	m := j.match
	for ; j.pos < len(m.sel); j.pos++ {
		l, n := m.sel[j.pos], j.store.len
		if m.settled(j.pos) {
			j.row = n
		} else if m.leftOnly() && m.cond == nil && j.keys == nil {
			n = min(n, 1)
		}
		for ; j.row < n; j.row++ {
			if m.full() {
				m.completed = j.pos
				return nil
			}
			if j.keys == nil || j.mayEqual(int(l), j.row) {
				m.add(l, int32(j.row))
			}
		}
		j.row = 0
	}
	m.completed = len(m.sel)
	return nil
}

// mayEqual reports whether the keys of a left and a right row are equal or, for a NULL, not known
// to differ.
func (j *nestLoop) mayEqual(l, r int) bool {
	for i, v := range j.vecs {
		k := j.keys.cols[i]
		if v.HasNull && v.Nulls[l] || k.HasNull && k.Nulls[r] {
			continue
		}
		if !types.EqualEntries(v, l, k, r) {
			return false
		}
	}
	return true
}
