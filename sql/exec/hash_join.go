package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// hashJoin keeps the right side in memory: its columns, a table of its distinct keys, and for each
// key the chain of its rows in their order.
type hashJoin struct {
	run                 *run
	kind                opt.JoinKind
	left, right         operator
	leftKeys, rightKeys []*eval.Program
	pair                *pairing
	needRows            bool // right columns are needed, not just keys
	rightNode           physical.Node
	rerun               rerun

	built   bool
	store   *rowStore
	table   *keyTable
	head    []int32 // by key: first row
	tail    []int32
	next    []int32 // by row: next row of the same key, or -1
	nullKey bool    // a right row has a NULL key
	rows    int     // right rows, those with NULL keys included

	vecs    []*types.Vec
	live    []int32
	groups  []int32
	found   []int32 // by position of the left selection: key number or -1
	at      int     // position
	row     int32   // right row to continue with, or -1
	mid     bool    // within the chain of the row at position at
	rest    int     // progress through unmatched right rows
	leftEnd bool    // the left side has no more rows
}

func (r *run) buildHashJoin(n *physical.HashJoin) (operator, error) {
	left, err := r.build(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := r.build(n.Right)
	if err != nil {
		return nil, err
	}
	j := &hashJoin{run: r, kind: n.Kind, left: left, right: right, rightNode: n.Right}
	if j.leftKeys, err = compileAll(n.LeftKeys); err != nil {
		return nil, err
	}
	if j.rightKeys, err = compileAll(n.RightKeys); err != nil {
		return nil, err
	}
	for i, k := range j.leftKeys {
		if k.Type().Family != j.rightKeys[i].Type().Family {
			return nil, sqlerr.New(sqlerr.InternalError, "hash join of %s with %s",
				k.Type().Name, j.rightKeys[i].Type().Name)
		}
	}
	if n.Kind == opt.NullAnti && (n.Cond != nil || len(n.LeftKeys) != 1) {
		return r.newNullAntiJoin(j, n)
	}
	if j.pair, err = newPairing(r, n.Kind, n.Cond, columnTypes(n.Left), columnTypes(n.Right)); err != nil {
		return nil, err
	}
	j.needRows = n.Kind < opt.Semi || n.Cond != nil
	j.store = newRowStore(&r.mem, columnTypes(n.Right))
	j.table = newKeyTable(&r.mem, programTypes(j.rightKeys))
	return j, nil
}

func (j *hashJoin) Open(ctx context.Context) error {
	if err := j.left.Open(ctx); err != nil {
		return err
	}
	if j.rerun.again(j.run, j.rightNode) && j.built {
		j.rest, j.leftEnd, j.pair.batch = 0, false, nil
		j.pair.expectRight(j.store.len)
		return nil
	}
	j.forget()
	return j.right.Open(ctx)
}

func (j *hashJoin) forget() {
	j.built, j.leftEnd, j.nullKey, j.rows, j.rest = false, false, false, 0, 0
	j.store.reset()
	j.table.reset()
	j.head, j.tail, j.next = nil, nil, nil
	j.pair.batch = nil
}

func (j *hashJoin) Close() error {
	j.forget()
	j.store.free()
	j.table.free()
	return closeAll(j.left, j.right)
}

// build reads the right side.
func (j *hashJoin) build(ctx context.Context) error {
	for {
		b, err := j.right.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		j.run.ctx = ctx
		if err := j.addRight(b); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	j.built = true
	j.pair.rights = j.store.cols
	j.pair.expectRight(j.store.len)
	return nil
}

func (j *hashJoin) addRight(b *types.Batch) (err error) {
	sel := selection(b)
	j.rows += len(sel)
	if j.vecs, err = j.run.evalKeys(j.rightKeys, b, j.vecs); err != nil {
		return err
	}
	j.live = withoutNulls(j.vecs, sel, j.live)
	if len(j.live) < len(sel) {
		j.nullKey = true
	}
	if j.groups, err = j.table.add(j.vecs, j.live, j.groups); err != nil {
		return err
	}
	if !j.needRows {
		return nil
	}
	kept := j.live
	if j.pair.keepsRight() {
		kept = sel // rows without a key match nothing, and are returned in the end
	}
	first := j.store.len
	if err := j.store.add(b.Cols, kept); err != nil {
		return err
	}
	if err := j.store.charge(int64(len(kept)) * chainBytes); err != nil {
		return err
	}
	j.link(kept, first)
	return nil
}

// chainBytes is what head, tail and next take of a row at most, with the room that append leaves.
const chainBytes = 16

// link puts the rows kept, the first of which is number row, into the chains of their keys.
func (j *hashJoin) link(kept []int32, row int) {
	k := 0
	for i, r := range kept {
		n := int32(row + i)
		j.next = append(j.next, -1)
		if k == len(j.live) || j.live[k] != r {
			continue
		}
		g := j.groups[k]
		k++
		if int(g) == len(j.head) {
			j.head = append(j.head, n)
			j.tail = append(j.tail, n)
			continue
		}
		j.next[j.tail[g]] = n
		j.tail[g] = n
	}
}

func (j *hashJoin) Next(ctx context.Context) (*types.Batch, error) {
	if !j.built {
		if err := j.build(ctx); err != nil {
			return nil, err
		}
	}
	p := j.pair
	for {
		if p.batch == nil {
			if j.leftEnd {
				return p.unmatched(&j.rest), nil
			}
			b, err := j.nextLeft(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				j.leftEnd = true
				return p.unmatched(&j.rest), nil
			}
			if done, out := j.shortcut(b); done {
				if out != nil {
					return out, nil
				}
				continue
			}
			if err := j.probe(b); err != nil {
				return nil, err
			}
		}
		j.candidates()
		out, err := p.emit()
		if p.done == len(p.sel) {
			p.batch = nil
		}
		if err != nil || out != nil {
			return out, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// nextLeft returns the next left batch with rows. With nothing on the right, and nothing to return
// for left rows alone, the left side need not be read.
func (j *hashJoin) nextLeft(ctx context.Context) (*types.Batch, error) {
	if j.rows == 0 && (j.kind == opt.Inner || j.kind == opt.Right || j.kind == opt.Semi) {
		return nil, nil
	}
	for {
		b, err := j.left.Next(ctx)
		j.run.ctx = ctx
		if err != nil || b == nil || b.Rows() > 0 {
			return b, err
		}
	}
}

// shortcut answers for a left batch that the pairing need not see.
func (j *hashJoin) shortcut(b *types.Batch) (bool, *types.Batch) {
	if j.kind != opt.NullAnti {
		return false, nil
	}
	switch {
	case j.rows == 0: // x NOT IN (nothing) is true even for NULL
		return true, b
	case j.nullKey:
		return true, nil
	}
	return false, nil
}

// probe looks the keys of the left rows up.
func (j *hashJoin) probe(b *types.Batch) (err error) {
	p := j.pair
	p.start(b)
	j.at, j.mid = 0, false
	if j.vecs, err = j.run.evalKeys(j.leftKeys, b, j.vecs); err != nil {
		return err
	}
	j.found = j.table.find(j.vecs, p.sel, j.found)
	// A NULL key is in the table of nobody: the table never holds one.
	if j.kind == opt.NullAnti && j.vecs[0].HasNull {
		for k, i := range p.sel {
			if j.vecs[0].Nulls[i] {
				j.found[k] = 0 // counts as a match: the row is not returned
			}
		}
	}
	return nil
}

// candidates fills the pairing.
func (j *hashJoin) candidates() {
	p := j.pair
	firstOnly := p.leftOnly() && p.cond == nil
	for ; j.at < len(p.sel); j.at++ {
		l := p.sel[j.at]
		if !j.mid {
			e := j.found[j.at]
			switch {
			case e < 0:
				continue
			case firstOnly:
				p.add(l, -1)
				continue
			}
			j.row, j.mid = j.head[e], true
		}
		for j.row >= 0 && !p.settled(j.at) {
			if p.full() {
				p.done = j.at
				return
			}
			p.add(l, j.row)
			j.row = j.next[j.row]
		}
		j.mid = false
	}
	p.done = len(p.sel)
}
