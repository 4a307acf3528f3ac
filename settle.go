package minidb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
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
		begun := time.Now()
		await, err := db.unsettled(ctx, upTo)
		if err != nil || await == nil {
			return err
		}
		if err := await(ctx, max(settlePause, settleShare*time.Since(begun))); err != nil {
			return fmt.Errorf("minidb: observers have changes pending: %w", err)
		}
	}
}

const (
	// settlePause is how long Settle waits before it looks again: perhaps a transaction was rolled
	// back, or a row has become a dead letter.
	settlePause = 50 * time.Millisecond
	// settleShare bounds the part of the time that looking takes. A look passes all notifications
	// that were removed and are not yet compacted away.
	settleShare = 20
)

// now returns a timestamp above that of every commit that has returned.
func (db *DB) now(ctx context.Context) (ts tso.Timestamp, err error) {
	tx, err := db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	return tx.StartTS(), tx.Rollback(ctx)
}

// unsettled looks once, at all observers as of one moment, for a run that ends makes work for the
// next one. It returns what waits until another look is due: nil when all is settled.
func (db *DB) unsettled(ctx context.Context, upTo tso.Timestamp) (
	await func(ctx context.Context, most time.Duration) error, err error) {
	observers, err := db.registered(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := db.seenButHeld(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, seen.end(ctx)) }()
	all := make([]settling, len(observers))
	var spans []kv.Span
	var of []*settling // the spans
	for i, o := range observers {
		all[i] = settling{db: db, o: o, target: o.Target(), upTo: upTo}
		if err := all[i].prepare(ctx); err != nil {
			return nil, err
		}
		for _, span := range all[i].target.Spans() {
			spans, of = append(spans, span), append(of, &all[i])
		}
	}
	err = db.store.NotificationsIn(ctx, spans,
		func(i int, key []byte, n *txn.Notification) error {
			if !of[i].unsettled(key, n) {
				return nil
			}
			if done, err := seen.covers(ctx, &of[i].target, key, n); err != nil || done {
				return err
			}
			of[i].pending = bytes.Clone(key)
			return txn.ErrNextSpan
		})
	if err != nil {
		return nil, err
	}
	var problems []error
	for i := range all {
		x := &all[i]
		if x.observation != nil && (x.pending != nil || x.filling) {
			return x.await, nil // the problems are for the last look
		}
		problems = append(problems, x.problem())
	}
	wait, more, err := db.unsettledViews(ctx, upTo)
	if err != nil {
		return nil, err
	}
	if wait != nil { // what the observers have written is there
		return func(ctx context.Context, most time.Duration) error {
			return awaitClosed(ctx, wait, most)
		}, nil
	}
	return nil, errors.Join(append(problems, more...)...)
}

// seenButHeld sets changes apart that observers have seen while a hold keeps their notifications,
// by the acknowledgements. It is as of before the notifications are looked at: what a run has
// written that is acknowledged then is among them. Nil, where there is no hold, knows of none.
type seenButHeld struct{ tx *txn.Txn }

func (db *DB) seenButHeld(ctx context.Context) (*seenButHeld, error) {
	held, err := db.store.Holds(ctx)
	if err != nil || !held {
		return nil, err
	}
	tx, err := db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	return &seenButHeld{tx}, err
}

func (s *seenButHeld) covers(ctx context.Context, o *observer.Target, key []byte,
	n *txn.Notification) (bool, error) {
	if s == nil {
		return false, nil
	}
	return o.Seen(ctx, s.tx, key, n)
}

func (s *seenButHeld) end(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.tx.Rollback(context.WithoutCancel(ctx))
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
	db          *DB
	o           catalog.Observed
	target      observer.Target
	upTo        tso.Timestamp
	letters     map[string]*observer.DeadLetter
	observation *observation // nil: it does not run in this process
	progress    <-chan struct{}
	filling     bool
	pending     []byte // the first row that is to be run on
}

// prepare finds out what is known before the notifications are looked at, so that nothing is
// missed: what a backfill has announced by then is seen among them.
func (x *settling) prepare(ctx context.Context) (err error) {
	if x.observation = x.db.running(x.target.ID); x.observation != nil {
		x.progress = x.observation.pool.Settled()
		x.filling = x.observation.pool.Stats().Backfill
	}
	x.letters, err = x.readLetters(ctx)
	return err
}

// unsettled reports whether a notification of a row, or of a table-level change, goes back to upTo
// and is not given up.
func (x *settling) unsettled(key []byte, n *txn.Notification) bool {
	if n.Observer != x.target.ID {
		return false
	}
	l := x.letters[string(x.target.RowKey(x.target.RunKey(key)))]
	switch {
	case l != nil && n.Stamped() && n.CommitTS <= l.At:
		return false
	case n.Announced():
		return true
	case n.Stamped():
		return n.From() <= x.upTo
	}
	return n.StartTS <= x.upTo || n.Origin != 0 && n.Origin <= x.upTo
}

// await returns when the row that is pending is so no more, or after a while.
func (x *settling) await(ctx context.Context, most time.Duration) error {
	late := time.NewTimer(most)
	defer late.Stop()
	for {
		select {
		case <-x.progress:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		x.progress = x.observation.pool.Settled()
		pending := false
		row := kv.Span{Start: x.pending, End: append(slices.Clip(x.pending), 0)}
		err := x.db.store.Notifications(ctx, row, func(key []byte, n *txn.Notification) error {
			pending = pending || x.unsettled(key, n)
			return nil
		})
		if err != nil || !pending {
			return err
		}
	}
}

// problem returns why something stays pending.
func (x *settling) problem() error {
	switch {
	case x.pending != nil:
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"observer \"%s\" has changes pending and does not run", x.o.Observer.Name).
			WithHint("Run a program that calls Observe with it, take its changes with " +
				"minidb_take(), or drop it.")
	case len(x.letters) > 0:
		return x.dead(x.letters)
	}
	return nil
}

// running returns the observation of an observer in this process, or nil.
func (db *DB) running(id uint32) *observation {
	db.observers.Lock()
	defer db.observers.Unlock()
	return db.observers.by[id]
}

func (x *settling) readLetters(ctx context.Context) (by map[string]*observer.DeadLetter,
	err error) {
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
