package minidb

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
)

// sweepPause is how long the sweeper waits for transactions that are under way, and after an error.
const sweepPause = time.Second

// startSweeper starts it.
func (db *DB) startSweeper() {
	ctx, cancel := context.WithCancel(context.Background())
	db.observers.endSweeper = cancel
	db.observers.stopping.Go(func() { db.sweepObservers(ctx) })
}

// sweepObservers removes the notifications that observers which were dropped have left behind:
// those that an earlier process did not get to, and then whenever one is dropped. What else such an
// observer had is a dropped span, which the collector removes. It ends with the DB.
func (db *DB) sweepObservers(ctx context.Context) {
	for {
		left, err := db.sweepDropped(ctx)
		var again <-chan time.Time
		if left || err != nil {
			again = time.After(sweepPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-db.observers.dropped:
		case <-again:
		}
	}
}

// sweepDropped does so once.
func (db *DB) sweepDropped(ctx context.Context) (left bool, err error) {
	tx, err := db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	spans, err := tx.Dropped(ctx)
	if err = errors.Join(err, tx.Rollback(ctx)); err != nil {
		return false, err
	}
	for _, span := range spans {
		id, ok := table.ObserverOfSpan(span)
		if !ok {
			continue
		}
		some, err := observer.Sweep(ctx, db.store, uint32(id))
		if err != nil {
			return left, err
		}
		left = left || some
	}
	return left, nil
}
