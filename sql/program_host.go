package sql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/interpreter"
	"github.com/minidb/minidb/table/types"
)

// programHost is the session as a program uses it: interpreter.Host.
type programHost struct {
	utility
	base   int  // savepoints of the transaction when the program began
	nested bool // the program runs within another
	// scope is what expressions of the program have access to, one value for the whole run: what
	// they hold is counted in it.
	scope *expr.Runtime
}

// end drops what the program leaves: the savepoints of blocks that an error ended.
func (h *programHost) end() {
	h.inProgram = h.nested
	h.Release(h.base)
}

// Runtime implements interpreter.Host.
func (h *programHost) Runtime(ctx context.Context) *expr.Runtime {
	now := h.runtime(ctx)
	if h.scope == nil {
		now.Memory = h.memory
		h.scope = now
		return now
	}
	h.scope.Ctx, h.scope.Location, h.scope.Session = now.Ctx, now.Location, now.Session
	h.scope.Format = now.Format
	h.scope.Format.Work, h.scope.Format.Runtime = h.scope, h.scope
	return h.scope
}

// Plan implements interpreter.Host.
func (h *programHost) Plan(ctx context.Context, st *interpreter.Statement, anew bool) error {
	ps, _ := st.Planned.(*Prepared)
	if ps == nil || anew {
		ps = &Prepared{Text: st.Text, Stmt: st.Stmt, variables: st.Variables, declared: st.Types,
			ParamTypes: st.Types, offset: 1}
		st.Planned, st.Program = ps, nil
	}
	planned := kindOf(st.Stmt).planned
	if planned == nil {
		return nil
	}
	was := ps.plan
	if was == nil { // names are resolved in the newest schema
		if err := h.newestSchema(ctx); err != nil {
			return err
		}
	}
	plan, err := h.planFor(ctx, ps, planned)
	if err != nil {
		if !h.awaitChanges(ctx, ps, planned) {
			return err
		}
		if _, err = h.recheckSchema(ctx); err == nil {
			plan, err = h.planFor(ctx, ps, planned)
		}
		if err != nil {
			return err
		}
	}
	if plan == was && st.Program != nil {
		return nil
	}
	st.Program = nil
	if e := computed(plan); e != nil && planned == st.Stmt {
		st.Program, err = eval.Compile(e)
		st.Result = plan.Root.Columns()[0].Type
	}
	return err
}

// computed returns the expression of a plan that computes one value from its parameters alone; nil
// for any other plan.
func computed(plan *physical.Plan) expr.Expr {
	if !plan.ReadOnly || plan.Lasting || len(plan.Tables) > 0 || len(plan.Needs) > 0 ||
		len(plan.CTEs) > 0 || plan.Slots > 0 {
		return nil
	}
	root := plan.Root
	var e expr.Expr
	if p, ok := root.(*physical.Project); ok && len(p.Exprs) == 1 {
		e, root = p.Exprs[0], p.Child
	}
	v, ok := root.(*physical.Values)
	switch {
	case !ok || len(v.Rows) != 1:
		return nil
	case e == nil && len(v.Rows[0]) == 1:
		e = v.Rows[0][0]
	case e == nil || len(v.Rows[0]) > 0:
		return nil
	}
	simple := true
	expr.Walk(e, func(x expr.Expr) bool {
		if _, sub := x.(*expr.Subquery); sub {
			simple = false
		}
		return simple
	})
	if !simple {
		return nil
	}
	return e
}

// Run implements interpreter.Host.
func (h *programHost) Run(ctx context.Context, st *interpreter.Statement, params []types.Datum,
	inPieces bool) (interpreter.Rows, error) {
	ps := st.Planned.(*Prepared)
	k := kindOf(st.Stmt)
	if err := mayRunInProgram(&k, st.Stmt); err != nil {
		return nil, &interpreter.Refused{Err: err}
	}
	if err := h.beginInner(ctx); err != nil {
		return nil, err
	}
	ps.arguments = params
	if inPieces && k.planned == st.Stmt && k.returnsRows {
		return h.openLoop(ctx, ps, st.Stmt, params)
	}
	src, err := k.open(h.utility, ctx, call{ps: ps, params: params})
	if err != nil {
		return nil, err
	}
	return &sourceRows{src: src}, nil
}

// mayRunInProgram refuses the statements that have no place in a program.
func mayRunInProgram(k *kind, stmt ast.Statement) error {
	if k.class == transactionControl {
		switch stmt.(type) {
		case *ast.SetTransaction, *ast.SetConstraints:
			return nil
		}
		return sqlerr.New(sqlerr.FeatureNotSupported, "unsupported transaction command in PL/pgSQL")
	}
	if c, ok := stmt.(*ast.Copy); ok && c.File == "" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot COPY to/from client in PL/pgSQL")
	}
	return nil
}

// beginInner begins a statement of a program: beginStatement without what only a client needs.
func (s *transactor) beginInner(ctx context.Context) error {
	if err := s.ensure(ctx); err != nil {
		return err
	}
	s.tx.statements++
	if n := len(s.tx.savepoints); n > 0 {
		s.tx.tx.ForgetSavepointsAfter(s.tx.savepoints[n-1].at)
	}
	if err := s.newestSchema(ctx); err != nil {
		return err
	}
	s.tx.optimistic = false
	s.setLocking(false)
	return nil
}

// sourceRows are the rows of a statement.
type sourceRows struct {
	src    source
	n      int64
	closed bool
}

// Columns implements interpreter.Rows.
func (r *sourceRows) Columns() []physical.Column { return r.src.columns() }

