package exec

import (
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// pairing turns candidate pairs of a join into its output. A join gives it a batch of left rows
// (start), then pairs of row numbers in the order of the left rows (left, right, with done telling
// how many left rows have had all their pairs), then takes the output (emit), until all left rows
// are done. Left rows keep their order.
type pairing struct {
	run    *run
	kind   opt.JoinKind
	cond   *eval.Program
	reads  []int // columns that cond reads
	nLeft  int
	types  []*types.Type // of left and right columns
	rights []*types.Vec  // columns that right row numbers count into

	batch *types.Batch // left rows
	sel   []int32      // of batch
	left  []int32      // candidates: rows of batch
	right []int32      // candidates: rows of rights
	done  int          // positions in sel whose candidates are all here
	pos   int          // positions in sel that are settled
	hit   bool         // whether the row at pos has a match

	matched []bool // right rows with a match, for Right and Full
	cand    types.Batch
	pass    []int32
	outL    []int32
	outR    []int32
	keep    []int32 // settled rows of Semi and Anti
	out     types.Batch
}

func newPairing(r *run, kind opt.JoinKind, cond expr.Expr, left, right []*types.Type) (*pairing, error) {
	p := &pairing{run: r, kind: kind, nLeft: len(left)}
	p.types = append(append(make([]*types.Type, 0, len(left)+len(right)), left...), right...)
	var err error
	if p.cond, err = compileOptional(cond); err != nil {
		return nil, err
	}
	if cond != nil {
		p.reads = columnsRead(cond)
	}
	return p, nil
}

// columnsRead lists the columns that an expression refers to.
func columnsRead(e expr.Expr) []int {
	seen := map[int]bool{}
	var out []int
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Col); ok && !seen[c.Index] {
			seen[c.Index] = true
			out = append(out, c.Index)
		}
		return true
	})
	return out
}

// leftOnly says whether the join returns left columns only.
func (p *pairing) leftOnly() bool { return p.kind >= opt.Semi }

// keepsRight says whether right rows without a match are returned.
func (p *pairing) keepsRight() bool { return p.kind == opt.Right || p.kind == opt.Full }

// keepsLeft says whether left rows without a match are returned.
func (p *pairing) keepsLeft() bool { return p.kind == opt.Left || p.kind == opt.Full }

// start takes the next batch of left rows.
func (p *pairing) start(b *types.Batch) {
	p.batch, p.sel = b, selection(b)
	p.done, p.pos, p.hit = 0, 0, false
	p.keep = p.keep[:0]
	p.clear()
}

// clear forgets the candidates.
func (p *pairing) clear() { p.left, p.right = p.left[:0], p.right[:0] }

// add adds a candidate.
func (p *pairing) add(left, right int32) {
	p.left = append(p.left, left)
	p.right = append(p.right, right)
}

// full says that it is time to emit.
func (p *pairing) full() bool { return len(p.left) >= types.BatchSize }

// settled says whether the left row at position k needs no more candidates.
func (p *pairing) settled(k int) bool { return p.leftOnly() && p.hit && p.pos == k }

// emit works the candidates off; it returns nil when they make no output yet.
func (p *pairing) emit() (*types.Batch, error) {
	pass, err := p.test()
	if err != nil {
		return nil, err
	}
	if p.leftOnly() {
		p.settle(pass)
		p.clear()
		if p.done < len(p.sel) || len(p.keep) == 0 {
			return nil, nil
		}
		p.out = types.Batch{Cols: p.batch.Cols, Len: p.batch.Len, Sel: p.keep}
		return &p.out, nil
	}
	if p.keepsLeft() {
		p.settle(pass)
	} else {
		p.take(pass)
	}
	p.clear()
	if p.keepsRight() {
		for _, r := range p.outR {
			if r >= 0 {
				p.matched[r] = true
			}
		}
	}
	if len(p.outL) == 0 {
		return nil, nil
	}
	return p.gather(), nil
}

// test returns the candidates that pass the condition, as positions among them.
func (p *pairing) test() ([]int32, error) {
	n := len(p.left)
	if p.cond == nil || n == 0 {
		return firstRows(n), nil
	}
	if p.cand.Cols == nil {
		p.cand.Cols = types.NewBatchCap(p.types, 0).Cols
	}
	for _, c := range p.reads {
		if c < p.nLeft {
			p.cand.Cols[c].Gather(p.batch.Cols[c], p.left)
		} else {
			p.cand.Cols[c].Gather(p.rights[c-p.nLeft], p.right)
		}
	}
	p.cand.Len = n
	if p.kind == opt.NullAnti {
		return p.notFalse(n)
	}
	var err error
	if p.pass == nil {
		p.pass = make([]int32, 0, n)
	}
	p.pass, err = p.cond.EvalBool(&p.run.ev, &p.cand, nil, p.pass)
	return p.pass, err
}

