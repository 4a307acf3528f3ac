package minidb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// viewMaintainer advances one group of views, one advance after the other: what is committed while
// one runs is in the next.
type viewMaintainer struct {
	m         *viewMaintainers
	database  string
	ids       []table.ID
	names     []string
	observers []uint32
	wake      chan struct{}
	cancel    context.CancelFunc
	done      chan struct{}

	mu       sync.Mutex
	progress chan struct{} // closed, and made anew, by each advance
	running  bool
	at       tso.Timestamp // up to which nothing is pending
	stats    sql.ViewStats
	// hold keeps the versions that the next advance reads from being collected.
	hold *txn.Txn
}

const (
	// viewPauseFirst is the pause after an advance that failed; then it doubles.
	viewPauseFirst = 5 * time.Millisecond
	viewPauseMax   = 30 * time.Second
	// viewPauseEarly bounds the pause after an advance that found a commit under way.
	viewPauseEarly = 100 * time.Millisecond
	// viewRest is how many times as long as it took a group rests after it was computed anew, if
	// notifications of a large transaction that goes on would make it do so again at once.
	viewRest = 4
	// viewIdle is how often a group without changes moves what it keeps from being collected.
	viewIdle = 10 * time.Second
	// viewPoll is how often a group looks for what other processes have committed, of which memory
	// hears nothing.
	viewPoll = time.Second
	// viewHoldMin bounds below how long a group that cannot advance keeps old versions.
	viewHoldMin = time.Minute
)

func (w *viewMaintainer) key() string {
	return fmt.Sprint(w.database, w.ids, w.observers)
}

// start begins to advance.
func (w *viewMaintainer) start() {
	ctx, cancel := context.WithCancel(w.m.ctx)
	w.cancel, w.done = cancel, make(chan struct{})
	go func() {
		defer close(w.done)
		w.run(ctx)
	}()
}

// stop ends it, and waits for that.
func (w *viewMaintainer) stop() {
	w.cancel()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	w.release()
	w.proceed()
}

// ring wakes it.
func (w *viewMaintainer) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// pending reports whether there may be changes that no advance has taken.
func (w *viewMaintainer) pending() bool {
	for _, o := range w.observers {
		if w.m.tracker(o).Pending() {
			return true
		}
	}
	return false
}

// run advances until its context ends.
func (w *viewMaintainer) run(ctx context.Context) {
	var session *sql.Session
	defer func() {
		if session != nil {
			session.Close(context.WithoutCancel(ctx))
		}
	}()
	failures := 0
	early := 0 // advances that were too early for what is pending
	rest := time.Duration(0)
	for w.await(ctx, failures, early, rest) {
		var err error
		idle, rebuilt := false, time.Duration(0)
		if session == nil {
			session, err = w.session(ctx)
		}
		if err == nil {
			idle, rebuilt, err = w.advance(ctx, session)
		}
		rest = 0
		switch {
		case err == nil && (idle || rebuilt > 0) && w.pending():
			failures, early, rest = 0, early+1, viewRest*rebuilt // a commit is under way
		case err == nil:
			failures, early = 0, 0
		case ctx.Err() != nil:
			return
		case errors.Is(err, sql.ErrViewsChanged):
			w.m.changed() // the group ends, or goes on, when the views are listed again
			failures++
		default:
			failures++
			w.failed(err, failures)
		}
	}
}

// session opens that of the advances.
func (w *viewMaintainer) session(ctx context.Context) (*sql.Session, error) {
	return w.m.db.sql.NewSession(ctx, sql.SessionOptions{Database: w.database, Embedded: true,
		Settings: sql.MaintainerSettings(), Background: true})
}

// await waits until there is something to do. It reports false at the end.
func (w *viewMaintainer) await(ctx context.Context, failures, early int,
	rest time.Duration) bool {
	pause := viewIdle
	if w.m.db.store.Shared() {
		pause = viewPoll/2 + rand.N(viewPoll) // the processes do the same work: not all at once
	}
	switch {
	case failures > 0:
		pause = min(viewPauseFirst<<min(failures-1, 20), viewPauseMax)
	case early > 0:
		pause = max(rest, min(viewPauseFirst<<min(early-1, 20), viewPauseEarly))
	case w.first() || w.pending():
		return ctx.Err() == nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-w.wake:
			if failures == 0 && rest == 0 {
				return true
			}
		}
	}
}

// first reports whether there was no advance yet.
func (w *viewMaintainer) first() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at == 0
}

// advance runs one advance. idle reports that nothing had changed; rebuilt is how long it took if
// views were computed anew.
func (w *viewMaintainer) advance(ctx context.Context, session *sql.Session) (idle bool,
	rebuilt time.Duration, err error) {
	w.mu.Lock()
	w.running = true
	w.mu.Unlock()
	began := time.Now()
	res, err := session.AdvanceViews(ctx, w.ids, w.m.tracker)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	defer w.proceed()
	if err != nil {
		w.bound()
		return false, 0, err
	}
	w.at = res.At
	w.keep(ctx, res.At)
	if !res.Idle {
		w.stats.Advances++
		w.stats.Changes += int64(res.Changes)
		w.stats.Rebuilt += int64(res.Rebuilt)
		w.stats.Last = time.Since(began)
	}
	if res.Rebuilt > 0 {
		rebuilt = time.Since(began)
	}
	for _, err := range res.Broken {
		w.stats.Failures++ // the view's state has the error
		w.m.db.opts.logger.Error("an incremental view does not follow its tables any more",
			"database", w.database, "error", err)
	}
	return res.Idle, rebuilt, nil
}

// failed counts and logs a failure that is no fault of a view's query.
func (w *viewMaintainer) failed(err error, failures int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if repeatable(err) {
		w.stats.Conflicts++
		return
	}
	w.stats.Failures++
	w.stats.LastError, w.stats.LastFailed = err.Error(), time.Now()
	w.m.db.opts.logger.Warn("incremental views cannot be advanced, it is tried again",
		"database", w.database, "views", w.names, "attempts", failures, "error", err)
}

// proceed wakes what waits for the group. Requires: mu is held.
func (w *viewMaintainer) proceed() {
	close(w.progress)
	w.progress = make(chan struct{})
}

// keep keeps the versions that the next advance reads, those at a timestamp, from being collected,
// instead of those before. Requires: mu is held.
func (w *viewMaintainer) keep(ctx context.Context, at tso.Timestamp) {
	next, err := w.m.db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true, StartTS: at})
	if err != nil {
		next = nil // it is collected already: the next advance computes the views anew
	}
	w.release()
	w.hold = next
}

// bound gives up what a group keeps that could not advance for long. Requires: mu is held.
func (w *viewMaintainer) bound() {
	if w.hold == nil {
		return
	}
	most := max(w.m.db.opts.retention, viewHoldMin)
	if time.Since(w.hold.StartTS().Time()) > most {
		w.release()
	}
}

func (w *viewMaintainer) release() {
	if w.hold != nil {
		_ = w.hold.Rollback(context.Background())
		w.hold = nil
	}
}

// settled returns nil when the views show every commit up to a timestamp that has returned, and
// else what to wait for before asking again.
func (w *viewMaintainer) settled(ts tso.Timestamp) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at >= ts || w.at != 0 && !w.running && !w.pending() {
		return nil
	}
	return w.progress
}
