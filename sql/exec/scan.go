package exec

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// scan reads a table or an index, all of it or sections. Point reads take a path of their own
// (point.go).
type scan struct {
	run          *run
	node         *physical.Scan
	index        *table.Index // nil: the rows
	ranges       []scanRange
	filter       condition // without a program, where there is none
	parallel     bool      // all rows are wanted, and none that is written meanwhile
	started      bool
	ended        bool
	scanner      rowScanner
	read         int64 // rows, by the scanner
	batch        *types.Batch
	materialised materialisedRows
	sections     table.SectionCounts // of the scans that have ended
}

// rowScanner is a [table.Scanner] or a [table.KeyScan].
type rowScanner interface {
	Next(ctx context.Context, b *types.Batch) (bool, error)
	Close() error
}

// scanRange is a physical.Range ready to be evaluated.
type scanRange struct {
	eq        []scalarExpr
	low, high scalarExpr
	node      *physical.Range
}

func (r *run) buildScan(n *physical.Scan) (operator, error) {
	if isPointScan(n) {
		return r.buildPointScan(n)
	}
	s := &scan{run: r, node: n, index: n.Index, filter: condition{run: r}}
	s.parallel = !r.partial && (r.plan.ReadOnly || insertsElsewhere(r.plan.Root) || r.changesRows())
	if s.index != nil && s.index.ID == table.RowIndexID {
		s.index = nil
	}
	if n.Filter != nil {
		p, err := eval.Compile(n.Filter)
		if err != nil {
			return nil, err
		}
		s.filter.prog = p
	}
	if n.Ranges != nil {
		s.ranges = make([]scanRange, len(n.Ranges))
		for i := range n.Ranges {
			g := &n.Ranges[i]
			s.ranges[i] = scanRange{eq: scalarExprs(g.Eq), low: scalarExpr{e: g.Low},
				high: scalarExpr{e: g.High}, node: g}
		}
	}
	return s, nil
}

// projectedScan returns a scan that reads no more columns than a projection of its rows wants, and
// in its order. It returns nil if the nodes do more than that, or if rows are to be counted for
// each node.
func (r *run) projectedScan(n *physical.Project) *physical.Scan {
	child, ok := n.Child.(*physical.Scan)
	if !ok || r.stats != nil || child.Filter != nil || child.Keys != nil || !onlyColumns(n.Exprs) {
		return nil
	}
	cols, from := n.Columns(), child.Columns()
	out := make([]int, len(n.Exprs))
	for i, e := range n.Exprs {
		c := e.(*expr.Col).Index
		if cols[i].Type != from[c].Type {
			return nil // the values are shown as those of another type
		}
		out[i] = child.Out[c]
	}
	bare := *child
	bare.Out, bare.Cols = out, cols
	return &bare
}

func (s *scan) Open(context.Context) error {
	s.started, s.ended = false, false
	s.filter.failed = nil
	s.materialised.open(s)
	return s.release()
}

func (s *scan) Close() error {
	s.started, s.ended = true, true
	s.materialised.close()
	return s.release()
}

func (s *scan) release() error {
	if s.scanner == nil {
		return nil
	}
	if t, ok := s.scanner.(*table.Scanner); ok && s.run.stats != nil {
		s.noteSections(t)
	}
	s.run.scanned(s.node, 1, s.read)
	err := s.scanner.Close()
	s.scanner = nil
	return err
}

// noteSections lets EXPLAIN ANALYZE show the sections of a scan that ends.
func (s *scan) noteSections(t *table.Scanner) {
	s.sections.Add(t.Sections())
	if s.run.sections == nil {
		s.run.sections = map[physical.Node]*table.SectionCounts{}
	}
	s.run.sections[s.node] = &s.sections
}

