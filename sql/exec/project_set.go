package exec

import (
	"context"
	"iter"
	"slices"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// projectSet computes set-returning functions in the select list: each input row becomes as many
// rows as the longest of its sets has. The sets are drawn as they are needed, so that LIMIT ends an
// endless one.
type projectSet struct {
	run   *run
	child operator
	items []setItem
	in    *types.Batch
	at    int
	ready bool // the items have begun the input row at position at
	row   []types.Datum
	next  []types.Datum
	out   *types.Batch
}

// setItem is an expression, or a set-returning call whose rows come from a coroutine.
type setItem struct {
	expr  *eval.Program
	fn    *expr.Func
	args  []*eval.Program
	types []*types.Type
	row   *types.Type // of the values, if each is a whole row
	value types.Datum // of expr

	buf  []types.Datum
	at   int
	err  error
	pull func() (struct{}, bool)
	stop func()
}

func (r *run) buildProjectSet(n *physical.ProjectSet) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	p := &projectSet{run: r, child: child, items: make([]setItem, len(n.Items)),
		row: make([]types.Datum, len(n.Child.Columns())), next: make([]types.Datum, len(n.Items)),
		out: types.NewBatchCap(columnTypes(n), 0)}
	for i, it := range n.Items {
		s := &p.items[i]
		if it.Func == nil {
			if s.expr, err = eval.Compile(it.Expr); err != nil {
				return nil, err
			}
			continue
		}
		s.fn, s.row, s.types = it.Func, it.Row, argTypes(it.Args)
		if s.args, err = compileAll(it.Args); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *projectSet) Open(ctx context.Context) error {
	p.halt()
	p.in = nil
	return p.child.Open(ctx)
}

func (p *projectSet) Close() error {
	p.halt()
	return p.child.Close()
}

// halt ends the coroutines of the current input row.
func (p *projectSet) halt() {
	p.ready = false
	for i := range p.items {
		p.items[i].halt()
	}
}

func (p *projectSet) Next(ctx context.Context) (*types.Batch, error) {
	p.out.Reset()
	for p.out.Len < types.BatchSize {
		if p.in == nil {
			b, err := p.child.Next(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				break
			}
			p.in, p.at = b, 0
		}
		if p.at == p.in.Rows() {
			p.in = nil
			continue
		}
		p.run.ctx = ctx
		if err := p.expand(); err != nil {
			return nil, err
		}
	}
	if p.out.Len == 0 {
		return nil, nil
	}
	return p.out, ctx.Err()
}

// expand adds rows of the current input row until they end or the batch is full.
func (p *projectSet) expand() error {
	if !p.ready {
		readRow(p.in.Cols, p.in.Row(p.at), p.row)
		for i := range p.items {
			if err := p.items[i].begin(p.run, p.row); err != nil {
				return err
			}
		}
		p.ready = true
	}
	for p.out.Len < types.BatchSize {
		any := false
		for i := range p.items {
			d, ok, err := p.items[i].draw()
			if err != nil {
				return err
			}
			any = any || ok
			p.next[i] = d
		}
		if !any {
			p.at++
			p.halt()
			return nil
		}
		p.out.AppendRow(p.next)
	}
	return nil
}

// begin evaluates the item for an input row, or the arguments of its call.
func (s *setItem) begin(r *run, row []types.Datum) (err error) {
	if s.expr != nil {
		s.value, err = s.expr.EvalRow(&r.ev, row)
		return err
	}
	s.buf, s.at, s.err = s.buf[:0], 0, nil
	args := make([]types.Datum, len(s.args))
	for i, a := range s.args {
		if args[i], err = a.EvalRow(&r.ev, row); err != nil {
			return err
		}
		if args[i].Null && !s.fn.NotStrict {
			return nil
		}
	}
	rt := r.ev.Runtime
	s.pull, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		rt.ArgTypes = s.types
		s.err = s.fn.Set(rt, args, func(out []types.Datum) error {
			if s.buf = append(s.buf, s.valueOf(out)); len(s.buf) < types.BatchSize {
				return nil
			}
			if !yield(struct{}{}) {
				return errStopped
			}
			s.buf = s.buf[:0]
			return r.context().Err()
		})
	})
	return nil
}

// valueOf returns the value that a row of the function makes.
func (s *setItem) valueOf(row []types.Datum) types.Datum {
	if s.row == nil {
		return row[0]
	}
	return types.NewRecord(s.row, slices.Clone(row))
}

// draw returns the next value of a set; after its end, NULL with ok false. For a plain expression
// it returns the value with ok false: that makes no row of its own.
func (s *setItem) draw() (d types.Datum, ok bool, err error) {
	if s.expr != nil {
		return s.value, false, nil
	}
	if s.at == len(s.buf) && s.pull != nil {
		s.at = 0
		if _, more := s.pull(); !more {
			s.pull = nil
			if s.err != nil {
				return types.Null, false, s.err
			}
		}
	}
	if s.at >= len(s.buf) {
		return types.Null, false, nil
	}
	d = s.buf[s.at]
	s.at++
	return d, true, nil
}

func (s *setItem) halt() {
	if s.stop != nil {
		s.stop()
		s.pull, s.stop = nil, nil
	}
}
