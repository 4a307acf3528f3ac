package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// candidateSource is what differs between kinds of joins: it finds the pairs of rows that may
// match.
type candidateSource interface {
	// nextLeft returns the next batch of left rows, prepared for candidates; nil at the end.
	nextLeft(ctx context.Context) (*types.Batch, error)
	// candidates adds pairs to the matcher, in the order of the left rows, until it is full or all
	// left rows are complete, and sets completed.
	candidates(ctx context.Context) error
}

// joinMatcher makes the output of a join of its candidates: it tests them against the condition and
// returns, by the kind of the join, the pairs that match and the rows that have no match. Left rows
// keep their order.
type joinMatcher struct {
	run    *run
	kind   opt.JoinKind
	cond   *eval.Program
	reads  []int // columns that cond reads
	nLeft  int
	types  []*types.Type // of left and right columns
	rights []*types.Vec  // columns that right row numbers count into

	batch     *types.Batch // left rows
	sel       []int32      // of batch
	left      []int32      // candidates: rows of batch
	right     []int32      // candidates: rows of rights
	completed int          // positions in sel whose candidates have all been added
	settledTo int          // positions in sel whose output is decided
	hit       bool         // whether the row at settledTo has a match
	leftEnd   bool         // the left side has no more rows
	marks     *leftMarks   // where left rows are joined in several passes; nil: they are not

	matched []bool // right rows with a match, for Right and Full
	checked int    // right rows that unmatched has passed
	cand    types.Batch
	pass    []int32
	outL    []int32
	outR    []int32
	keep    []int32 // settled rows of Semi and Anti
	out     types.Batch
	stats   *NodeStats // nil: nothing is counted
}