// Next implements interpreter.Rows.
func (r *sourceRows) Next(ctx context.Context) (*types.Batch, error) {
	b, err := r.src.next(ctx)
	if b != nil {
		r.n += int64(b.Rows())
	}
	return b, err
}

// Processed implements interpreter.Rows: the number at the end of the command tag.
func (r *sourceRows) Processed() int64 {
	tag := r.src.tag(r.n)
	n, err := strconv.ParseInt(tag[strings.LastIndexByte(tag, ' ')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Close implements interpreter.Rows.
func (r *sourceRows) Close() {
	if !r.closed {
		r.closed = true
		r.src.close()
	}
}

// openLoop opens a query as a portal: other statements run while its rows are taken.
func (h *programHost) openLoop(ctx context.Context, ps *Prepared, stmt ast.Statement,
	params []types.Datum) (interpreter.Rows, error) {
	p, err := h.openPortalFor(ctx, h.freeName(), ps, stmt, params)
	if err != nil {
		return nil, err
	}
	return &portalRows{sourceRows: sourceRows{src: &fetchSource{s: &h.client, p: p, limit: -1}},
		h: h, p: p}, nil
}

// freeName returns a name for a portal of the program.
func (h *programHost) freeName() string {
	for {
		h.unnamed++
		name := fmt.Sprintf("<unnamed portal %d>", h.unnamed)
		if h.portals[name] == nil {
			return name
		}
	}
}

// openPortalFor opens a query as a portal with a name.
func (h *programHost) openPortalFor(ctx context.Context, name string, ps *Prepared,
	stmt ast.Statement, params []types.Datum) (*Portal, error) {
	l := newPortalContext(ctx)
	runCtx, stop := l.within(ctx)
	defer stop()
	src, err := h.openPlan(runCtx, ps, stmt, params, runOptions{incremental: true})
	if err != nil {
		return nil, err
	}
	p := &Portal{context: l, Name: name, Statement: &Prepared{Text: ps.Text, source: ps.Text,
		Stmt: stmt, HasRows: true, Columns: src.columns()}}
	p.opened(src)
	if err := h.addPortal(p); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// portalRows are the rows of a loop's portal.
type portalRows struct {
	sourceRows
	h *programHost
	p *Portal
}

// Close implements interpreter.Rows. The portal may be gone, with its subtransaction.
func (r *portalRows) Close() {
	if !r.closed {
		r.closed = true
		r.p.close()
		if r.h.portals[r.p.Name] == r.p {
			delete(r.h.portals, r.p.Name)
		}
	}
}

// Begin implements interpreter.Host.
func (h *programHost) Begin(ctx context.Context) (int, error) {
	return len(h.tx.savepoints), h.addSavepoint(ctx, "")
}

// Release implements interpreter.Host.
func (h *programHost) Release(depth int) {
	if depth < len(h.tx.savepoints) {
		h.tx.savepoints = h.tx.savepoints[:depth]
	}
}

// RollBack implements interpreter.Host.
func (h *programHost) RollBack(depth int) {
	h.undoTo(depth)
	h.Release(depth)
}

// Raise implements interpreter.Host.
func (h *programHost) Raise(m *interpreter.Message) {
	h.send(&Notice{Severity: m.Level, Code: m.Code, Message: m.Message, Detail: m.Detail,
		Hint: m.Hint, Context: m.Context, Schema: m.Schema, Table: m.Table, Column: m.Column,
		DataType: m.DataType, Constraint: m.Constraint})
}

// Fault implements interpreter.Host.
func (h *programHost) Fault(ctx context.Context, err error) *sqlerr.Error {
	err = toSQL(ctx, err)
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return wrap(sqlerr.InternalError, err.Error(), err)
	}
	if error(e) == err {
		return e
	}
	out := *e
	out.Cause = err
	return &out
}

// Setting implements interpreter.Host.
func (h *programHost) Setting(name string) string {
	v, _ := h.settings.Get(name)
	return v
}

// OpenCursor implements interpreter.Cursors.
func (h *programHost) OpenCursor(ctx context.Context, name string, st *interpreter.Statement,
	params []types.Datum, scroll *bool) (string, error) {
	query, ok := st.Stmt.(*ast.Select)
	if !ok {
		return "", sqlerr.Unsupported(0, "a cursor over a statement that is no query")
	}
	if name == "" {
		name = h.freeName()
	}
	if h.portals[name] != nil {
		return "", sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already in use", name)
	}
	if err := h.beginInner(ctx); err != nil {
		return "", err
	}
	ps := st.Planned.(*Prepared)
	ps.arguments = params
	p, err := h.openPortalFor(ctx, name, ps, query, params)
	if err != nil {
		return "", err
	}
	if err := h.setScroll(ctx, p, scroll); err != nil {
		h.ClosePortal(name)
		return "", err
	}
	return name, nil
}

// FetchCursor implements interpreter.Cursors.
func (h *programHost) FetchCursor(ctx context.Context, fetch *ast.Fetch) (interpreter.Rows,
	error) {
	repeatable := !h.sideEffects
	src, err := h.openFetch(ctx, fetch)
	if repeatable {
		h.sideEffects = false // a cursor of this transaction goes with it
	}
	if err != nil {
		return nil, err
	}
	return &sourceRows{src: src}, nil
}

// CloseCursor implements interpreter.Cursors.
func (h *programHost) CloseCursor(name string) error {
	if _, err := h.findCursor(name); err != nil {
		return err
	}
	h.ClosePortal(name)
	return nil
}
