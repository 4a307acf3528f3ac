package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// virtualScan reads a table that the server makes: it has few rows, which are made at once.
type virtualScan struct {
	run    *run
	node   *physical.VirtualScan
	filter condition // without a program, where there is none
	filled bool
	store  *rowStore
	at     int
	view   types.Batch
}

func (r *run) buildVirtualScan(n *physical.VirtualScan) (operator, error) {
	p, err := compileOptional(n.Filter)
	if err != nil {
		return nil, err
	}
	return &virtualScan{run: r, node: n, filter: condition{run: r, prog: p},
		store: newRowStore(&r.mem, columnTypes(n))}, nil
}

func (v *virtualScan) Open(context.Context) error {
	v.at = 0
	v.filter.failed = nil
	return nil
}

func (v *virtualScan) Close() error {
	v.filled = false
	v.store.free()
	return nil
}

func (v *virtualScan) fill(ctx context.Context) error {
	if v.run.env.Virtual == nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "system tables cannot be read here")
	}
	v.store.reset()
	err := v.run.env.Virtual(ctx, v.node.Table, v.node.Out, v.store.addRow)
	v.filled = err == nil
	return err
}

func (v *virtualScan) Next(ctx context.Context) (*types.Batch, error) {
	v.run.ctx = ctx
	if !v.filled {
		if err := v.fill(ctx); err != nil {
			return nil, err
		}
	}
	for v.filter.failed == nil && v.store.view(&v.view, v.at) {
		v.at += v.view.Len
		if v.filter.prog == nil {
			return &v.view, nil
		}
		if b, err := v.filter.narrow(&v.view); err != nil || b != nil {
			return b, err
		}
	}
	if v.filter.failed != nil {
		return nil, v.filter.failed
	}
	return nil, ctx.Err()
}