func newJoinMatcher(r *run, kind opt.JoinKind, cond expr.Expr, left,
	right []*types.Type) (*joinMatcher, error) {
	m := &joinMatcher{run: r, kind: kind, nLeft: len(left)}
	m.types = append(append(make([]*types.Type, 0, len(left)+len(right)), left...), right...)
	var err error
	if m.cond, err = compileOptional(cond); err != nil {
		return nil, err
	}
	if cond != nil {
		m.reads = columnsRead(cond)
	}
	return m, nil
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

// leftOnly reports whether the join returns left columns only.
func (m *joinMatcher) leftOnly() bool { return m.kind >= opt.Semi }

// keepsRight reports whether right rows without a match are returned.
func (m *joinMatcher) keepsRight() bool { return m.kind == opt.Right || m.kind == opt.Full }

// keepsLeft reports whether left rows without a match are returned.
func (m *joinMatcher) keepsLeft() bool { return m.kind == opt.Left || m.kind == opt.Full }

// reset begins the join anew, over the right rows that are in rights.
func (m *joinMatcher) reset() {
	m.batch, m.leftEnd, m.checked = nil, false, 0
	clear(m.matched)
}

// next returns the next rows of the join whose candidates s finds; nil at the end.
func (m *joinMatcher) next(ctx context.Context, s candidateSource) (*types.Batch, error) {
	for {
		if m.batch == nil {
			if m.leftEnd {
				return m.unmatched(), nil
			}
			b, err := s.nextLeft(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				m.leftEnd = true
				continue
			}
			m.start(b)
		}
		m.run.ctx = ctx
		if err := s.candidates(ctx); err != nil {
			return nil, err
		}
		m.run.ctx = ctx
		out, err := m.emit()
		if m.completed == len(m.sel) {
			m.batch = nil
		}
		if err != nil || out != nil {
			return out, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// start takes the next batch of left rows.
func (m *joinMatcher) start(b *types.Batch) {
	m.batch, m.sel = b, selection(b)
	m.completed, m.settledTo, m.hit = 0, 0, false
	m.keep = m.keep[:0]
	m.clear()
}

// clear forgets the candidates.
func (m *joinMatcher) clear() { m.left, m.right = m.left[:0], m.right[:0] }

// add adds a candidate.
func (m *joinMatcher) add(left, right int32) {
	m.left = append(m.left, left)
	m.right = append(m.right, right)
}

// full reports whether it is time to emit.
func (m *joinMatcher) full() bool { return len(m.left) >= types.BatchSize }

// settled reports whether the left row at position k needs no more candidates.
func (m *joinMatcher) settled(k int) bool { return m.leftOnly() && m.hit && m.settledTo == k }

// emit turns the candidates into output rows; it returns nil if they make none yet.
func (m *joinMatcher) emit() (*types.Batch, error) {
	pass, err := m.test()
	if err != nil {
		return nil, err
	}
	if m.stats != nil {
		m.stats.Unmatched += int64(len(m.left) - len(pass))
	}
	if m.leftOnly() {
		m.settle(pass)
		m.clear()
		if m.completed < len(m.sel) || len(m.keep) == 0 {
			return nil, nil
		}
		m.out = types.Batch{Cols: m.batch.Cols, Len: m.batch.Len, Sel: m.keep}
		return &m.out, nil
	}
	if m.keepsLeft() {
		m.settle(pass)
	} else {
		m.take(pass)
	}
	m.clear()
	if m.keepsRight() {
		for _, r := range m.outR {
			if r >= 0 {
				m.matched[r] = true
			}
		}
	}
	if len(m.outL) == 0 {
		return nil, nil
	}
	return m.gather(), nil
}

// test returns the candidates that pass the condition, as positions among them.
func (m *joinMatcher) test() ([]int32, error) {
	n := len(m.left)
	if m.cond == nil || n == 0 {
		return firstRows(n), nil
	}
	if m.cand.Cols == nil {
		m.cand.Cols = types.NewBatchCap(m.types, 0).Cols
	}
	for _, c := range m.reads {
		if c < m.nLeft {
			m.cand.Cols[c].Gather(m.batch.Cols[c], m.left)
		} else {
			m.cand.Cols[c].Gather(m.rights[c-m.nLeft], m.right)
		}
	}
	m.cand.Len = n
	if m.kind == opt.NullAnti {
		return m.notFalse(n)
	}
	var err error
	if m.pass == nil {
		m.pass = make([]int32, 0, n)
	}
	m.pass, err = m.cond.EvalBool(&m.run.ev, &m.cand, nil, m.pass)
	return m.pass, err
}

// notFalse returns the candidates for which the condition is TRUE or NULL: each of them keeps a row
// out of NOT IN.
func (m *joinMatcher) notFalse(n int) ([]int32, error) {
	v, err := m.cond.EvalVec(&m.run.ev, &m.cand, nil)
	if err != nil {
		return nil, err
	}
	pass := m.pass[:0]
	for i := range n {
		if v.HasNull && v.Nulls[i] || v.I[i] != 0 {
			pass = append(pass, int32(i))
		}
	}
	m.pass = pass
	return pass, nil
}

// take makes the passing candidates the output.
func (m *joinMatcher) take(pass []int32) {
	if len(pass) == len(m.left) {
		m.outL, m.outR = append(m.outL[:0], m.left...), append(m.outR[:0], m.right...)
		return
	}
	m.outL, m.outR = m.outL[:0], m.outR[:0]
	for _, k := range pass {
		m.outL = append(m.outL, m.left[k])
		m.outR = append(m.outR, m.right[k])
	}
}

// settle walks along the left rows and the passing candidates and decides what becomes of rows that
// have none.
func (m *joinMatcher) settle(pass []int32) {
	m.outL, m.outR = m.outL[:0], m.outR[:0]
	leftOnly := m.leftOnly()
	for _, k := range pass {
		l := m.left[k]
		for m.sel[m.settledTo] != l {
			m.leave()
		}
		m.hit = true
		if !leftOnly {
			m.outL = append(m.outL, l)
			m.outR = append(m.outR, m.right[k])
		}
	}
	for m.settledTo < m.completed {
		m.leave()
	}
}

// leave settles the left row at pos.
func (m *joinMatcher) leave() {
	l := m.sel[m.settledTo]
	hit, decide := m.hit, true
	if m.marks != nil {
		hit, decide = m.marks.note(m.settledTo, hit)
	}
	switch {
	case !decide:
	case m.leftOnly():
		if hit == (m.kind == opt.Semi) {
			m.keep = append(m.keep, l)
		}
	case !hit:
		m.outL = append(m.outL, l)
		m.outR = append(m.outR, -1)
	}
	m.settledTo++
	m.hit = false
}

// gather makes the output of the pairs outL, outR.
func (m *joinMatcher) gather() *types.Batch {
	m.ensureColumns()
	for i := 0; i < m.nLeft; i++ {
		m.out.Cols[i].Gather(m.batch.Cols[i], m.outL)
	}
	for i, c := range m.rights {
		if m.keepsLeft() {
			m.out.Cols[m.nLeft+i].GatherOuter(c, m.outR)
		} else {
			m.out.Cols[m.nLeft+i].Gather(c, m.outR)
		}
	}
	m.out.Len, m.out.Sel = len(m.outL), nil
	return &m.out
}

// ensureColumns makes the columns of the output before it is first filled.
func (m *joinMatcher) ensureColumns() {
	if m.out.Cols == nil {
		m.out.Cols = types.NewBatchCap(m.types, 0).Cols
	}
}

// expectRight prepares the marks of n right rows.
func (m *joinMatcher) expectRight(n int) {
	if !m.keepsRight() {
		return
	}
	m.matched = append(m.matched[:0], make([]bool, n)...)
}

// unmatched returns the next right rows without a match; nil at the end.
func (m *joinMatcher) unmatched() *types.Batch {
	m.outR = m.outR[:0]
	for ; m.checked < len(m.matched) && len(m.outR) < types.BatchSize; m.checked++ {
		if !m.matched[m.checked] {
			m.outR = append(m.outR, int32(m.checked))
		}
	}
	if len(m.outR) == 0 {
		return nil
	}
	m.ensureColumns()
	for i := 0; i < m.nLeft; i++ {
		nulls(m.out.Cols[i], m.types[i], len(m.outR))
	}
	for i, c := range m.rights {
		m.out.Cols[m.nLeft+i].Gather(c, m.outR)
	}
	m.out.Len, m.out.Sel = len(m.outR), nil
	return &m.out
}

// nulls makes v n NULLs.
func nulls(v *types.Vec, t *types.Type, n int) {
	v.Reset(t)
	v.Resize(n)
	for i := range n {
		v.Nulls[i] = true
	}
	v.HasNull = n > 0
}