func (s *scan) Next(ctx context.Context) (*types.Batch, error) {
	s.run.ctx = ctx
	if s.filter.failed != nil {
		return nil, s.filter.failed
	}
	if s.materialised.complete {
		return s.nextMaterialised(ctx)
	}
	if !s.started {
		s.started = true
		if b, done, err := s.start(ctx); done || err != nil {
			s.ended = true
			return b, err
		}
	}
	for !s.ended {
		more, err := s.scanner.Next(ctx, s.batch)
		if err != nil {
			return nil, err
		}
		if !more {
			s.ended = true
			s.materialised.end()
			return nil, s.release()
		}
		s.read += int64(s.batch.Len)
		if err := s.materialised.add(s.batch); err != nil {
			return nil, err
		}
		b, err := s.narrow(s.batch)
		if err != nil || b != nil {
			return b, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// narrow applies the filter; nil when nothing passes.
func (s *scan) narrow(b *types.Batch) (*types.Batch, error) {
	if s.filter.prog == nil {
		return b, nil
	}
	return s.filter.narrow(b)
}

// start opens the scanner. done reports that there is nothing to scan: b, if not nil, holds all
// rows.
func (s *scan) start(ctx context.Context) (b *types.Batch, done bool, err error) {
	if s.batch == nil {
		s.batch = types.NewBatchCap(columnTypes(s.node), s.firstCapacity())
	}
	if s.node.Keys != nil {
		err := s.startKeys()
		return nil, err != nil, err
	}
	spans := s.spans()
	if spans == nil {
		ranges, err := s.evalRanges()
		if err != nil || len(ranges) == 0 {
			return nil, true, err
		}
		if s.node.Point && s.onlyPoints(ranges) {
			b, err := s.points(ctx, ranges)
			return b, true, err
		}
		if spans, err = table.Spans(s.node.Table, s.index, ranges, s.node.Reverse); err != nil {
			return nil, true, err
		}
		if len(spans) == 0 {
			return nil, true, nil
		}
	}
	rows := 0
	if n := s.node.Limit; n > 0 && n < types.BatchSize && s.filter.prog == nil {
		rows = int(n)
	}
	scanner, err := table.OpenScan(ctx, s.run.reads(s.node), table.ScanSpec{
		Desc: s.node.Table, Index: s.index, Out: s.node.Out,
		Spans: spans, Reverse: s.node.Reverse, BatchRows: rows,
		AnyOrder: s.node.RowOrder, Parallel: s.parallel,
	})
	if err != nil {
		return nil, true, err
	}
	s.scanner, s.read = scanner, 0
	return nil, false, nil
}

// firstCapacity is the number of rows for which the batch has memory at first. It grows as needed.
func (s *scan) firstCapacity() int {
	switch n := s.node; {
	case n.Point:
		return len(n.Ranges)
	case n.Limit > 0 && n.Limit < 32:
		return int(n.Limit)
	}
	return 32
}

// spans returns the one span of a scan without ranges, and nil if there are ranges.
func (s *scan) spans() []kv.Span {
	if s.ranges != nil {
		return nil
	}
	id := table.RowIndexID
	if s.index != nil {
		id = s.index.ID
	}
	return []kv.Span{s.node.Table.IndexSpan(id)}
}

// evalRanges evaluates the ranges and leaves out those that a NULL makes empty.
func (s *scan) evalRanges() ([]table.Range, error) {
	out := make([]table.Range, 0, len(s.ranges))
	for i := range s.ranges {
		g, empty, err := s.ranges[i].eval(s.run)
		if err != nil {
			return nil, err
		}
		if !empty {
			out = append(out, g)
		}
	}
	return out, nil
}

func (g *scanRange) eval(r *run) (out table.Range, empty bool, err error) {
	out = table.Range{LowIncl: g.node.LowIncl, HighIncl: g.node.HighIncl}
	if len(g.eq) > 0 {
		out.Eq = make([]types.Datum, len(g.eq))
	}
	for i := range g.eq {
		if g.node.IsNull != nil && g.node.IsNull[i] {
			out.Eq[i] = types.Null
			continue
		}
		if out.Eq[i], err = g.eq[i].value(r); err != nil || out.Eq[i].Null {
			return out, true, err
		}
	}
	if g.low.e != nil {
		d, err := g.low.value(r)
		if err != nil || d.Null {
			return out, true, err
		}
		out.Low = &d
	}
	if g.high.e != nil {
		d, err := g.high.value(r)
		if err != nil || d.Null {
			return out, true, err
		}
		out.High = &d
	}
	return out, false, nil
}
