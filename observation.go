package minidb

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
)

// observation is an observer that runs in this process.
type observation struct {
	Observer
	db      *DB
	f       ObserverFunc
	found   catalog.Observed
	target  observer.Target
	pool    *observer.Pool
	ended   func() error // of the context of Observe
	unhook  func() bool  // from it
	stopped sync.Once
}

// stop ends the observation alone: when it returns, nothing of it runs any more.
func (w *observation) stop() {
	w.stopped.Do(w.pool.Stop)
	w.db.observers.Lock()
	defer w.db.observers.Unlock()
	if w.db.observers.by[w.target.ID] == w {
		delete(w.db.observers.by, w.target.ID)
	}
}

// failed logs a failure.
func (w *observation) failed(key []byte, err error, attempts int, givenUp bool) {
	log := w.db.opts.logger.With("observer", w.Name, "error", err)
	switch {
	case key == nil && errors.Is(err, errObserverGone):
	case key == nil:
		log.Warn("observer cannot look for work")
	case givenUp:
		log.Error("observer has given up a row, see minidb_dead_letters",
			"key", table.DescribeRowKey(w.found.Table, key), "attempts", attempts)
	default:
		log.Warn("observer failed, the row is tried again",
			"key", table.DescribeRowKey(w.found.Table, key), "attempts", attempts)
	}
}

// errObserverGone ends the runs of an observer that was dropped, or replaced by another version.
var errObserverGone = errors.New("minidb: the observer was dropped or replaced")

// place finds the observer as it is registered now.
func (w *observation) place(ctx context.Context) (observer.Target, error) {
	found, err := w.db.observerTarget(ctx, w.Name)
	if err != nil {
		return observer.Target{}, err
	}
	if found.Observer.ID != w.found.Observer.ID {
		return observer.Target{}, errObserverGone
	}
	return found.Target(), nil
}

// endless is the error of a chain of observers that feeds itself.
func (w *observation) endless(ctx context.Context, o catalog.Observed, c *observer.Change) error {
	all, err := w.db.registered(ctx)
	if err != nil {
		return err
	}
	return o.Endless(c, all)
}

// run is one run on one row.
func (w *observation) run(ctx context.Context, key []byte) (res observer.Result) {
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	tx, err := w.db.Begin(ctx, Isolation("repeatable read"))
	if err != nil {
		return observer.Result{Err: err}
	}
	tx.managed, tx.h.lost = true, nil
	ended := false // the function has kept the transaction
	defer func() {
		if !ended {
			_ = tx.rollback(ctx)
		}
	}()
	t, found, ok, err := tx.h.observer(ctx, w.Name)
	if err != nil {
		return observer.Result{Err: err, Conflict: repeatable(err)}
	}
	if !ok || found.Observer.ID != w.found.Observer.ID ||
		found.Observer.Version != w.found.Observer.Version {
		w.db.observers.stopping.Go(w.stop)
		return observer.Result{Err: errObserverGone, Conflict: true}
	}
	target := found.Target() // TRUNCATE and rewrites give the rows another place
	c, state, err := target.Claim(ctx, t, key)
	res = observer.Result{Found: state, Key: c.Key, At: c.At, Err: err}
	if err != nil || state != observer.Pending {
		if err == nil && c.Stale {
			res.Err = target.CleanStale(ctx, w.db.store, &c)
		}
		return res
	}
	change, same, err := w.change(found, &c)
	if err == nil && c.Generation >= catalog.GenerationsMax {
		err = w.endless(ctx, found, &c)
	}
	if err == nil && (!same || change.Weak) {
		t.RunFor(c.Origin, c.Generation, c.Path.Then(target.ID))
		ended, err = w.call(ctx, tx, change)
	}
	if err == nil {
		err = w.commit(ctx, tx, t, &target, &c)
	}
	switch res.Err, res.Conflict = err, err != nil && repeatable(err); {
	case errors.Is(err, txn.ErrAmbiguous):
		return observer.Result{Found: observer.Later} // another look finds out
	case err != nil && !ofFunction(err):
		res.Found = observer.Later // no attempt of the function
	case err == nil:
		if err := target.Clean(ctx, w.db.store, &c); err != nil {
			return observer.Result{Found: observer.Nothing, Err: err} // the next look cleans up
		}
	}
	return res
}

// ofFunction reports whether an error may be due to what the function did, so that it counts as an
// attempt. A full disk, the end of the database, and errors of the system are not.
func ofFunction(err error) bool {
	var coded interface{ SQLState() string }
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrFailed) {
		return false
	}
	if !errors.As(err, &coded) {
		return true
	}
	code := coded.SQLState()
	return code != sqlerr.DiskFull && !strings.HasPrefix(code, "58") &&
		!strings.HasPrefix(code, "57P")
}

// call runs the function. abandoned reports that it has not returned in time and has lost its
// transaction: whatever it does with that from now on fails.
func (w *observation) call(ctx context.Context, tx *Tx, c Change) (abandoned bool, err error) {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("minidb: observer %q panicked: %v\n%s", w.Name, r, debug.Stack())
			}
		}()
		done <- w.f(ctx, tx, c)
	}()
	select {
	case err := <-done:
		return false, err
	case <-ctx.Done():
	}
	grace := time.NewTimer(observerGrace)
	defer grace.Stop()
	select {
	case err := <-done:
		return false, err
	case <-grace.C:
	}
	tx.h.abandon()
	return true, fmt.Errorf("minidb: observer %q did not return after its context had ended: %w",
		w.Name, context.Cause(ctx))
}

// abandon takes a session away from a function that may be using it.
func (h *handle) abandon() {
	h.session.Terminate()
	go h.db.release(h)
}

// commit commits the run together with its acknowledgement.
func (w *observation) commit(ctx context.Context, tx *Tx, t *txn.Txn, target *observer.Target,
	c *observer.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !tx.h.inBlock() {
		return fmt.Errorf("minidb: the function of observer %q has ended its transaction: %w",
			w.Name, ErrTxDone)
	}
	lost := tx.h.lost
	if lost == nil {
		if err := tx.h.acknowledge(target, t, c); err != nil {
			return err
		}
	}
	err := tx.commit(ctx)
	if errors.Is(err, ErrRolledBack) && lost != nil {
		return lost // the function kept it to itself
	}
	return err
}
