package minidb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/observer"
)

// Observer is a function's wish to run after rows of a table have changed: Percolator's observers
// (OSDI 2010, §2.4).
type Observer struct {
	// Name is unique in the database. What was acknowledged belongs to it.
	Name string
	// Version grows when another program is to take the place of the one that is registered. A
	// program with a lower version than the registered one is refused.
	Version int64
	// Table is named as in SQL. Columns are those whose changes count; nil means all.
	Table   string
	Columns []string
	// Workers is how many rows the function runs on at once in this process: one, unless it is set.
	Workers int
	// Backfill makes the function run on the rows, too, that were there before the observer.
	Backfill bool
	// Timeout bounds one run: a minute, unless it is set. A function that has not returned a second
	// after its context ended loses its transaction, and counts as failed.
	Timeout time.Duration
	// Attempts is how often a run on a row may fail before the row becomes a dead letter: ten,
	// unless it is set.
	Attempts int
}

const (
	observerTimeout  = time.Minute
	observerAttempts = 10
	// observerGrace is how long after the end of its context a function may take to return.
	observerGrace = time.Second
	workersMax    = 1024
)

// ObserverFunc runs on a row that has changed. What it writes in tx commits together with the
// acknowledgement of the change, so inside of the database each change has an effect exactly once.
// What it does elsewhere, sending mail say, may happen more than once: the function runs again when
// it returns an error, when its transaction loses a conflict, and after a crash. tx is a
// transaction with snapshot isolation and ends when the function returns.
type ObserverFunc func(ctx context.Context, tx *Tx, c Change) error

// Observe registers an observer and runs f in this process whenever rows change, until ctx ends or
// the DB is closed. Changes made while no process runs the observer are not lost: they are run on
// later. Several changes of a row may be collapsed into one run, which sees the row as it was at
// the last run and as it is. Runs on different rows happen in any order, at most Observer.Workers
// of them at once.
//
// A run that returns an error is repeated with growing pauses, and after Observer.Attempts its row
// is a dead letter (minidb_dead_letters), which other rows do not wait for and which a newer change
// of the row supersedes. A panic counts as an error.
//
// Registering the same observer again writes nothing. Errors of the registration are an [*Error]:
// 42P01 and 42703 for a table or a column that is not there, 42809 for what is no table, 42710 when
// the name belongs to another definition, 55000 when a higher version is registered.
func (db *DB) Observe(ctx context.Context, o Observer, f ObserverFunc) error {
	if f == nil {
		return errors.New("minidb: Observe needs a function")
	}
	if o.Workers < 0 || o.Workers > workersMax || o.Timeout < 0 || o.Attempts < 0 {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"workers, timeout and attempts of observer \"%s\" must not be negative, and workers "+
				"at most %d", o.Name, workersMax)
	}
	if err := db.registerObserver(ctx, o); err != nil {
		return err
	}
	target, err := db.observerTarget(ctx, o.Name)
	if err != nil {
		return err
	}
	return db.startObserver(ctx, o, f, target)
}

func (db *DB) registerObserver(ctx context.Context, o Observer) error {
	ps, err := sql.ObserverStatement(sql.ObserverOptions{Name: o.Name, Version: o.Version,
		Table: o.Table, Columns: o.Columns, Backfill: o.Backfill})
	if err != nil {
		return err
	}
	h, err := db.acquire(ctx)
	if err != nil {
		return err
	}
	defer db.release(h)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	if _, _, err = h.runPrepared(ctx, ps, nil, false); err != nil {
		h.failed(ctx)
	}
	return err
}

// observerTarget finds the observer as it is registered.
func (db *DB) observerTarget(ctx context.Context, name string) (o catalog.Observed, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		_, found, ok, err := tx.h.observer(ctx, name)
		if err == nil && !ok {
			err = sqlerr.New(sqlerr.UndefinedObject, "observer \"%s\" does not exist", name)
		}
		o = found
		return err
	})
	return o, err
}

// startObserver runs the workers until ctx ends.
func (db *DB) startObserver(ctx context.Context, o Observer, f ObserverFunc,
	found catalog.Observed) error {
	w := &observation{db: db, Observer: o, f: f, found: found, target: found.Target(),
		ended: ctx.Err}
	if w.Timeout == 0 {
		w.Timeout = observerTimeout
	}
	db.stopEnded(o)
	db.observers.Lock()
	defer db.observers.Unlock()
	switch {
	case db.observers.closed:
		return ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case db.observers.by[w.target.ID] != nil:
		return sqlerr.New(sqlerr.ObjectInUse, "observer \"%s\" runs in this program already",
			o.Name)
	}
	w.pool = observer.Start(db.store, observer.Options{Target: w.target,
		Workers: max(o.Workers, 1), Attempts: attempts(o), Place: w.place, Run: w.run,
		Failed: w.failed})
	if db.observers.by == nil {
		db.observers.by = map[uint32]*observation{}
	}
	db.observers.by[w.target.ID] = w
	w.unhook = context.AfterFunc(ctx, w.stop)
	return nil
}

// stopEnded stops what ran under the observer's name, if its context has ended or the observer has
// another version.
func (db *DB) stopEnded(o Observer) {
	db.observers.Lock()
	var ended []*observation
	for _, w := range db.observers.by {
		if w.Name == o.Name && (w.ended() != nil || w.Version != o.Version) {
			ended = append(ended, w)
		}
	}
	db.observers.Unlock()
	for _, w := range ended {
		w.stop()
	}
}

func attempts(o Observer) int {
	if o.Attempts == 0 {
		return observerAttempts
	}
	return o.Attempts
}

// notified passes on what commits have notified.
func (db *DB) notified(id uint32, keys [][]byte) {
	if db.sql != nil { // else the DB is being opened
		db.sql.Notified(id)
	}
	if m := db.views.Load(); m != nil {
		m.notified(id, keys)
	}
	db.observers.Lock()
	defer db.observers.Unlock()
	if keys != nil {
		if w := db.observers.by[id]; w != nil {
			w.pool.Wake(keys)
		}
		return
	}
	select {
	case db.observers.dropped <- struct{}{}:
	default:
	}
	for _, w := range db.observers.by {
		if id == 0 || w.target.ID == id {
			w.pool.Wake(nil)
		}
	}
}

// observerStats is for minidb_observers.
func (db *DB) observerStats(id uint32) (st observer.Stats, running bool) {
	w := db.running(id)
	if w == nil {
		return st, false
	}
	return w.pool.Stats(), true
}

// stopObservers ends all workers of this process.
func (db *DB) stopObservers() {
	db.observers.Lock()
	db.observers.closed = true
	all := db.observers.by
	db.observers.by = nil
	db.observers.Unlock()
	db.observers.endSweeper()
	for _, w := range all {
		w.unhook()
		w.stop()
	}
	db.observers.stopping.Wait()
}

// DropObserver removes an observer, with what is pending for it. It stops running everywhere; 42704
// when there is none of the name.
func (db *DB) DropObserver(ctx context.Context, name string) error {
	var id any
	if err := db.QueryRow(ctx, "SELECT minidb_drop_observer($1)", name).Scan(&id); err != nil {
		return fmt.Errorf("minidb: drop observer: %w", err)
	}
	return nil
}
