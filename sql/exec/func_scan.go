package exec

import (
	"context"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// funcScan gives the rows of functions in FROM side by side.
type funcScan struct {
	run   *run
	node  *physical.FuncScan
	funcs []*tableFunc
	out   *types.Batch // its columns are those of a single function, else filled row by row
	count int64        // rows so far, for WITH ORDINALITY
}

func (r *run) buildFuncScan(n *physical.FuncScan) (operator, error) {
	f := &funcScan{run: r, node: n, funcs: make([]*tableFunc, len(n.Funcs)),
		out: types.NewBatchCap(columnTypes(n), 0)}
	ts := columnTypes(n)
	for i := range n.Funcs {
		width := n.Funcs[i].Width
		f.funcs[i] = newTableFunc(r, &n.Funcs[i], ts[:width])
		ts = ts[width:]
	}
	return f, nil
}

func (f *funcScan) Open(context.Context) error {
	f.count = 0
	for _, fn := range f.funcs {
		fn.restart()
	}
	return nil
}

func (f *funcScan) Close() error {
	for _, fn := range f.funcs {
		fn.end()
	}
	return nil
}

func (f *funcScan) Next(ctx context.Context) (*types.Batch, error) {
	f.run.ctx = ctx
	f.out.Reset()
	fill := f.sideBySide
	if len(f.funcs) == 1 {
		fill = f.single
	}
	if err := fill(); err != nil || f.out.Len == 0 {
		return nil, err
	}
	return f.out, ctx.Err()
}

// single passes on the next rows of the only function.
func (f *funcScan) single() error {
	b, err := f.funcs[0].next()
	if err != nil || b == nil {
		return err
	}
	copy(f.out.Cols, b.Cols)
	f.out.Len = b.Len
	if f.node.Ordinality {
		last := f.out.Cols[len(f.out.Cols)-1]
		for range b.Len {
			f.count++
			last.Append(types.NewInt(f.count))
		}
	}
	return nil
}

// sideBySide fills a batch with rows of all functions. One that has ended gives NULLs.
func (f *funcScan) sideBySide() error {
	for f.out.Len < types.BatchSize {
		any := false
		for _, fn := range f.funcs {
			more, err := fn.advance()
			if err != nil {
				return err
			}
			any = any || more
		}
		if !any {
			return nil
		}
		cols := f.out.Cols
		for _, fn := range f.funcs {
			fn.appendRow(cols[:fn.def.Width])
			cols = cols[fn.def.Width:]
		}
		if f.count++; f.node.Ordinality {
			cols[0].Append(types.NewInt(f.count))
		}
		f.out.Len++
	}
	return nil
}
