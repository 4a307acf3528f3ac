package statistics

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// attempts bounds how often statistics are gathered again because others stored theirs meanwhile.
const attempts = 5

// Analyze makes and stores the statistics of a table in a transaction of its own. The result is nil
// when there is no such table any more.
func (r *Registry) Analyze(ctx context.Context, id table.ID, o stats.Options,
	by Cause) (res *stats.Result, err error) {
	o.Seed = uint64(id)
	c, err := r.Counters(ctx, id)
	if err != nil {
		return nil, err
	}
	o.Rows = c.Live
	err = r.gather(ctx, id, func(tx *txn.Txn, d *table.Desc) (err error) {
		if res, err = stats.Analyze(ctx, tx, d, o); err != nil {
			return err
		}
		return stats.Write(tx, id, res.Table)
	})
	if err != nil || res == nil {
		return nil, err
	}
	r.Replaced(ctx, id, res.Rows, by)
	return res, nil
}

// Count counts and stores the rows of a table, and nothing else: what VACUUM learns.
func (r *Registry) Count(ctx context.Context, id table.ID) (rows int64, err error) {
	found := false
	err = r.gather(ctx, id, func(tx *txn.Txn, d *table.Desc) error {
		found = true
		n, err := count(ctx, tx, d)
		if err != nil {
			return err
		}
		rows = n
		t, err := stats.ReadTable(ctx, tx, id)
		if err != nil {
			return err
		}
		if t == nil {
			bytes, err := rowBytes(ctx, tx, d)
			if err != nil {
				return err
			}
			t = &stats.Table{RowBytes: bytes}
		}
		t.Rows, t.Counted = float64(n), time.Now()
		return stats.Write(tx, id, t)
	})
	if err == nil && found {
		r.Replaced(ctx, id, rows, ByVacuum)
	}
	return rows, err
}

// gather runs f with a table, as long as there is one, until its transaction commits.
func (r *Registry) gather(ctx context.Context, id table.ID,
	f func(tx *txn.Txn, d *table.Desc) error) (err error) {
	for range attempts {
		err = r.write(ctx, func(tx *txn.Txn) error {
			d, err := r.catalog.View(tx).RelationByID(ctx, id)
			if err != nil || d == nil || !d.HasRows() {
				return err
			}
			tx.Validate(table.PointSpan(table.DescKey(id)))
			return f(tx, d)
		})
		var conflict *txn.WriteConflictError
		if !errors.As(err, &conflict) {
			return err
		}
	}
	return err
}

// count counts the rows of a table.
func count(ctx context.Context, tx *txn.Txn, d *table.Desc) (rows int64, err error) {
	sc, err := table.OpenScan(ctx, tx, table.ScanSpec{Desc: d,
		Spans: []kv.Span{d.IndexSpan(table.RowIndexID)}, Parallel: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sc.Close()) }()
	for b := types.NewBatchCap(nil, 0); ; rows += int64(b.Len) {
		if more, err := sc.Next(ctx, b); err != nil || !more {
			return rows, err
		}
	}
}

// rowsMeasured is of how many rows the size is measured where nothing is known of a table.
const rowsMeasured = 4096

// rowBytes returns the bytes of a row, on average over the first ones.
func rowBytes(ctx context.Context, tx *txn.Txn, d *table.Desc) (mean float64, err error) {
	it, err := tx.Scan(ctx, d.IndexSpan(table.RowIndexID), txn.ScanOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	rows, total := 0, 0
	for rows < rowsMeasured && it.Next() {
		rows++
		total += len(it.Key()) + len(it.Value())
	}
	return float64(total) / float64(max(rows, 1)), it.Err()
}
