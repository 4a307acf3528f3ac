package exec

import (
	"context"

	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// A hash join whose right side exceeds its share of memory is a Grace join (Kitsuregawa et al.,
// "Application of hash to data base machine and its architecture", 1983): both sides are divided by
// the hash of their keys, and the partitions are joined one by one.
//
//	right rows ──┬─ partition 0 ─┐      left rows ──┬─ partition 0
//	             ├─ partition 1  └── joined with ───┘
//	             └─ …
//
// A partition that does not fit either is divided again. One that nearly all rows of the divided
// one are in has a key of many rows, which no dividing can take apart: as many of its right rows as
// fit are joined with all its left rows, then the next ones. Left rows that matched in one of these
// passes are marked; what becomes of the others is decided in the last.

// joinParts are the partitions of a hash join.
type joinParts struct {
	pile   []joinPart
	at     joinPart
	active bool          // a pass over a part goes on
	right  *spill.Reader // of the part
	left   *spill.Reader
	marks  leftMarks
	leftBy *types.Batch // left rows being joined

	number  types.Vec // with order: numbers of the left rows of a batch
	written int64
	order   *rowSorter // rows of the join with their left row's number; nil: in any order
	ordered bool       // order gives its rows
	sorted  []*types.Vec
	picked  types.Vec
}

// joinPart is a partition of both sides. A side without rows is nil.
type joinPart struct {
	right, left *spill.Stream
	depth       int
	whole       bool // not to be divided
}

func (p *joinPart) free() { freeStreams([]*spill.Stream{p.right, p.left}) }

// leftMarks are the left rows that matched in a pass over a partition.
type leftMarks struct {
	hits []bool // nil: there is one pass
	base int    // number of the first left row of the batch
	next int    // of the next batch
	last bool   // this is the last pass
}

// note marks a left row if it matched in this pass, and reports whether it matched in any, and
// whether it is time to decide what becomes of it.
func (m *leftMarks) note(row int, hit bool) (ever, decide bool) {
	if m.hits == nil {
		return hit, true
	}
	m.hits[m.base+row] = m.hits[m.base+row] || hit
	return m.hits[m.base+row], m.last
}

// rightHeld is what the right rows in memory take.
func (j *hashJoin) rightHeld() int64 { return j.store.bytes + j.table.held() }

// overflows reports whether the rows kept of a batch with keys vecs should go to disk.
func (j *hashJoin) overflows(b *types.Batch, kept []int32) bool {
	need := j.table.need(j.vecs, j.live)
	if j.needRows {
		need += j.store.need(b.Cols, kept) + int64(len(kept))*chainBytes
	}
	return (j.store.len > 0 || j.table.len() > 0) && j.run.mem.full(j.rightHeld(), need)
}

// kept are the rows of a right batch that are of use.
func (j *hashJoin) kept(sel []int32) []int32 {
	if j.match.keepsRight() {
		return sel // rows without a key match nothing, and are returned in the end
	}
	return j.live
}

// storedRight are the types of right rows on disk: of the whole row, or of its keys.
func (j *hashJoin) storedRight() []*types.Type {
	if j.needRows {
		return j.store.types()
	}
	return j.table.keys.types()
}

// divideRight writes the right rows in memory to partitions, and forgets them.
func (j *hashJoin) divideRight(ctx context.Context, depth int) (*partitions, error) {
	parts := j.run.newPartitions(j.storedRight(), depth)
	from := j.store
	if !j.needRows {
		from = j.table.keys
	}
	var b types.Batch
	var keys []*types.Vec
	for at := 0; from.view(&b, at); at += b.Len {
		var err error
		if keys, err = j.storedKeys(&b, keys); err == nil {
			err = parts.add(b.Cols, keys, firstRows(b.Len))
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			parts.free()
			return nil, err
		}
	}
	j.dropRight()
	return parts, nil
}

// storedKeys are the keys of a batch of storedRight.
func (j *hashJoin) storedKeys(b *types.Batch, keys []*types.Vec) ([]*types.Vec, error) {
	if !j.needRows {
		return append(keys[:0], b.Cols...), nil
	}
	return j.run.evalKeys(j.rightKeys, b, keys)
}

// dropRight gives up the memory of the right rows.
func (j *hashJoin) dropRight() {
	j.store.free()
	j.table.free()
	j.head, j.tail, j.next = nil, nil, nil
}

// addPart writes the rows kept of a right batch to their partitions.
func (j *hashJoin) addPart(b *types.Batch, kept []int32) error {
	if j.needRows {
		return j.rightParts.add(b.Cols, j.vecs, kept)
	}
	return j.rightParts.add(j.vecs, j.vecs, kept)
}

// startParts divides the left side as the right one was.
func (j *hashJoin) startParts(ctx context.Context) error {
	parts := &joinParts{}
	j.parts = parts
	if _, err := j.rightParts.flush(); err != nil {
		return err
	}
	ts := j.match.types[:j.match.nLeft:j.match.nLeft]
	if j.ordered {
		all := j.match.types
		if j.match.leftOnly() {
			all = ts
		}
		parts.order = newRowSorter(j.run, append(all[:len(all):len(all)], types.TInt8),
			make([]opt.SortKey, 1), []int{len(all)})
		ts = append(ts, types.TInt8)
	}
	left := j.run.newPartitions(ts, 0)
	err := eachBatch(ctx, j.left, func(ctx context.Context, b *types.Batch) (err error) {
		j.run.ctx = ctx
		sel := selection(b)
		if j.vecs, err = j.run.evalKeys(j.leftKeys, b, j.vecs); err != nil {
			return err
		}
		cols := b.Cols[:j.match.nLeft:j.match.nLeft]
		if j.ordered {
			cols = append(cols, parts.numbered(b, sel))
		}
		return left.add(cols, j.vecs, sel)
	})
	if err == nil {
		err = j.pile(j.rightParts, left, 0)
	}
	left.free()
	j.rightParts.free()
	j.rightParts = nil
	return err
}

// numbered returns a column with the numbers of the rows sel of a batch.
func (p *joinParts) numbered(b *types.Batch, sel []int32) *types.Vec {
	p.number.Reset(types.TInt8)
	p.number.Resize(b.Len)
	for _, i := range sel {
		p.number.I[i] = p.written
		p.written++
	}
	return &p.number
}

// pile puts the parts of which rows may come on the pile. of is the number of right rows that were
// divided; 0: those of the whole side.
func (j *hashJoin) pile(right, left *partitions, of int64) error {
	p := j.parts
	for _, side := range []*partitions{right, left} {
		bytes, err := side.flush()
		if err != nil {
			return err
		}
		j.spilled.bytes += bytes
	}
	for i := range fanOut {
		part := joinPart{right: right.streams[i], left: left.streams[i], depth: right.depth + 1}
		right.streams[i], left.streams[i] = nil, nil
		part.whole = part.depth >= deepest || of > 0 && part.right != nil &&
			part.right.Rows() > of/10*9
		m := j.match
		needsRight := j.kind == opt.Inner || j.kind == opt.Right || j.kind == opt.Semi
		if part.right == nil && (part.left == nil || needsRight) ||
			part.left == nil && !m.keepsRight() {
			part.free()
			continue
		}
		p.pile = append(p.pile, part)
		j.spilled.pieces++
	}
	return nil
}

// nextOfParts returns the next rows of the join of the partitions.
func (j *hashJoin) nextOfParts(ctx context.Context) (*types.Batch, error) {
	p := j.parts
	if p.order == nil {
		return j.nextJoined(ctx)
	}
	n := len(p.order.types) - 1
	for !p.ordered {
		b, err := j.nextJoined(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			p.ordered = true
			if err := p.order.finish(ctx); err != nil {
				return nil, err
			}
			break
		}
		number := p.leftBy.Cols[j.match.nLeft]
		if !j.match.leftOnly() {
			p.picked.Gather(number, j.match.outL)
			number = &p.picked
		}
		p.sorted = append(append(p.sorted[:0], b.Cols[:n]...), number)
		if err := p.order.add(ctx, p.sorted, selection(b)); err != nil {
			return nil, err
		}
	}
	return p.order.next(ctx, n)
}

// nextJoined returns the next rows of the partitions, in any order.
func (j *hashJoin) nextJoined(ctx context.Context) (*types.Batch, error) {
	p := j.parts
	for {
		if p.active {
			b, err := j.match.next(ctx, j)
			if b != nil || err != nil {
				return b, err
			}
			j.endPass()
		}
		if p.right == nil {
			if len(p.pile) == 0 {
				return nil, nil
			}
			p.take(j.run)
		}
		if err := j.load(ctx); err != nil {
			return nil, err
		}
	}
}

// take begins with the part on top of the pile.
func (p *joinParts) take(r *run) {
	last := len(p.pile) - 1
	p.at, p.pile = p.pile[last], p.pile[:last]
	if p.at.right == nil {
		p.at.right = r.newStream(nil)
	}
	p.right = p.at.right.Reader()
}

// load reads right rows of the part into memory: all of them, or what fits where the part is not to
// be divided. A part that does not fit is divided.
func (j *hashJoin) load(ctx context.Context) error {
	p := j.parts
	j.dropRight()
	p.marks.last = true
	for {
		b, err := p.right.Next()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		j.run.ctx = ctx
		sel := selection(b)
		if j.vecs, err = j.storedKeys(b, j.vecs); err != nil {
			return err
		}
		j.live = withoutNulls(j.vecs, sel, j.live)
		over := j.overflows(b, sel)
		if over && !p.at.whole {
			return j.divideAgain(ctx, b)
		}
		if err := j.keep(b, sel); err != nil {
			return err
		}
		if over && p.right.More() {
			p.marks.last = false
			break
		}
	}
	return j.beginPass()
}

// beginPass joins the right rows in memory with all left rows of the part.
func (j *hashJoin) beginPass() error {
	p := j.parts
	p.active = true
	j.match.rights = j.store.cols
	j.match.reset()
	j.match.expectRight(j.store.len)
	if p.at.left != nil {
		p.left = p.at.left.Reader()
		settles := j.match.leftOnly() || j.match.keepsLeft()
		if settles && !p.marks.last && p.marks.hits == nil {
			n := p.at.left.Rows()
			if err := j.run.mem.grow(n); err != nil {
				j.run.mem.shrink(n)
				return err
			}
			p.marks.hits = make([]bool, n)
		}
	}
	p.marks.base, p.marks.next = 0, 0
	j.match.marks = &p.marks
	return nil
}

// endPass ends a pass over the part, and the part if it was the last.
func (j *hashJoin) endPass() {
	p := j.parts
	p.active = false
	if p.left != nil {
		p.left.Close()
		p.left = nil
	}
	if p.marks.last {
		j.endPart()
	}
}

// endPart gives up what the part holds.
func (j *hashJoin) endPart() {
	p := j.parts
	if p.right != nil {
		p.right.Close()
		p.right = nil
	}
	if p.left != nil {
		p.left.Close()
		p.left = nil
	}
	j.run.mem.shrink(int64(len(p.marks.hits)))
	p.marks = leftMarks{}
	p.at.free()
	p.at = joinPart{}
}

// divideAgain divides the part at hand, of whose right rows some are in memory, b was read last,
// and the others follow.
func (j *hashJoin) divideAgain(ctx context.Context, b *types.Batch) (err error) {
	p := j.parts
	depth, of := p.at.depth, p.at.right.Rows()
	right, err := j.divideRight(ctx, depth)
	if err != nil {
		return err
	}
	keys, err := j.storedKeys(b, nil)
	if err != nil {
		right.free()
		return err
	}
	defer right.free()
	left := j.run.newPartitions(nil, depth)
	defer left.free()
	for b != nil && err == nil {
		if err = right.add(b.Cols, keys, selection(b)); err != nil {
			break
		}
		if b, err = p.right.Next(); b != nil && err == nil {
			if err = ctx.Err(); err == nil {
				keys, err = j.storedKeys(b, keys)
			}
		}
	}
	if err != nil {
		return err
	}
	if p.at.left != nil {
		if err := j.divideLeft(ctx, left); err != nil {
			return err
		}
	}
	if err := j.pile(right, left, of); err != nil {
		return err
	}
	j.endPart()
	return nil
}

// divideLeft divides the left rows of the part.
func (j *hashJoin) divideLeft(ctx context.Context, left *partitions) error {
	p := j.parts
	left.types = p.at.left.Types()
	p.left = p.at.left.Reader()
	for {
		b, err := p.left.Next()
		if err == nil {
			err = ctx.Err()
		}
		if b == nil || err != nil {
			return err
		}
		j.run.ctx = ctx
		if j.vecs, err = j.run.evalKeys(j.leftKeys, b, j.vecs); err != nil {
			return err
		}
		if err := left.add(b.Cols, j.vecs, selection(b)); err != nil {
			return err
		}
	}
}

// nextLeftOfPart is nextLeft where the left rows are on disk.
func (j *hashJoin) nextLeftOfPart() (*types.Batch, error) {
	p := j.parts
	if p.left == nil {
		return nil, nil
	}
	b, err := p.left.Next()
	if b == nil || err != nil {
		return nil, err
	}
	p.marks.base = p.marks.next
	p.marks.next += b.Rows()
	p.leftBy = b
	return b, nil
}

// freeParts gives up what is on disk.
func (j *hashJoin) freeParts() {
	j.rightParts.free()
	j.rightParts = nil
	if j.parts == nil {
		return
	}
	j.endPart()
	for i := range j.parts.pile {
		j.parts.pile[i].free()
	}
	if j.parts.order != nil {
		j.parts.order.free()
	}
	j.parts, j.match.marks = nil, nil
}
