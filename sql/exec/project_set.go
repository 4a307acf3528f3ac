package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// projectSet computes set-returning functions in the select list: each input row becomes as many
// rows as the longest of its sets.
type projectSet struct {
	run   *run
	child operator
	items []setItem
	in    *types.Batch
	at    int
	step  int // row within the sets of the input row at position at
	ready bool
	row   []types.Datum
	out   *types.Batch
}

type setItem struct {
	expr   *eval.Program // plain
	fn     *expr.Func
	args   []*eval.Program
	types  []*types.Type
	column int
	rows   []types.Datum
	value  types.Datum
}

func (r *run) buildProjectSet(n *physical.ProjectSet) (operator, error) {
	child, err := r.build(n.Child)
	if err != nil {
		return nil, err
	}
	p := &projectSet{run: r, child: child, items: make([]setItem, len(n.Items)),
		row: make([]types.Datum, len(n.Child.Columns())),
		out: types.NewBatchCap(columnTypes(n), 0)}
	for i, it := range n.Items {
		s := &p.items[i]
		if it.Func == nil {
			if s.expr, err = eval.Compile(it.Expr); err != nil {
				return nil, err
			}
			continue
		}
		s.fn, s.column, s.types = it.Func, it.Column, argTypes(it.Args)
		if s.args, err = compileAll(it.Args); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *projectSet) Open(ctx context.Context) error {
	p.in, p.ready = nil, false
	return p.child.Open(ctx)
}

func (p *projectSet) Close() error { return p.child.Close() }

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
			p.in, p.at, p.ready = b, 0, false
		}
		if p.at == p.in.Rows() {
			p.in = nil
			continue
		}
		p.run.ctx = ctx
		if err := p.expand(ctx); err != nil {
			return nil, err
		}
	}
	if p.out.Len == 0 {
		return nil, nil
	}
	return p.out, nil
}

// expand adds rows of the current input row until they end or the batch is full.
func (p *projectSet) expand(ctx context.Context) error {
	if !p.ready {
		readRow(p.in.Cols, p.in.Row(p.at), p.row)
		for i := range p.items {
			if err := p.items[i].compute(ctx, p.run, p.row); err != nil {
				return err
			}
		}
		p.ready, p.step = true, 0
	}
	longest := 0
	for i := range p.items {
		longest = max(longest, len(p.items[i].rows))
	}
	for ; p.step < longest && p.out.Len < types.BatchSize; p.step++ {
		for i := range p.items {
			p.out.Cols[i].Append(p.items[i].at(p.step))
		}
		p.out.Len++
	}
	if p.step == longest {
		p.at, p.ready = p.at+1, false
	}
	return nil
}

func (s *setItem) at(step int) types.Datum {
	switch {
	case s.expr != nil:
		return s.value
	case step < len(s.rows):
		return s.rows[step]
	}
	return types.Null
}

func (s *setItem) compute(ctx context.Context, r *run, row []types.Datum) (err error) {
	s.rows = s.rows[:0]
	if s.expr != nil {
		s.value, err = s.expr.EvalRow(&r.ev, row)
		return err
	}
	args := make([]types.Datum, len(s.args))
	for i, a := range s.args {
		if args[i], err = a.EvalRow(&r.ev, row); err != nil {
			return err
		}
		if args[i].Null && !s.fn.NotStrict {
			return nil
		}
	}
	r.ev.Runtime.ArgTypes = s.types
	used := int64(0)
	defer func() { r.mem.shrink(used) }()
	return s.fn.Set(r.ev.Runtime, args, func(out []types.Datum) error {
		d := out[s.column]
		s.rows = append(s.rows, d)
		n := 96 + datumExtra(d)
		used += n
		if len(s.rows)%types.BatchSize == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return r.mem.grow(n)
	})
}
