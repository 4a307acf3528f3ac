package sql

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// Portal is a prepared statement with its parameters, perhaps suspended in the middle of its rows.
// A cursor is a portal too.
type Portal struct {
	Name      string
	Statement *Prepared
	// Formats are the protocol's format codes of the result; the session only keeps them.
	Formats []int16
	// Single is set by a caller that knows that Sync follows the next Execute.
	Single bool
	// Prompt is set by a caller that has not waited for its client since it prepared the statement:
	// a snapshot taken then is still recent enough.
	Prompt bool
	of     message
	params []types.Datum
	// bytes of large params are counted by account.
	bytes   int64
	account *memory.Account

	src     source         // nil before the first Execute
	plan    *physical.Plan // of src, if it has one
	columns []physical.Column
	// made are the columns that src makes: columns, and behind them the keys of the rows at which a
	// cursor is (physical.Plan.Positions).
	made []physical.Column
	// current has the keys of the row that was fetched last; nil when the cursor is at none.
	current  []types.Datum
	batch    *types.Batch // rows not yet taken start at pos
	pos      int
	finished bool
	rows     int64 // taken so far
	atEnd    bool
	done     string        // the command tag for an Execute after the end
	spent    time.Duration // by earlier runs, if it was measured

	context   *portalContext // nil: its statement runs to the end within the first Execute
	hold      bool
	committed bool // a held cursor whose transaction has committed
	depth     int  // savepoints when it was made: a rollback to one of them closes it

	scroll bool // it may go backwards: all its rows are kept
	// it may go backwards: fetched has its rows so far, until all are kept
	remembers bool
	fetched   *materialised // nil: none yet
	failed    bool          // an Execute or a FETCH has failed
}

// portalContext is the context of a portal that several statements run piece by piece. What the
// portal holds, such as iterators, was opened by one statement and is used by later ones. So it
// must not end with the first statement, but it must end when the statement that runs it is
// cancelled.
//
// It is a context itself. Most of what a portal runs polls Err and never waits for Done, so the
// channel, and the goroutine that closes it, are made for the first that asks.
type portalContext struct {
	values context.Context // of the statement that opened the portal; it never ends
	ended  atomic.Bool     // by cancel
	// waited is the context with a channel; nil until Done is called.
	waited atomic.Pointer[cancellable]
	runs   atomic.Pointer[portalRun] // nil: no statement runs the portal
	mu     sync.Mutex                // to make and to follow waited
}

type cancellable struct {
	context.Context
	cancel context.CancelCauseFunc
}

// portalRun is a statement that runs a portal.
type portalRun struct {
	l    *portalContext
	ctx  context.Context
	stop func() bool // ends the wait for the end of ctx; nil: there is none
}

func newPortalContext(ctx context.Context) *portalContext {
	return &portalContext{values: context.WithoutCancel(ctx)}
}

