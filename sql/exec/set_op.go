package exec

import (
	"context"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// setOp is INTERSECT and EXCEPT: it counts the right side's rows, then lets left rows through in
// their order.
//
// When the right side's table exceeds its share of memory both sides are divided by the hash of
// their rows, and the partitions are worked on one by one. EXCEPT without ALL adds to the table the
// left rows that it has returned. When that fills it, left rows that it does not have are written
// to partitions that have nothing on the right: these rows are returned once.
type setOp struct {
	run         *run
	left, right operator
	except, all bool
	types       []*types.Type
	table       *keyTable
	counts      []int64 // by key number: right rows not used up; without ALL, 0 once returned
	built       bool
	found       []int32
	sel         []int32
	out         types.Batch

	rights, lefts *partitions // while the sides are divided; nil: they are not
	pile          []setPart
	at            setPart
	reader        *spill.Reader // left rows of the partition; nil: those of the left side
	spilled       spilled
}

// setPart is a partition of both sides. A side without rows is nil.
type setPart struct {
	right, left *spill.Stream
	depth       int
}

func (p *setPart) free() { freeStreams([]*spill.Stream{p.right, p.left}) }

func (r *run) buildSetOp(n *physical.SetOp) (operator, error) {
	left, right, err := r.buildBoth(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	ts := columnTypes(n.Left)
	s := &setOp{run: r, left: left, right: right, except: n.Except, all: n.All, types: ts,
		table: newKeyTable(&r.mem, ts)}
	r.noteSpill(n, &s.spilled)
	return s, nil
}

func (s *setOp) Open(ctx context.Context) error {
	s.forget()
	s.table.reset()
	if err := s.left.Open(ctx); err != nil {
		return err
	}
	return s.right.Open(ctx)
}

// forget drops the counts and what was written to disk.
func (s *setOp) forget() {
	s.built, s.counts = false, s.counts[:0]
	s.rights.free()
	s.lefts.free()
	s.rights, s.lefts = nil, nil
	s.endPart()
	for i := range s.pile {
		s.pile[i].free()
	}
	s.pile = nil
}

func (s *setOp) Close() error {
	s.forget()
	s.table.free()
	return closeAll(s.left, s.right)
}

// setCountBytes is what a count takes at most, with the room that append leaves.
const setCountBytes = 16

// overflows reports whether the table should take no more than it has.
func (s *setOp) overflows(b *types.Batch, sel []int32) bool {
	counts := int64(s.table.len()+len(sel)) * setCountBytes
	return s.at.depth < deepest && s.table.len() > 0 &&
		s.run.mem.full(s.table.held(), s.table.need(b.Cols, sel)+counts)
}

// count adds rows of the right side.
func (s *setOp) count(ctx context.Context, b *types.Batch) (err error) {
	sel := selection(b)
	if s.rights == nil && s.overflows(b, sel) {
		if err := s.divideRight(ctx); err != nil {
			return err
		}
	}
	if s.rights != nil {
		return s.rights.add(b.Cols, b.Cols, sel)
	}
	if s.found, err = s.table.add(b.Cols, sel, s.found); err != nil {
		return err
	}
	for len(s.counts) < s.table.len() {
		s.counts = append(s.counts, 0)
	}
	for _, n := range s.found {
		s.counts[n]++
	}
	return nil
}

// divideRight writes the rows in the table to partitions, each as often as it counts, and forgets
// them.
func (s *setOp) divideRight(ctx context.Context) error {
	s.rights = s.run.newPartitions(s.types, s.at.depth)
	var b types.Batch
	var sel []int32
	for at := 0; s.table.keys.view(&b, at); at += b.Len {
		for again := true; again; {
			again, sel = false, sel[:0]
			for i := range b.Len {
				n := &s.counts[at+i]
				if *n == 0 {
					continue
				}
				sel = append(sel, int32(i))
				*n--
				again = again || s.all && *n > 0
			}
			if err := s.rights.add(b.Cols, b.Cols, sel); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	s.table.free()
	s.counts = nil
	return nil
}

func (s *setOp) Next(ctx context.Context) (*types.Batch, error) {
	if !s.built {
		if err := eachBatch(ctx, s.right, s.count); err != nil {
			return nil, err
		}
		s.built = true
		if s.rights != nil {
			if err := s.divideLeft(ctx, s.left.Next); err != nil {
				return nil, err
			}
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := s.nextLeft(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if err := s.choose(b); err != nil {
			return nil, err
		}
		if len(s.sel) > 0 {
			s.out = types.Batch{Cols: b.Cols, Len: b.Len, Sel: s.sel}
			return &s.out, nil
		}
	}
}

// divideLeft writes left rows to partitions, as the right ones were, and puts both on the pile.
func (s *setOp) divideLeft(ctx context.Context,
	next func(context.Context) (*types.Batch, error)) error {
	s.lefts = s.run.newPartitions(s.types, s.rights.depth)
	for {
		b, err := next(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if b == nil {
			return s.put(true)
		}
		if err := s.lefts.add(b.Cols, b.Cols, selection(b)); err != nil {
			return err
		}
	}
}

// put puts the partitions of which rows may come on the pile. divided means that there are some of
// the right side.
func (s *setOp) put(divided bool) error {
	depth := s.lefts.depth + 1
	for _, side := range []*partitions{s.rights, s.lefts} {
		if side == nil {
			continue
		}
		bytes, err := side.flush()
		if err != nil {
			return err
		}
		s.spilled.bytes += bytes
	}
	for i := range fanOut {
		part := setPart{left: s.lefts.streams[i], depth: depth}
		s.lefts.streams[i] = nil
		if divided {
			part.right = s.rights.streams[i]
			s.rights.streams[i] = nil
		}
		if part.left == nil || part.right == nil && !s.except {
			part.free()
			continue
		}
		s.pile = append(s.pile, part)
		s.spilled.pieces++
	}
	s.rights, s.lefts = nil, nil
	return nil
}

// nextLeft returns the next left rows: those of the side, or of one partition after the other.
func (s *setOp) nextLeft(ctx context.Context) (*types.Batch, error) {
	for {
		next := s.left.Next
		if s.reader != nil {
			next = func(context.Context) (*types.Batch, error) { return s.reader.Next() }
		}
		if s.reader != nil || s.at == (setPart{}) && len(s.pile) == 0 {
			b, err := next(ctx)
			if b != nil || err != nil {
				return b, err
			}
		}
		if s.lefts != nil {
			if err := s.put(false); err != nil {
				return nil, err
			}
		}
		s.endPart()
		if len(s.pile) == 0 {
			return nil, nil
		}
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
}

// load takes the partition on top of the pile and counts its right rows. One that does not fit is
// divided again.
func (s *setOp) load(ctx context.Context) error {
	last := len(s.pile) - 1
	s.at, s.pile = s.pile[last], s.pile[:last]
	s.table.free()
	s.counts = nil
	if s.at.right != nil {
		r := s.at.right.Reader()
		defer r.Close()
		for {
			b, err := r.Next()
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := s.count(ctx, b); err != nil {
				return err
			}
		}
	}
	s.reader = s.at.left.Reader()
	if s.rights == nil {
		return nil
	}
	err := s.divideLeft(ctx, func(context.Context) (*types.Batch, error) { return s.reader.Next() })
	s.endPart()
	return err
}

// endPart gives up the partition at hand.
func (s *setOp) endPart() {
	if s.reader != nil {
		s.reader.Close()
		s.reader = nil
	}
	s.at.free()
	s.at = setPart{}
}

// choose makes sel the rows of b to return.
func (s *setOp) choose(b *types.Batch) (err error) {
	sel := selection(b)
	s.sel = s.sel[:0]
	if s.except && !s.all {
		return s.chooseNew(b, sel)
	}
	s.found = s.table.find(b.Cols, sel, s.found)
	for k, i := range sel {
		n := s.found[k]
		have := n >= 0 && s.counts[n] > 0
		if have {
			s.counts[n]--
			if !s.all {
				s.counts[n] = 0
			}
		}
		if have != s.except {
			s.sel = append(s.sel, i)
		}
	}
	return nil
}

// chooseNew makes sel the rows that the table does not have, and adds them.
func (s *setOp) chooseNew(b *types.Batch, sel []int32) (err error) {
	if s.lefts == nil && s.overflows(b, sel) {
		s.lefts = s.run.newPartitions(s.types, s.at.depth)
	}
	if s.lefts == nil {
		s.sel, s.found, err = s.table.addNew(b.Cols, sel, s.sel, s.found)
		return err
	}
	s.found = s.table.find(b.Cols, sel, s.found)
	s.sel = missing(sel, s.found, s.sel)
	err = s.lefts.add(b.Cols, b.Cols, s.sel)
	s.sel = s.sel[:0]
	return err
}
