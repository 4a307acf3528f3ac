package stats

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/minidb/minidb/kv"
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
	// Rows is how many rows the table is believed to have; 0 if unknown. Of a large table with
	// about as many, blocks of rows are read instead of all.
	Rows int64
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
	Rows    int64 // of the table
	Read    int64 // as many as Rows, if all were read
	Sampled int64
}

// Bounds of a sample.
const (
	defaultTarget = 100
	rowsPerTarget = 300
	sampleBytes   = 64 << 20
)

// Analyze reads the rows of a table that tx sees, all or blocks of them, and makes its statistics.
func Analyze(ctx context.Context, tx *txn.Txn, d *table.Desc, o Options) (*Result, error) {
	if o.Target <= 0 {
		o.Target = defaultTarget
	}
	a, err := readBlocks(ctx, tx, d, &o)
	if err != nil {
		return nil, err
	}
	rows := o.Rows
	if a == nil {
		a = newAnalysis(d, &o)
		if err := a.scan(ctx, tx, d, &o); err != nil {
			return nil, err
		}
		rows = a.sample.seen
	}
	t := &Table{Rows: float64(rows), Counted: time.Now(), Columns: map[table.ColumnID]*Column{}}
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
	return &Result{Table: t, Rows: rows, Read: a.sample.seen,
		Sampled: int64(len(a.sample.order))}, nil
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
	blocks  []int64      // where only blocks were read: the number of the first row of each

	batch    *types.Batch
	computed []*types.Vec // values of exprs for the batch
	cols     []*types.Vec // those of the batch, then computed
	row      []types.Datum
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
	a.batch = types.NewBatch(a.types[:len(a.out)])
	for _, t := range a.types[len(a.out):] {
		a.computed = append(a.computed, types.NewVec(t, 0))
	}
	a.cols = append(a.batch.Cols[:len(a.out):len(a.out)], a.computed...)
	a.row = make([]types.Datum, len(d.Columns))
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
	spec := a.scanOf(d, d.IndexSpan(table.RowIndexID))
	spec.Parallel = true
	s, err := table.OpenScan(ctx, tx, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for {
		more, err := a.next(ctx, s)
		if err != nil {
			return err
		}
		if err := a.between(ctx, o, !more); err != nil || !more {
			return err
		}
	}
}

func (a *analysis) scanOf(d *table.Desc, span kv.Span) table.ScanSpec {
	return table.ScanSpec{Desc: d, Out: a.out, Spans: []kv.Span{span}}
}

// next takes a batch of rows; false at the end.
func (a *analysis) next(ctx context.Context, s *table.Scanner) (more bool, err error) {
	b := a.batch
	if more, err = s.Next(ctx, b); err != nil {
		return false, err
	}
	if err := a.compute(ctx); err != nil {
		return false, err
	}
	for i, g := range a.columns {
		g.add(a.cols[i], b.Len)
	}
	for i := range b.Len {
		a.sample.add(a.cols, i)
	}
	for _, k := range a.keys {
		if err := k.add(a.cols[k.at], b.Len); err != nil {
			return false, err
		}
	}
	return more, nil
}

// between reports how far the pass is, and pauses unless it has ended.
func (a *analysis) between(ctx context.Context, o *Options, ended bool) error {
	if o.Seen != nil {
		o.Seen(a.sample.seen, ended)
	}
	if o.Pause == nil || ended {
		return nil
	}
	return o.Pause(ctx)
}

// compute fills vectors with the expressions for the rows of the batch.
func (a *analysis) compute(ctx context.Context) error {
	for _, v := range a.computed {
		v.Reset(v.Type)
		v.Resize(a.batch.Len)
	}
	if len(a.computed) == 0 {
		return nil
	}
	for i := range a.batch.Len {
		for k, o := range a.out {
			a.row[o] = a.cols[k].Get(i)
		}
		for k, x := range a.exprs {
			d, err := a.reader.Value(ctx, x, a.row)
			if err != nil {
				return err
			}
			a.computed[k].Set(i, d)
		}
	}
	return nil
}