// Deadline implements context.Context.
func (l *portalContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value implements context.Context. The key by which package context finds the cause of an end has
// its value in the context that ended.
func (l *portalContext) Value(key any) any {
	if w := l.waited.Load(); w != nil {
		return w.Value(key)
	}
	if v := l.values.Value(key); v != nil {
		return v
	}
	if r := l.runs.Load(); r != nil && r.ctx.Err() != nil {
		return r.ctx.Value(key)
	}
	return nil
}

// Done implements context.Context.
func (l *portalContext) Done() <-chan struct{} {
	if w := l.waited.Load(); w != nil {
		return w.Done()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.waited.Load(); w != nil {
		return w.Done()
	}
	w := &cancellable{}
	w.Context, w.cancel = context.WithCancelCause(l.values)
	l.waited.Store(w)
	if l.ended.Load() {
		w.cancel(nil)
	}
	if r := l.runs.Load(); r != nil {
		r.follow(w)
	}
	return w.Done()
}

// follow makes the channel close with the statement. Requires: mu held.
func (r *portalRun) follow(w *cancellable) {
	r.stop = context.AfterFunc(r.ctx, func() { w.cancel(context.Cause(r.ctx)) })
}

// Err implements context.Context. A goroutine closes Done a moment after the statement's own; work
// that only polls Err must not wait for that.
func (l *portalContext) Err() error {
	if w := l.waited.Load(); w != nil {
		if err := w.Err(); err != nil {
			return err
		}
	}
	if l.ended.Load() {
		return context.Canceled
	}
	if r := l.runs.Load(); r != nil {
		return r.ctx.Err()
	}
	return nil
}

// cancel ends the context for good.
func (l *portalContext) cancel() {
	l.ended.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.waited.Load(); w != nil {
		w.cancel(nil)
	}
}

// within returns the context in which a statement with context ctx runs the portal, until the
// returned function is called: it ends with ctx. A nil portalContext has none of its own.
func (l *portalContext) within(ctx context.Context) (context.Context, func()) {
	if l == nil {
		return ctx, func() {}
	}
	r := &portalRun{l: l, ctx: ctx}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs.Store(r)
	if w := l.waited.Load(); w != nil {
		r.follow(w)
	}
	return l, r.leave
}

// leave ends the run, unless another one has begun inside of it.
func (r *portalRun) leave() {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if r.stop != nil {
		r.stop()
	}
	r.l.runs.CompareAndSwap(r, nil)
}

// portalSet is the layer of a session that keeps its open portals and cursors.
type portalSet struct {
	client
	unnamed int // portals that got a name by their number
	portals map[string]*Portal
	spare   *Portal // of a transaction that is over: memory for the next one; nil: none
}

// newPortal returns a portal whose fields are zero.
func (s *portalSet) newPortal() *Portal {
	p := s.spare
	if p == nil {
		return new(Portal)
	}
	s.spare = nil
	return p
}

// recycle takes the memory of a portal that is closed, and that nothing refers to any more.
func (s *portalSet) recycle(p *Portal) {
	*p = Portal{}
	s.spare = p
}

// Release closes a portal that its owner, the caller, does not use any more.
func (s *portalSet) Release(p *Portal) {
	s.ClosePortal(p.Name)
	s.recycle(p)
}

// Columns are the columns of the portal's rows; HasRows is false for a statement without rows.
func (p *Portal) Columns() (cols []physical.Column, hasRows bool) {
	return p.columns, p.Statement.HasRows
}

func (p *Portal) close() {
	if p.src != nil {
		p.src.close()
		p.src = nil
	}
	if p.context != nil {
		p.context.cancel()
	}
	if p.fetched != nil {
		p.fetched.close()
		p.fetched = nil
	}
	p.account.Shrink(p.bytes)
	p.bytes = 0
	p.batch, p.finished = nil, true
}

// fail ends a portal whose statement has failed. It releases what the portal holds at once: a
// failed block may wait long for its ROLLBACK.
func (p *Portal) fail() {
	p.failed = true
	if p.src != nil {
		p.src.close()
		p.src = tagSource("")
	}
	if p.fetched != nil {
		p.fetched.close()
		p.fetched = nil
	}
	p.batch = nil
}

// closePortals closes the portals of a transaction that ends, and with all also cursors WITH HOLD.
func (s *portalSet) closePortals(all bool) {
	if p := s.onlyUnnamed(); p != nil {
		p.close()
		delete(s.portals, "")
		return
	}
	for name, p := range s.portals {
		if all || !p.committed && !p.hold {
			p.close()
			delete(s.portals, name)
		}
	}
}

// onlyUnnamed returns the unnamed portal, which is no cursor, if there is no other: most
// transactions end with no more than that.
func (s *portalSet) onlyUnnamed() *Portal {
	if len(s.portals) > 1 {
		return nil
	}
	return s.portals[""]
}

// closePortalsSince closes the portals made under the savepoint with index depth-1.
func (s *portalSet) closePortalsSince(depth int) {
	for name, p := range s.portals {
		if !p.committed && p.depth >= depth {
			p.close()
			delete(s.portals, name)
		}
	}
}

// message is what a portal takes from the message of the client that made it.
type message struct {
	query          bool   // of the simple protocol: its columns are announced with its rows
	text           string // of a Query as a whole
	multiStatement bool   // there are other statements in it
	last           bool   // the implicit transaction commits before the completion is sent
}

// opened sets the source that runs the statement.
func (p *Portal) opened(src source) {
	p.src, p.made = src, src.columns()
	p.columns = p.made
	if run, ok := src.(*planSource); ok {
		p.plan = run.rerun.plan
		if hidden := p.plan.Hidden(); hidden > 0 {
			p.columns = p.made[:len(p.made)-hidden]
		}
	}
}

// maxPrepared and maxPortals bound what one session holds.
const (
	maxPrepared = 10_000
	maxPortals  = 10_000
)
