package exec

import (
	"context"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// pointScan reads one row by its row key. That is the most frequent plan of all, so it allocates
// little.
type pointScan struct {
	run    *run
	node   *physical.Scan
	filter *eval.Program
	cols   []physical.Column
	read   []int // of the table's columns, those that are read
	done   bool
	row    []types.Datum
	out    types.Batch
	small  pointBuffers
}

// pointBuffers is the memory for a row of few columns, part of the operator.
type pointBuffers struct {
	row   [2]types.Datum
	out   [2]*types.Vec
	vecs  [2]types.Vec
	nulls [2]bool
	ints  [2]int64
	read  [2]int
}

// isPointScan reports whether a scan reads at most one row, by its whole row key.
func isPointScan(n *physical.Scan) bool {
	if !n.Point || len(n.Ranges) != 1 || n.Index != nil && n.Index.ID != table.RowIndexID {
		return false
	}
	g := &n.Ranges[0]
	return g.IsNull == nil && g.Low == nil && g.High == nil && len(g.Eq) == len(n.Table.RowKey)
}

func (r *run) buildPointScan(n *physical.Scan) (operator, error) {
	p := r.newPointScan()
	p.node, p.cols, p.read = n, n.Columns(), n.Out
	var err error
	p.filter, err = compileOptional(n.Filter)
	return p, err
}

// buildProjectedPoint makes one operator of a point read and a projection to some of its columns.
// It returns nil if the nodes do more than that, or if rows are to be counted for each node.
func (r *run) buildProjectedPoint(n *physical.Project) operator {
	child, ok := n.Child.(*physical.Scan)
	if !ok || r.stats != nil || !isPointScan(child) || child.Filter != nil ||
		!onlyColumns(n.Exprs) {
		return nil
	}
	p := r.newPointScan()
	p.node, p.cols, p.read = child, n.Columns(), p.small.read[:0]
	for _, e := range n.Exprs {
		p.read = append(p.read, child.Out[e.(*expr.Col).Index])
	}
	return p
}

func (r *run) newPointScan() *pointScan {
	p := r.point
	if p == nil {
		p = new(pointScan)
	}
	p.run = r
	return p
}

func onlyColumns(es []expr.Expr) bool {
	for _, e := range es {
		if _, ok := e.(*expr.Col); !ok {
			return false
		}
	}
	return true
}

func (p *pointScan) Open(context.Context) error {
	p.done = false
	return nil
}

func (p *pointScan) Close() error { return nil }

func (p *pointScan) Next(ctx context.Context) (*types.Batch, error) {
	if p.done {
		return nil, nil
	}
	p.done = true
	p.run.ctx = ctx
	n := p.node
	var room [3]types.Datum
	key := room[:0]
	for _, e := range n.Ranges[0].Eq {
		s := scalarExpr{e: e}
		d, err := s.value(p.run)
		if err != nil || d.Null {
			return nil, err
		}
		key = append(key, d)
	}
	if p.row == nil {
		p.allocate()
	}
	found, err := table.GetRow(ctx, p.run.reads(n), n.Table, key, p.read, p.row)
	p.run.scannedPoint(n, found)
	if err != nil || !found {
		return nil, err
	}
	if p.filter != nil {
		d, err := p.filter.EvalRow(&p.run.ev, p.row)
		if err != nil || !d.Bool() {
			return nil, err
		}
	}
	p.out.Reset()
	p.out.AppendRow(p.row)
	return &p.out, nil
}

// allocate makes room for one row: the columns share their arrays.
func (p *pointScan) allocate() {
	m := &p.small
	n := len(p.cols)
	row, out, vecs, nulls, ints := m.row[:], m.out[:], m.vecs[:], m.nulls[:], m.ints[:]
	if n > len(row) {
		row, out = make([]types.Datum, n), make([]*types.Vec, n)
		vecs, nulls, ints = make([]types.Vec, n), make([]bool, n), make([]int64, n)
	}
	p.row, p.out.Cols = row[:n], out[:n]
	for i := range n {
		vecs[i] = types.Vec{Type: p.cols[i].Type, Nulls: nulls[i : i+1 : i+1],
			I: ints[i : i+1 : i+1]}
		p.out.Cols[i] = &vecs[i]
	}
}

// onlyPoints reports whether the ranges may be read as single keys. They may not if one contains
// NULL, or if there are several and the rows must come in order of the keys.
func (s *scan) onlyPoints(ranges []table.Range) bool {
	if len(ranges) > 1 && s.node.Ordered || len(ranges) > types.BatchSize {
		return false
	}
	for i := range ranges {
		for _, d := range ranges[i].Eq {
			if d.Null {
				return false
			}
		}
	}
	return true
}

// points reads the rows of single keys.
func (s *scan) points(ctx context.Context, ranges []table.Range) (*types.Batch, error) {
	s.batch.Reset()
	keys, err := s.distinctKeys(ranges)
	if err != nil {
		return nil, err
	}
	var which []int32
	n := s.node
	if err := table.Lookup(ctx, s.run.reads(n), n.Table, s.index, n.Out, keys, s.batch,
		&which); err != nil {
		return nil, err
	}
	s.run.scanned(n, int64(len(keys)), int64(s.batch.Len))
	return s.narrow(s.batch)
}

// distinctKeys lists each key once.
func (s *scan) distinctKeys(ranges []table.Range) ([][]types.Datum, error) {
	keys := make([][]types.Datum, 0, len(ranges))
	if len(ranges) == 1 {
		return append(keys, ranges[0].Eq), nil
	}
	ts := make([]*types.Type, len(s.ranges[0].node.Eq))
	for i, e := range s.ranges[0].node.Eq {
		ts[i] = e.Type()
	}
	b := types.NewBatchCap(ts, len(ranges))
	for i := range ranges {
		b.AppendRow(ranges[i].Eq)
	}
	t := newKeyTable(&budget{}, ts)
	numbers, err := t.add(b.Cols, firstRows(b.Len), nil)
	if err != nil {
		return nil, err
	}
	for i, n := range numbers {
		if int(n) == len(keys) {
			keys = append(keys, ranges[i].Eq)
		}
	}
	return keys, nil
}
