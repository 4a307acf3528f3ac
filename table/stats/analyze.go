package stats

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Options of Analyze.
type Options struct {
	// Columns are those whose statistics are wanted; nil: all.
	Columns []table.ColumnID
	// Target is the number of common values and of buckets that a column may have; 0 is 100.
	Target int
	// Seed chooses the sample.
	Seed uint64
	// Pause, if not nil, is called between batches: a pass in the background gives way to
	// statements there.
	Pause func(ctx context.Context) error
	// Seen, if not nil, is called between batches with the number of rows read, and at the end with
	// all set.
	Seen func(rows int64, all bool)
}

// Result is what Analyze found.
type Result struct {
	Table   *Table
	Rows    int64
	Sampled int64
}

// Bounds of a sample.
const (
	defaultTarget = 100
	rowsPerTarget = 300
	sampleBytes   = 64 << 20
)

// Analyze reads all rows of a table that tx sees, and makes its statistics.
func Analyze(ctx context.Context, tx *txn.Txn, d *table.Desc, o Options) (*Result, error) {
	if o.Target <= 0 {
		o.Target = defaultTarget
	}
	a := newAnalysis(d, &o)
	if err := a.scan(ctx, tx, d, &o); err != nil {
		return nil, err
	}
	t := &Table{Rows: float64(a.sample.seen), Counted: time.Now(),
		Columns: map[table.ColumnID]*Column{}}
	e := &ending{ctx: ctx}
	for i, g := range a.columns {
		c := g.column(e, a.sample.cols[i], a.sample.order, o.Target)
		if i >= len(a.out) {
			t.Columns[d.Exprs[a.exprs[i-len(a.out)]].ID] = c
			continue
		}
		t.Columns[d.Columns[a.out[i]].ID] = c
		t.RowBytes += c.Width * (1 - c.NullFraction)
	}
	for _, k := range a.keys {
		if t.Keys == nil {
			t.Keys = map[KeysID]*Keys{}
		}
		t.Keys[k.id] = k.result(e)
	}
	if e.err != nil {
		return nil, e.err
	}
	return &Result{Table: t, Rows: a.sample.seen, Sampled: int64(len(a.sample.order))}, nil
}

// analysis is a pass over the rows.
type analysis struct {
	out     []int // ordinals of the columns
	exprs   []int // places in Desc.Exprs, of what is computed from all columns
	reader  *table.ExprReader
	types   []*types.Type // of the columns, then of the expressions
	columns []*gathered
	sample  *reservoir
	keys    []*keyCounts // of GIN indexes
}

func newAnalysis(d *table.Desc, o *Options) *analysis {
	a := &analysis{}
	for i := range d.Columns {
		c := &d.Columns[i]
		if !wanted(c, o.Columns) {
			continue
		}
		a.out = append(a.out, i)
		a.types = append(a.types, c.Type)
		a.columns = append(a.columns, newGathered(c.Type))
	}
	if o.Columns == nil {
		a.exprs, a.reader = d.ExprsOfAllRows(), table.NewExprReader(d)
	}
	for _, i := range a.exprs {
		t := d.Exprs[i].Type
		a.types, a.columns = append(a.types, t), append(a.columns, newGathered(t))
	}
	a.countKeys(d, o)
	a.sample = newReservoir(a.types, o.Target*rowsPerTarget, sampleBytes, o.Seed)
	return a
}

func wanted(c *table.Column, columns []table.ColumnID) bool {
	if c.Hidden {
		return false
	}
	if columns == nil {
		return true
	}
	return slices.Contains(columns, c.ID)
}

func (a *analysis) scan(ctx context.Context, tx *txn.Txn, d *table.Desc, o *Options) (err error) {
	spans, err := table.Spans(d, nil, nil, false)
	if err != nil {
		return err
	}
	s, err := table.OpenScan(ctx, tx, table.ScanSpec{Desc: d, Out: a.out, Spans: spans,
		Parallel: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	b := types.NewBatch(a.types[:len(a.out)])
	computed := make([]*types.Vec, len(a.exprs))
	for i := range computed {
		computed[i] = types.NewVec(a.types[len(a.out)+i], 0)
	}
	cols := append(b.Cols[:len(a.out):len(a.out)], computed...)
	row := make([]types.Datum, len(d.Columns))
	for {
		more, err := s.Next(ctx, b)
		if err != nil {
			return err
		}
		if err := a.compute(ctx, b, row, computed); err != nil {
			return err
		}
		for i, g := range a.columns {
			g.add(cols[i], b.Len)
		}
		for i := range b.Len {
			a.sample.add(cols, i)
		}
		for _, k := range a.keys {
			if err := k.add(cols[k.at], b.Len); err != nil {
				return err
			}
		}
		if o.Seen != nil {
			o.Seen(a.sample.seen, !more)
		}
		if !more {
			return nil
		}
		if o.Pause != nil {
			if err := o.Pause(ctx); err != nil {
				return err
			}
		}
	}
}

// compute fills vectors with the expressions for the rows of a batch.
func (a *analysis) compute(ctx context.Context, b *types.Batch, row []types.Datum,
	computed []*types.Vec) error {
	for _, v := range computed {
		v.Reset(v.Type)
		v.Resize(b.Len)
	}
	if len(computed) == 0 {
		return nil
	}
	for i := range b.Len {
		for k, o := range a.out {
			row[o] = b.Cols[k].Get(i)
		}
		for k, x := range a.exprs {
			d, err := a.reader.Value(ctx, x, row)
			if err != nil {
				return err
			}
			computed[k].Set(i, d)
		}
	}
	return nil
}
