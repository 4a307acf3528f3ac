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
	for i, o2 := range a.out {
		c := a.columns[i].column(e, a.sample.cols[i], a.sample.order, o.Target)
		t.Columns[d.Columns[o2].ID] = c
		t.RowBytes += c.Width * (1 - c.NullFraction)
	}
	if e.err != nil {
		return nil, e.err
	}
	return &Result{Table: t, Rows: a.sample.seen, Sampled: int64(len(a.sample.order))}, nil
}

// analysis is a pass over the rows.
type analysis struct {
	out     []int // ordinals of the columns
	types   []*types.Type
	columns []*gathered
	sample  *reservoir
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
	s, err := table.OpenScan(ctx, tx, table.ScanSpec{Desc: d, Out: a.out, Spans: spans})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	b := types.NewBatch(a.types)
	for {
		more, err := s.Next(ctx, b)
		if err != nil {
			return err
		}
		for i, g := range a.columns {
			g.add(b.Cols[i], b.Len)
		}
		for i := range b.Len {
			a.sample.add(b.Cols, i)
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
