package sql

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Portal is a prepared statement with its parameters, perhaps half run. A cursor is a portal too.
type Portal struct {
	Name      string
	Statement *Prepared
	// Formats are the protocol's format codes of the result; the session only keeps them.
	Formats []int16
	// Single is set by a caller that knows that Sync follows the Execute which is to come.
	Single bool
	// Prompt is set by a caller that has not waited for its client since it prepared the statement: a snapshot
	// that was taken then is new enough.
	Prompt bool
	of     message
	params []types.Datum
	// bytes of large params are counted by account.
	bytes   int64
	account *memory.Account

	src      source         // nil before the first Execute
	plan     *physical.Plan // of src, if it has one
	columns  []physical.Column
	batch    *types.Batch // rows not yet taken start at pos
	pos      int
	finished bool
	rows     int64 // taken so far
	atEnd    bool
	done     string // the command tag of an Execute after the end

	life  *life // nil: its statement runs to the end within the first Execute
	hold  bool
	kept  bool // a held cursor whose transaction has committed
	depth int  // savepoints at its making: it dies with a rollback to one of them

	scroll    bool  // it may go backwards: its rows are in memory
	remembers bool  // it may go backwards: given are the rows that were fetched, until all are in memory
	given     *kept // nil: none yet
	failed    bool  // an Execute or a FETCH has failed
}

// life is the context of a portal that several statements run piece by piece. What the portal holds
// (iterators below) was opened in one statement and is used in later ones, so it must not end with
// the first; but the cancellation of the statement that runs it at the moment must reach it.
type life struct {
	ctx    lifeContext
	cancel context.CancelCauseFunc
}

// lifeContext is ended by life.cancel, and has ended as soon as the statement that runs the portal has.
type lifeContext struct {
	context.Context
	runs atomic.Pointer[context.Context] // of that statement
}

// Err implements context.Context. Done follows a moment after the statement's own, by a goroutine, which
// work that only looks would not wait for.
func (c *lifeContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if runs := c.runs.Load(); runs != nil {
		return (*runs).Err()
	}
	return nil
}

func newLife(ctx context.Context) *life {
	l := &life{}
	l.ctx.Context, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return l
}

// within returns the context in which a statement with context ctx runs the portal. A nil life has
// none of its own.
func (l *life) within(ctx context.Context) (context.Context, func()) {
	if l == nil {
		return ctx, func() {}
	}
	l.ctx.runs.Store(&ctx)
	stop := context.AfterFunc(ctx, func() { l.cancel(context.Cause(ctx)) })
	return &l.ctx, func() {
		stop()
		l.ctx.runs.CompareAndSwap(&ctx, nil)
	}
}

// portalSet is the layer of a session that keeps its open portals and cursors.
type portalSet struct {
	client
	portals map[string]*Portal
}

// Bind makes a portal. An unnamed one replaces the unnamed one before it.
func (s *Session) Bind(ctx context.Context, name string, ps *Prepared, params []types.Datum) (*Portal, error) {
	p, err := s.bind(ctx, ps, name, params)
	if err != nil {
		s.fail(ctx)
	}
	return p, err
}

func (s *Session) bind(ctx context.Context, ps *Prepared, name string, params []types.Datum) (*Portal, error) {
	if s.tx.state == inFailed && ps.Stmt != nil && (!kindOf(ps.Stmt).endsBlock || len(params) > 0) {
		return nil, errFailedTransaction()
	}
	if len(params) != len(ps.ParamTypes) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation,
			"bind message supplies %d parameters, but prepared statement \"%s\" requires %d", len(params), ps.Name, len(ps.ParamTypes))
	}
	if name == "" {
		s.ClosePortal("")
	} else if _, taken := s.portals[name]; taken {
		return nil, sqlerr.New(sqlerr.DuplicateCursor, "portal \"%s\" already exists", name)
	}
	if s.tx.state == idle {
		s.start(inImplicit)
	}
	p := &Portal{Name: name, Statement: ps, params: params, columns: ps.Columns, account: s.memory}
	if err := s.addPortal(p); err != nil {
		return p, err
	}
	n := types.RowSize(params)
	if n <= smallText {
		return p, nil
	}
	p.bytes = n
	err := s.memory.Grow(n)
	if err != nil {
		s.ClosePortal(name)
		s.memory.Settle()
		err = toSQL(ctx, err)
	}
	return p, err
}