// notFalse returns the candidates for which the condition is TRUE or NULL: each of them keeps a row
// out of NOT IN.
func (p *pairing) notFalse(n int) ([]int32, error) {
	v, err := p.cond.EvalVec(&p.run.ev, &p.cand, nil)
	if err != nil {
		return nil, err
	}
	pass := p.pass[:0]
	for i := 0; i < n; i++ {
		if v.HasNull && v.Nulls[i] || v.I[i] != 0 {
			pass = append(pass, int32(i))
		}
	}
	p.pass = pass
	return pass, nil
}

// take makes the passing candidates the output.
func (p *pairing) take(pass []int32) {
	if len(pass) == len(p.left) {
		p.outL, p.outR = append(p.outL[:0], p.left...), append(p.outR[:0], p.right...)
		return
	}
	p.outL, p.outR = p.outL[:0], p.outR[:0]
	for _, k := range pass {
		p.outL = append(p.outL, p.left[k])
		p.outR = append(p.outR, p.right[k])
	}
}

// settle walks along the left rows and the passing candidates and decides what becomes of rows that
// have none.
func (p *pairing) settle(pass []int32) {
	p.outL, p.outR = p.outL[:0], p.outR[:0]
	leftOnly := p.leftOnly()
	for _, k := range pass {
		l := p.left[k]
		for p.sel[p.pos] != l {
			p.leave()
		}
		p.hit = true
		if !leftOnly {
			p.outL = append(p.outL, l)
			p.outR = append(p.outR, p.right[k])
		}
	}
	for p.pos < p.done {
		p.leave()
	}
}

// leave settles the left row at pos.
func (p *pairing) leave() {
	l := p.sel[p.pos]
	switch {
	case p.leftOnly():
		if p.hit == (p.kind == opt.Semi) {
			p.keep = append(p.keep, l)
		}
	case !p.hit:
		p.outL = append(p.outL, l)
		p.outR = append(p.outR, -1)
	}
	p.pos++
	p.hit = false
}

// gather makes the output of the pairs outL, outR.
func (p *pairing) gather() *types.Batch {
	p.room()
	for i := 0; i < p.nLeft; i++ {
		p.out.Cols[i].Gather(p.batch.Cols[i], p.outL)
	}
	for i, c := range p.rights {
		if p.keepsLeft() {
			p.out.Cols[p.nLeft+i].GatherOuter(c, p.outR)
		} else {
			p.out.Cols[p.nLeft+i].Gather(c, p.outR)
		}
	}
	p.out.Len, p.out.Sel = len(p.outL), nil
	return &p.out
}

func (p *pairing) room() {
	if p.out.Cols == nil {
		p.out.Cols = types.NewBatchCap(p.types, 0).Cols
	}
}

// expectRight prepares the marks of n right rows.
func (p *pairing) expectRight(n int) {
	if !p.keepsRight() {
		return
	}
	p.matched = append(p.matched[:0], make([]bool, n)...)
}

// unmatched returns right rows without a match, beginning the search at *from; nil at the end.
func (p *pairing) unmatched(from *int) *types.Batch {
	p.outR = p.outR[:0]
	for ; *from < len(p.matched) && len(p.outR) < types.BatchSize; *from++ {
		if !p.matched[*from] {
			p.outR = append(p.outR, int32(*from))
		}
	}
	if len(p.outR) == 0 {
		return nil
	}
	p.room()
	for i := 0; i < p.nLeft; i++ {
		nulls(p.out.Cols[i], p.types[i], len(p.outR))
	}
	for i, c := range p.rights {
		p.out.Cols[p.nLeft+i].Gather(c, p.outR)
	}
	p.out.Len, p.out.Sel = len(p.outR), nil
	return &p.out
}

// nulls makes v n NULLs.
func nulls(v *types.Vec, t *types.Type, n int) {
	v.Reset(t)
	v.Resize(n)
	for i := 0; i < n; i++ {
		v.Nulls[i] = true
	}
	v.HasNull = n > 0
}
