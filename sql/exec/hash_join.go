package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// A hash join reads its right side into memory, where a table numbers the distinct keys, and then
// looks up the keys of each left row: of all pairs of rows only those of equal keys are candidates
// for the matcher, which tests the rest of the condition. The rows of one key are a chain in their
// order of arrival. Below, rows 0 and 2 have key "b", row 1 has "a":
//
//	table (key -> number)      head           next (by row)
//	  "b" -> 0                 [0] = row 0 -> [0] = row 2 -> [2] = -1
//	  "a" -> 1                 [1] = row 1 -> [1] = -1
//
// tail is the end of each chain, for appending. A row with a NULL among its keys equals none and is
// in no chain. Joins that need no right row but its key (a semijoin without a condition) keep only
// the table.

type hashJoin struct {
	run                 *run
	kind                opt.JoinKind
	left, right         operator
	leftKeys, rightKeys []*eval.Program
	match               *joinMatcher
	needRows            bool // right columns are needed, not just keys
	rightNode           physical.Node
	reopened            reopened

	built   bool
	store   *rowStore
	table   *keyTable
	head    []int32 // by key number: first row of the chain
	tail    []int32 // by key number: last row of the chain
	next    []int32 // by row: next row of the chain, or -1
	nullKey bool    // a right row has a NULL key
	rows    int     // right rows, those with NULL keys included

	ordered    bool        // a node above depends on the order of the left rows
	rightParts *partitions // while the sides are divided; nil: the right rows are in memory
	parts      *joinParts  // nil: they are
	spilled    spilled

	vecs    []*types.Vec
	live    []int32 // rows of a right batch that have no NULL among their keys
	groups  []int32 // key numbers of live
	found   []int32 // by position of the left selection: key number or -1
	pos     int     // position in the left selection
	inChain bool    // row is in the chain of the left row at pos
	row     int32   // right row to continue with, or -1
}

func (r *run) buildHashJoin(n *physical.HashJoin) (operator, error) {
	left, right, err := r.buildBoth(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	j := &hashJoin{run: r, kind: n.Kind, left: left, right: right, rightNode: n.Right,
		ordered: n.Ordered}
	r.noteSpill(n, &j.spilled)
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
	j.match, err = newJoinMatcher(r, n.Kind, n.Cond, columnTypes(n.Left), columnTypes(n.Right))
	if err != nil {
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
	if j.reopened.keepsRows(j.run, j.rightNode) && j.built && j.parts == nil {
		j.match.reset()
		return nil
	}
	j.forget()
	return j.right.Open(ctx)
}

func (j *hashJoin) forget() {
	j.freeParts()
	j.built, j.nullKey, j.rows = false, false, 0
	j.store.reset()
	j.table.reset()
	j.head, j.tail, j.next = nil, nil, nil
	j.match.reset()
}

func (j *hashJoin) Close() error {
	j.forget()
	j.store.free()
	j.table.free()
	return closeAll(j.left, j.right)
}

// build reads the right side.
func (j *hashJoin) build(ctx context.Context) error {
	if err := eachBatch(ctx, j.right, j.addRight); err != nil {
		return err
	}
	j.built = true
	if j.rightParts != nil {
		return nil
	}
	j.match.rights = j.store.cols
	j.match.expectRight(j.store.len)
	return nil
}

func (j *hashJoin) addRight(ctx context.Context, b *types.Batch) (err error) {
	j.run.ctx = ctx
	sel := selection(b)
	j.rows += len(sel)
	if j.vecs, err = j.run.evalKeys(j.rightKeys, b, j.vecs); err != nil {
		return err
	}
	j.live = withoutNulls(j.vecs, sel, j.live)
	if len(j.live) < len(sel) {
		j.nullKey = true
	}
	kept := j.kept(sel)
	if j.rightParts == nil && j.overflows(b, kept) {
		if j.rightParts, err = j.divideRight(ctx, 0); err != nil {
			return err
		}
		if j.vecs, err = j.run.evalKeys(j.rightKeys, b, j.vecs); err != nil {
			return err
		}
	}
	if j.rightParts != nil {
		return j.addPart(b, kept)
	}
	return j.keep(b, kept)
}

// keep takes the rows kept of a batch, whose keys are vecs, into memory.
func (j *hashJoin) keep(b *types.Batch, kept []int32) (err error) {
	if j.groups, err = j.table.add(j.vecs, j.live, j.groups); err != nil {
		return err
	}
	if !j.needRows {
		return nil
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
	if j.kind == opt.NullAnti && (j.rows == 0 || j.nullKey) {
		return j.withoutMatcher(ctx)
	}
	if j.rightParts != nil {
		if err := j.startParts(ctx); err != nil {
			return nil, err
		}
	}
	if j.parts != nil {
		return j.nextOfParts(ctx)
	}
	return j.match.next(ctx, j)
}

// withoutMatcher returns what a NOT IN leaves of the left side if that does not depend on its keys:
// all rows, even NULL, of an empty list, and none if the list has a NULL.
func (j *hashJoin) withoutMatcher(ctx context.Context) (*types.Batch, error) {
	for {
		b, err := j.left.Next(ctx)
		if err != nil || b == nil || b.Rows() > 0 && j.rows == 0 {
			return b, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// nextLeft implements candidateSource. With nothing on the right, and nothing to return for left
// rows alone, the left side need not be read.
func (j *hashJoin) nextLeft(ctx context.Context) (*types.Batch, error) {
	if j.parts != nil {
		b, err := j.nextLeftOfPart()
		if b == nil || err != nil {
			return nil, err
		}
		j.run.ctx = ctx
		return b, j.probe(b)
	}
	if j.rows == 0 && (j.kind == opt.Inner || j.kind == opt.Right || j.kind == opt.Semi) {
		return nil, nil
	}
	for {
		b, err := j.left.Next(ctx)
		j.run.ctx = ctx
		if err != nil || b == nil {
			return nil, err
		}
		if b.Rows() > 0 {
			return b, j.probe(b)
		}
	}
}

// probe looks the keys of the left rows up.
func (j *hashJoin) probe(b *types.Batch) (err error) {
	sel := selection(b)
	j.pos, j.inChain = 0, false
	if j.vecs, err = j.run.evalKeys(j.leftKeys, b, j.vecs); err != nil {
		return err
	}
	j.found = j.table.find(j.vecs, sel, j.found)
	if j.kind == opt.NullAnti && j.vecs[0].HasNull {
		for k, i := range sel {
			if j.vecs[0].Nulls[i] {
				j.found[k] = 0 // counts as a match: the row is not returned
			}
		}
	}
	return nil
}

// candidates implements candidateSource.
func (j *hashJoin) candidates(context.Context) error {
	m := j.match
	firstOnly := m.leftOnly() && m.cond == nil
	for ; j.pos < len(m.sel); j.pos++ {
		l := m.sel[j.pos]
		if !j.inChain {
			e := j.found[j.pos]
			switch {
			case e < 0:
				continue
			case firstOnly:
				m.add(l, -1)
				continue
			}
			j.row, j.inChain = j.head[e], true
		}
		for j.row >= 0 && !m.settled(j.pos) {
			if m.full() {
				m.completed = j.pos
				return nil
			}
			m.add(l, j.row)
			j.row = j.next[j.row]
		}
		j.inChain = false
	}
	m.completed = len(m.sel)
	return nil
}
