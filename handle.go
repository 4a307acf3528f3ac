package minidb

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
)

// handle is a session of the embedded handle. Its methods lock, so that DB.Close can end it while
// its owner still holds it.
type handle struct {
	db      *DB
	mu      sync.Mutex
	session *sql.Session
	closed  bool
	stmts   *lru.Cache[string, *sql.Prepared] // by text
	// the last conflict that a transaction may be repeated after
	lost    error
	portals int
}

const (
	keptHandles    = 32
	keptStatements = 128 // and up to as many again
	// rowsAtOnce is how many rows of a query are taken out of its transaction at a time.
	rowsAtOnce = 1024
)

// acquire takes a session out of the pool, or makes one.
func (db *DB) acquire(ctx context.Context) (*handle, error) {
	db.mu.Lock()
	if db.mu.closed {
		db.mu.Unlock()
		return nil, ErrClosed
	}
	if n := len(db.mu.idle); n > 0 {
		h := db.mu.idle[n-1]
		db.mu.idle = db.mu.idle[:n-1]
		db.mu.active[h] = struct{}{}
		db.mu.Unlock()
		if err := h.refresh(ctx); err != nil {
			db.release(h)
			return nil, err
		}
		return h, nil
	}
	db.mu.Unlock()
	return db.newHandle(ctx)
}

// refresh makes a session out of the pool as new.
func (h *handle) refresh(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	return h.session.Refresh(ctx)
}

func (db *DB) newHandle(ctx context.Context) (*handle, error) {
	s, err := db.sql.NewSession(ctx,
		sql.SessionOptions{User: db.opts.role, Database: db.opts.database, Embedded: true,
			Settings: map[string]string{"application_name": "embedded"}})
	if err != nil {
		return nil, err
	}
	h := &handle{db: db, session: s, stmts: lru.New[string, *sql.Prepared](keptStatements)}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.mu.closed {
		s.Close(context.WithoutCancel(ctx))
		return nil, ErrClosed
	}
	db.mu.active[h] = struct{}{}
	return h, nil
}

// release puts a session back: whatever it still had open is rolled back, its settings are reset.
func (db *DB) release(h *handle) {
	h.mu.Lock()
	if !h.closed {
		h.session.Reset(context.Background())
	}
	h.mu.Unlock()
	db.mu.Lock()
	delete(db.mu.active, h)
	keep := !db.mu.closed && !h.session.Terminated() && len(db.mu.idle) < keptHandles
	if keep {
		db.mu.idle = append(db.mu.idle, h)
	}
	db.mu.Unlock()
	if !keep {
		h.end()
	}
}

// end closes the session.
func (h *handle) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.session.Close(context.Background())
	}
}

// statement prepares a text, or finds it prepared for the schema as it is now.
func (h *handle) statement(ctx context.Context, text string, args []any) (ps *sql.Prepared,
	cached bool, err error) {
	if ps, ok := h.stmts.Get(text); ok {
		if params, err := bindArgs(ps.ParamTypes, args, h.session.Format()); err == nil {
			h.session.Foretell(ctx, ps, params)
		}
		if h.session.Current(ctx, ps) {
			return ps, true, nil
		}
		h.stmts.Delete(text) // the schema has changed since
	}
	ps, err = h.session.Prepare(ctx, "", text, nil, nil)
	if err != nil {
		return nil, false, err
	}
	h.stmts.Put(text, ps)
	return ps, false, nil
}

// script runs all statements of a text.
func (h *handle) script(ctx context.Context, text string) (Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return Result{}, ErrClosed
	}
	defer h.session.Answered()
	var c collector
	err := h.session.Query(ctx, text, &c)
	return Result{tag: c.tag}, h.note(err)
}

// run executes a statement with arguments. With stream, a query that writes nothing gives its first
// rows, and what is left of it is in the portal that comes back.
func (h *handle) run(ctx context.Context, text string, args []any, stream bool) (*collector,
	*sql.Portal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.session.Answered()
	for {
		if h.closed {
			return nil, nil, ErrClosed
		}
		ps, cached, err := h.statement(ctx, text, args)
		if err != nil {
			h.session.Refused(err)
			h.failed(ctx)
			return nil, nil, err
		}
		c, p, err := h.runPrepared(ctx, ps, args, stream)
		if err == nil {
			return c, p, nil
		}
		h.failed(ctx)
		_ = h.note(err)
		h.stmts.Delete(text)
		var e *sqlerr.Error
		if cached && errors.As(err, &e) && e.Code == sqlerr.FeatureNotSupported &&
			h.session.Status() == 'I' {
			continue // the schema has changed under a statement prepared long ago
		}
		return nil, nil, err
	}
}

