package minidb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
)

// Settle waits until nothing is pending for any observer that goes back to a change from outside at
// or below a timestamp: not the change itself, nor what observers have written because of it. Zero
// means all that is committed by now. A backfill is waited for too.
//
// It does not wait for work that no process does: an observer that has something pending and does
// not run in this program is an error (55000), and so are dead letters. Each error names them.
func (db *DB) Settle(ctx context.Context, ts int64) error {
	upTo := tso.Timestamp(ts)
	if upTo == 0 {
		now, err := db.now(ctx)
		if err != nil {
			return err
		}
		upTo = now
	}
	for {
		wait, err := db.unsettled(ctx, upTo)
		if err != nil || wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-time.After(settlePause): // a transaction was rolled back, perhaps
		case <-ctx.Done():
			return fmt.Errorf("minidb: observers have changes pending: %w", ctx.Err())
		}
	}
}

// settlePause is how long Settle waits before it looks again.
const settlePause = 50 * time.Millisecond

// now returns a timestamp above that of every commit that has returned.
func (db *DB) now(ctx context.Context) (ts tso.Timestamp, err error) {
	tx, err := db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	return tx.StartTS(), tx.Rollback(ctx)
}

// unsettled looks once. It returns what to wait for: nil when all is settled.
func (db *DB) unsettled(ctx context.Context, upTo tso.Timestamp) (wait <-chan struct{}, err error) {
	all, err := db.registered(ctx)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, o := range all {
		x := settling{db: db, o: o, target: o.Target(), upTo: upTo}
		progress, err := x.look(ctx)
		if err != nil {
			return nil, err
		}
		if progress != nil && wait == nil {
			wait = progress
		}
		if x.problem != nil {
			problems = append(problems, x.problem)
		}
	}
	if wait != nil {
		return wait, nil // the others are named when this one has ended
	}
	return nil, errors.Join(problems...)
}

// registered lists the observers of the database.
func (db *DB) registered(ctx context.Context) (all []catalog.Observed, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		all, err = tx.h.observers(ctx)
		return err
	})
	return all, err
}

// settling is the look at one observer.
type settling struct {
	db      *DB
	o       catalog.Observed
	target  observer.Target
	upTo    tso.Timestamp
	problem error // what no process works on
}

// look returns what to wait for, if there is something to be done and the observer runs here.
func (x *settling) look(ctx context.Context) (progress <-chan struct{}, err error) {
	w := x.db.running(x.target.ID)
	filling := false
	if w != nil {
		// Before the look, so that nothing is missed: what a backfill has announced is seen below.
		progress, filling = w.pool.Settled(), w.pool.Stats().Backfill
	}
	letters, err := x.letters(ctx)
	if err != nil {
		return nil, err
	}
	pending := false
	for _, span := range x.target.Spans() {
		err = errors.Join(err, x.db.store.Notifications(ctx, span,
			func(key []byte, n *txn.Notification) error {
				pending = pending || n.Observer == x.target.ID && x.awaits(letters[string(key)], n)
				return nil
			}))
	}
	switch {
	case err != nil:
		return nil, err
	case w == nil && pending:
		x.problem = sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"observer \"%s\" has changes pending and does not run", x.o.Observer.Name).
			WithHint("Run a program that calls Observe with it, or drop it.")
		return nil, nil
	case pending, filling:
		return progress, nil
	case len(letters) > 0:
		x.problem = x.dead(letters)
	}
	return nil, nil
}

// awaits reports whether a notification of a row, or of a table-level change, goes back to upTo and
// is not given up.
func (x *settling) awaits(given *observer.DeadLetter, n *txn.Notification) bool {
	switch {
	case given != nil && n.Stamped() && n.CommitTS <= given.At:
		return false
	case n.Announced():
		return true
	case n.Stamped():
		return n.From() <= x.upTo
	}
	return n.StartTS <= x.upTo
}

// running returns the observation of an observer in this process, or nil.
func (db *DB) running(id uint32) *observation {
	db.observers.Lock()
	defer db.observers.Unlock()
	return db.observers.by[id]
}

func (x *settling) letters(ctx context.Context) (by map[string]*observer.DeadLetter, err error) {
	tx, err := x.db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Rollback(context.WithoutCancel(ctx))) }()
	by = map[string]*observer.DeadLetter{}
	return by, x.target.Letters(ctx, tx, func(l *observer.DeadLetter) error {
		by[string(l.Key)] = l
		return nil
	})
}

// namedLetters is how many dead letters an error of Settle names.
const namedLetters = 5

func (x *settling) dead(letters map[string]*observer.DeadLetter) error {
	var named []string
	for key, l := range letters {
		if len(named) == namedLetters {
			break
		}
		reason, _, _ := strings.Cut(l.Err, "\n")
		named = append(named, x.o.Table.Name+table.DescribeRowKey(x.o.Table, []byte(key))+": "+
			reason)
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
		"observer \"%s\" has given up %d rows", x.o.Observer.Name, len(letters)).
		WithDetail("%s", strings.Join(named, "; ")).
		WithHint("minidb_dead_letters lists them. Retry or drop them, or change the rows.")
}
