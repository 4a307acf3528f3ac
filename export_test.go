package minidb

import (
	"context"
	"errors"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
)

// Clock is an Option that replaces the machine's clock.
func Clock(c func() int64) Option { return func(o *options) { o.clock = c } }

// TickStatistics does what the background does at each tick.
func (db *DB) TickStatistics(ctx context.Context) error { return db.sql.Statistics().Tick(ctx) }

// Versions counts the write records in a span of keys.
func (db *DB) Versions(t testing.TB, span kv.Span) (n int) {
	t.Helper()
	snap, err := db.engine.Snapshot()
	if err == nil {
		err = mvcc.Cells(context.Background(), snap, func(c mvcc.Cell) error {
			if c.Column == mvcc.ColumnWrite && string(c.Key) >= string(span.Start) &&
				string(c.Key) < string(span.End) {
				n++
			}
			return nil
		})
		err = errors.Join(err, snap.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// AwaitDamageReports waits until the log says what each damaged file holds.
func AwaitDamageReports(db *DB) { db.damages.wait() }

// Syncs is how often the log was synced.
func (db *DB) Syncs() uint64 { return db.local.Syncs() }