// note remembers a conflict.
func (h *handle) note(err error) error {
	if err != nil && repeatable(err) {
		h.lost = err
	}
	return err
}

// inBlock reports whether the session has a transaction block open.
func (h *handle) inBlock() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.closed && h.session.Status() != 'I'
}

// failed ends an implicit transaction that an error left open.
func (h *handle) failed(ctx context.Context) {
	if h.session.Status() == 'I' {
		h.session.Fail(ctx)
	}
}

func (h *handle) runPrepared(ctx context.Context, ps *sql.Prepared, args []any,
	stream bool) (*collector, *sql.Portal, error) {
	params, err := bindArgs(ps.ParamTypes, args, h.session.Format())
	if err != nil {
		return nil, nil, err
	}
	limit := int64(0)
	if stream && ps.ReadOnly() {
		limit = rowsAtOnce
	}
	h.portals++
	name := "embedded " + strconv.Itoa(h.portals)
	c := &collector{}
	p, err := h.attempt(ctx, name, ps, params, limit, c)
	if err != nil {
		p, err = h.retry(ctx, name, ps, params, limit, c, err)
	}
	if err != nil {
		return nil, nil, h.session.NameConflict(ctx, err)
	}
	c.cols, c.hasRows = ps.Columns, ps.HasRows
	c.format = *h.session.Format()
	c.format.Reg = nil // it would need the transaction
	return c, p, nil
}

// retry is attempt, again after err.
func (h *handle) retry(ctx context.Context, name string, ps *sql.Prepared, params []types.Datum,
	limit int64, c *collector, err error) (p *sql.Portal, _ error) {
	err = h.session.Retry(ctx, err, func() bool { return true }, func() error {
		var err error
		p, err = h.attempt(ctx, name, ps, params, limit, c)
		return err
	})
	return p, err
}

// attempt runs a statement, and commits it unless rows are left, which are in the portal that it
// returns. An error leaves no portal.
func (h *handle) attempt(ctx context.Context, name string, ps *sql.Prepared, params []types.Datum,
	limit int64, c *collector) (p *sql.Portal, err error) {
	defer func() {
		if err != nil {
			h.session.ClosePortal(name)
		}
	}()
	c.rows, c.marked = c.first[:0], 0
	if p, err = h.session.Bind(ctx, name, ps, params); err != nil {
		return nil, err
	}
	p.Single, p.Prompt = true, true
	suspended, err := h.session.Execute(ctx, p, limit, c)
	if err != nil || suspended {
		return p, err
	}
	h.session.Release(p)
	return nil, h.session.Sync(ctx)
}

// more takes further rows of a query; done reports whether they are the last.
func (h *handle) more(ctx context.Context, p *sql.Portal, c *collector) (done bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return true, ErrClosed
	}
	defer h.session.Answered()
	suspended, err := h.session.Execute(ctx, p, rowsAtOnce, c)
	if err == nil && suspended {
		return false, nil
	}
	if err == nil {
		h.session.ClosePortal(p.Name)
		err = h.session.Sync(ctx)
	}
	return true, h.note(err)
}

// observer gives the transaction of an open block to a run of an observer; see
// sql.Session.ObserverRun.
func (h *handle) observer(ctx context.Context, name string) (t *txn.Txn, o catalog.Observed,
	ok bool,
	err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, o, false, ErrClosed
	}
	return h.session.ObserverRun(ctx, name)
}

// observerKey returns the columns of the primary key of an observer's table.
func (h *handle) observerKey(ctx context.Context, name string) ([]physical.Column, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	return h.session.ObserverKey(ctx, name)
}

// observers lists the observers of the database.
func (h *handle) observers(ctx context.Context) ([]catalog.Observed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	return h.session.Observers(ctx)
}

// acknowledge adds the acknowledgement to a run, when its function has returned.
func (h *handle) acknowledge(o *observer.Target, t *txn.Txn, c *observer.Change) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	return o.Acknowledge(t, c)
}

// drop closes a portal that is not wanted to its end.
func (h *handle) drop(p *sql.Portal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.session.ClosePortal(p.Name)
		_ = h.session.Sync(context.Background())
	}
}
