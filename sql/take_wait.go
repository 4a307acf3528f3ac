package sql

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
)

// takers is what the sessions of a process share that take changes of observers.
type takers struct {
	mu   sync.Mutex
	from map[uint32][]byte        // by observer: where the next search begins
	wait map[uint32]chan struct{} // by observer: closed when something was notified or freed
}

// position returns the key at which a search for changes begins, nil for the first.
func (t *takers) position(id uint32) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.from[id]
}

// moveOn makes the next search begin at a key, at the first one if it is nil.
func (t *takers) moveOn(id uint32, key []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key == nil {
		delete(t.from, id)
		return
	}
	if t.from == nil {
		t.from = map[uint32][]byte{}
	}
	t.from[id] = key
}

// woken returns a channel that is closed by the next wake of the observer.
func (t *takers) woken(id uint32) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wait == nil {
		t.wait = map[uint32]chan struct{}{}
	}
	if t.wait[id] == nil {
		t.wait[id] = make(chan struct{})
	}
	return t.wait[id]
}

// wake wakes the sessions that wait for changes of an observer; of every observer if id is 0.
func (t *takers) wake(id uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for of, c := range t.wait {
		if id == 0 || of == id {
			close(c)
			delete(t.wait, of)
		}
	}
}

// Notified wakes the sessions that wait in minidb_take for changes of an observer, or of every one
// if id is 0.
func (e *Engine) Notified(id uint32) { e.takers.wake(id) }

// takePause is how long minidb_take waits before it looks again without having been woken: another
// process may have notified the observer, or freed what it had taken.
const takePause = 100 * time.Millisecond

// nothingTaken ends a statement in which minidb_take has found nothing, and may go on. The
// statement is run again, on a new snapshot.
type nothingTaken struct {
	woken <-chan struct{} // nil: at once
	until time.Time       // when the wait is over
}

func (*nothingTaken) Error() string {
	return "minidb_take() cannot look again for changes in a statement that has done something else"
}

// SQLState is the code of the error where nothing runs the statement again.
func (*nothingTaken) SQLState() string { return sqlerr.FeatureNotSupported }

// takeWait is the wait of a transaction in minidb_take.
type takeWait struct {
	until time.Time // when it is over; zero: it has not begun
	// woken is closed by what was notified since before the present snapshot was drawn.
	woken <-chan struct{}
}

// takenNothing decides what comes after a call that has found nothing: a step of the observer's
// backfill, or a wait.
func (s *planRunner) takenNothing(ctx context.Context, t *taking, wait *time.Duration) error {
	more, err := t.prepareMore(ctx)
	if err != nil {
		return err
	}
	if more && s.refreshable() {
		return &nothingTaken{}
	}
	s.engine.takers.moveOn(t.target.ID, nil)
	if _, err := t.target.CleanUp(ctx, s.engine.store); err != nil {
		return err
	}
	if wait == nil {
		return nil
	}
	w := &s.tx.takes
	if w.until.IsZero() {
		w.until = time.Now().Add(*wait)
	}
	if !time.Now().Before(w.until) {
		return nil
	}
	// The first snapshot is from before this call was to be woken, so another one follows at once.
	none := &nothingTaken{woken: w.woken, until: w.until}
	w.woken = t.woken
	return none
}

// prepareMore takes a step of a table-level change, or of the observer's backfill, in transactions
// of its own. more reports that a later snapshot may show something to take.
func (t *taking) prepareMore(ctx context.Context) (more bool, err error) {
	store := t.s.engine.store
	for _, place := range t.places {
		_, found, err := t.target.Carry(ctx, store, place)
		if err != nil || found == observer.Pending {
			return true, unlessConflict(err)
		}
	}
	keys, _, err := t.target.BackfillStep(ctx, store)
	return err != nil || len(keys) > 0, unlessConflict(err)
}

// unlessConflict returns nil where another transaction has taken the step, which is as good.
func unlessConflict(err error) error {
	var conflict *txn.WriteConflictError
	if errors.As(err, &conflict) {
		return nil
	}
	return err
}

// takeAgain runs a statement again in which minidb_take has found nothing, after a wait that holds
// no snapshot. Requires: the client has got no row of it.
func (p *planSource) takeAgain(ctx context.Context, none *nothingTaken) error {
	s, r := p.s, &p.rerun
	if r.rowsReturned || !s.refreshable() {
		return none
	}
	if err := p.cursor.Close(); err != nil {
		return err
	}
	if err := s.dropSnapshot(ctx); err != nil {
		return err
	}
	s.waits("MinidbTake")
	err := none.await(ctx)
	s.waits("")
	if err != nil {
		return err
	}
	if err := s.ensure(ctx); err != nil {
		return err
	}
	var current bool
	current, err = s.sameTables(ctx, r.plan)
	if err == nil && !current {
		err = p.replan(ctx, none)
	}
	if err != nil {
		return err
	}
	env := s.execEnv(ctx, p.env.Stats)
	env.Incremental, env.Runtime.Ctx = p.env.Incremental, ctx
	p.env, r.tx, r.readTS = env, s.tx.tx, s.tx.tx.ReadTS()
	p.checked = !r.plan.ChecksLater
	p.mark()
	p.cursor, err = exec.Open(ctx, p.env, r.plan, r.params)
	return err
}

func (n *nothingTaken) await(ctx context.Context) error {
	if n.woken == nil {
		return ctx.Err()
	}
	timer := time.NewTimer(min(takePause, time.Until(n.until)))
	defer timer.Stop()
	select {
	case <-n.woken:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