func (s *Session) addPortal(p *Portal) error {
	if len(s.portals) >= maxPortals {
		return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "too many portals").
			WithHint("A session may hold %d of them; CLOSE those that are no longer needed.", maxPortals)
	}
	p.depth = len(s.tx.savepoints)
	s.portals[p.Name] = p
	return nil
}

// Portal finds a portal.
func (s *Session) Portal(name string) (*Portal, error) {
	if p := s.portals[name]; p != nil {
		return p, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidCursorName, "portal \"%s\" does not exist", name)
}

// ClosePortal forgets a portal; there need not be one.
func (s *Session) ClosePortal(name string) {
	if p := s.portals[name]; p != nil {
		p.close()
		delete(s.portals, name)
	}
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
	if p.life != nil {
		p.life.cancel(nil)
	}
	if p.given != nil {
		p.given.close()
		p.given = nil
	}
	p.account.Shrink(p.bytes)
	p.bytes = 0
	p.batch, p.finished = nil, true
}

// fail ends a portal whose statement has failed. What it held is given back at once: a failed block may wait long
// for its ROLLBACK.
func (p *Portal) fail() {
	p.failed = true
	if p.src != nil {
		p.src.close()
		p.src = tagSource("")
	}
	if p.given != nil {
		p.given.close()
		p.given = nil
	}
	p.batch = nil
}

// closePortals closes the portals of a transaction that ends; all also those that are held.
func (s *portalSet) closePortals(all bool) {
	for name, p := range s.portals {
		if all || !p.kept && !p.hold {
			p.close()
			delete(s.portals, name)
		}
	}
}

// closePortalsSince closes the portals made under the savepoint with index depth-1.
func (s *portalSet) closePortalsSince(depth int) {
	for name, p := range s.portals {
		if !p.kept && p.depth >= depth {
			p.close()
			delete(s.portals, name)
		}
	}
}

// inUse says why the transaction may not change a table, or with an index ID that index: plans of portals, and
// checks of foreign keys that wait, rest on its descriptor.
func (s utility) inUse(id table.ID, index table.IndexID) string {
	for _, p := range s.portals {
		if p.plan == nil || p.kept {
			continue
		}
		reads := slices.ContainsFunc(p.plan.Tables, func(t opt.TableVersion) bool { return t.ID == id })
		if reads && (index == 0 || exec.UsesIndex(p.plan, id, index)) {
			return "it is being used by active queries in this session"
		}
	}
	if index == 0 && s.references.Pending(id) {
		return "it has pending trigger events"
	}
	return ""
}

// needsLife reports whether the portal's statement, if it is suspended, goes on under a context of its own.
// What reads a single row holds no context. A statement that ends the transaction must not have one: it
// closes its own portal.
func (p *Portal) needsLife() bool {
	ps := p.Statement
	return ps.HasRows && kindOf(ps.Stmt).planned == ps.Stmt && !ps.readsPoint()
}

// gathered are all rows of a statement that is over.
type gathered struct {
	*kept
	of source
}

func (g gathered) tag(n int64) string { return g.of.tag(n) }

func (s *portalSet) gatherRows(ctx context.Context, src source) (source, error) {
	rows, err := s.materialise(ctx, src)
	return gathered{rows, src}, err
}

// readsPoint reports whether the statement's present plan reads one row by its key and does nothing else.
func (ps *Prepared) readsPoint() bool { return ps.plan != nil && exec.ReadsPoint(ps.plan) }
