package statistics

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
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
		n, bytes, err := count(ctx, tx, d)
		if err != nil {
			return err
		}
		rows = n
		t, err := stats.ReadTable(ctx, tx, id)
		if err != nil {
			return err
		}
		if t == nil {
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

// count reads the rows of a table, and the bytes of one on average.
func count(ctx context.Context, tx *txn.Txn, d *table.Desc) (rows int64, bytes float64, err error) {
	it, err := tx.Scan(ctx, d.IndexSpan(table.RowIndexID), txn.ScanOptions{})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	total := 0
	for it.Next() {
		rows++
		total += len(it.Key()) + len(it.Value())
		if rows%4096 == 0 && ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
	}
	if rows > 0 {
		bytes = float64(total) / float64(rows)
	}
	return rows, bytes, it.Err()
}
