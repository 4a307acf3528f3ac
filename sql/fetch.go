package sql

import (
	"context"
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// fetchSource gives some rows of a cursor: FETCH.
type fetchSource struct {
	s     *client
	p     *Portal
	limit int64 // < 0: all that are left
	taken int64
	moved bool // MOVE: count, show nothing
}

func (f *fetchSource) columns() []physical.Column {
	if f.moved {
		return nil
	}
	return f.p.columns
}

func (f *fetchSource) close() {}

func (f *fetchSource) tag(n int64) string {
	if f.moved {
		return "MOVE " + strconv.FormatInt(f.taken, 10)
	}
	return "FETCH " + strconv.FormatInt(n, 10)
}

func (f *fetchSource) next(ctx context.Context) (*types.Batch, error) {
	for {
		b, err := f.rows(ctx)
		if err != nil {
			f.p.fail()
		}
		if b == nil || err != nil || !f.moved {
			return b, err
		}
	}
}

// rows gives the next rows, as a batch whose selection is what FETCH may have.
func (f *fetchSource) rows(ctx context.Context) (*types.Batch, error) {
	p := f.p
	if f.limit == 0 || p.atEnd && p.batch == nil {
		return nil, nil
	}
	if p.batch == nil {
		runCtx, stop := p.context.within(ctx)
		b, err := p.src.next(runCtx)
		stop()
		if err != nil {
			return nil, err
		}
		if b == nil {
			p.atEnd, p.current = true, nil
			return nil, nil
		}
		p.batch, p.pos = b, 0
	}
	to := p.batch.Rows()
	if f.limit >= 0 && int64(to-p.pos) > f.limit {
		to = p.pos + int(f.limit)
	}
	out := &types.Batch{Cols: p.batch.Cols[:len(p.columns)], Len: p.batch.Len}
	for i := p.pos; i < to; i++ {
		out.Sel = append(out.Sel, int32(p.batch.Row(i)))
	}
	if p.remembers {
		if err := f.remember(ctx, to); err != nil {
			return nil, err
		}
	}
	n := int64(to - p.pos)
	f.taken += n
	if f.limit >= 0 {
		f.limit -= n
	}
	p.rows += n
	p.noteCurrent(to - 1)
	if p.pos = to; p.pos == p.batch.Rows() {
		p.batch = nil
	}
	return out, nil
}

// rememberedMax bounds what a cursor keeps for the case that it goes backwards, in bytes: most that
// were declared without SCROLL never do, and may be read through however many rows they have.
const rememberedMax = 16 << 20

// remember keeps the rows of the batch up to to. Once they are too many the cursor forgets them,
// and only goes forward from then on. One WITH HOLD keeps all: it needs them at the commit.
func (f *fetchSource) remember(ctx context.Context, to int) error {
	p := f.p
	if p.fetched == nil {
		p.fetched = f.s.newMaterialised(p.made)
	}
	if err := p.fetched.add(ctx, p.batch, p.pos, to); err != nil {
		return err
	}
	if p.fetched.rows.Bytes() > rememberedMax && !p.hold {
		p.fetched.close()
		p.fetched, p.remembers = nil, false
	}
	return nil
}

// describeFetch returns the columns of the cursor, if they are known yet.
func (s utility) describeFetch(stmt ast.Statement) ([]physical.Column, bool, error) {
	st := stmt.(*ast.Fetch)
	if p, ok := s.portals[st.Cursor]; ok && !st.Move && p.columns != nil {
		return p.columns, true, nil
	}
	return nil, false, nil
}

// openFetch is FETCH and MOVE. A cursor on which one of them has failed cannot be used any more.
func (s utility) openFetch(ctx context.Context, st *ast.Fetch) (source, error) {
	p, err := s.findCursor(st.Cursor)
	if err != nil {
		return nil, err
	}
	s.sideEffects = true
	if p.failed {
		return nil, errCannotRun(p.Name)
	}
	src, err := s.fetch(ctx, p, st)
	p.failed = err != nil
	return src, err
}

func (s utility) fetch(ctx context.Context, p *Portal, st *ast.Fetch) (source, error) {
	if p.src == nil && !p.finished { // a portal of the extended protocol that has not run yet
		p.context = newPortalContext(ctx)
		runCtx, stop := p.context.within(ctx)
		src, err := s.open(runCtx, call{ps: p.Statement, params: p.params})
		stop()
		if err != nil {
			return nil, err
		}
		p.opened(src)
	}
	if p.columns == nil {
		return nil, errCannotRun(p.Name)
	}
	if p.remembers && !goesForward(st) {
		if _, done := p.src.(*materialised); !done {
			if err := s.keepRows(ctx, p); err != nil {
				return nil, err
			}
		}
	}
	if k, ok := p.src.(*materialised); ok && (p.scroll || p.remembers) {
		return s.fetchKept(p, k, st)
	}
	return s.fetchOnward(ctx, p, st)
}

func errCannotRun(portal string) error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "portal \"%s\" cannot be run", portal)
}

// goesForward reports whether a FETCH asks only for rows after the cursor's position.
func goesForward(st *ast.Fetch) bool {
	switch st.Direction {
	case "", ast.FetchNext:
		return true
	case ast.FetchForward:
		return st.All || st.Count > 0
	case ast.FetchRelative:
		return st.Count > 0
	}
	return false
}

// fetchOnward fetches from a cursor that can only go forward. Which commands it refuses is
// PostgreSQL's DoPortalRunFetch: FIRST is ABSOLUTE 1, and ABSOLUTE n goes back to the start if that
// is nearer than the cursor's position, even when the row lies ahead.
func (s utility) fetchOnward(ctx context.Context, p *Portal, st *ast.Fetch) (source, error) {
	f := &fetchSource{s: &s.client, p: p, limit: st.Count, moved: st.Move}
	switch st.Direction {
	case "", ast.FetchNext:
		f.limit = 1
		return f, nil
	case ast.FetchForward:
		return f.forward(st)
	case ast.FetchBackward:
		return f.backward(st)
	case ast.FetchRelative:
		switch {
		case st.Count > 0:
			return f.skipTo(ctx, st.Count)
		case st.Count == 0:
			return f.refetch()
		}
	case ast.FetchFirst:
		return f.absolute(ctx, 1)
	case ast.FetchAbsolute:
		return f.absolute(ctx, st.Count)
	}
	return nil, notScrollable()
}

// atStart reports whether the cursor is before its first row.
func (f *fetchSource) atStart() bool { return f.p.rows == 0 && !f.p.atEnd }

// forward is FETCH FORWARD n or ALL.
func (f *fetchSource) forward(st *ast.Fetch) (source, error) {
	switch {
	case st.All:
		f.limit = -1
		return f, nil
	case st.Count > 0:
		return f, nil
	case st.Count == 0:
		return f.refetch()
	}
	return nil, notScrollable()
}

// backward is FETCH BACKWARD n or ALL, of which only what does not go back is possible.
func (f *fetchSource) backward(st *ast.Fetch) (source, error) {
	switch {
	case !st.All && st.Count < 0:
		f.limit = -st.Count
		return f, nil
	case st.Move && !st.All && st.Count == 0:
		return f.refetch()
	case st.Move && st.All && f.atStart():
		return tagSource("MOVE 0"), nil
	}
	return nil, notScrollable()
}

// absolute is FETCH ABSOLUTE n.
func (f *fetchSource) absolute(ctx context.Context, n int64) (source, error) {
	at := f.p.rows
	if f.p.atEnd {
		at++
	}
	switch {
	case n == 0 && f.atStart():
		f.limit = 0
		return f, nil
	case n > at && (f.atStart() || n-1 > f.p.rows/2):
		return f.skipTo(ctx, n-at)
	}
	return nil, notScrollable()
}

// refetch is FETCH 0: the row on which the cursor is, if any, once more. MOVE only counts it.
func (f *fetchSource) refetch() (source, error) {
	f.limit = 0
	switch {
	case f.p.rows == 0 || f.p.atEnd:
		return f, nil
	case f.moved:
		return tagSource("MOVE 1"), nil
	}
	return nil, notScrollable()
}

// skipTo moves forward by n rows; the last of them is the one to fetch.
func (f *fetchSource) skipTo(ctx context.Context, n int64) (source, error) {
	for f.limit = n - 1; f.limit > 0; {
		b, err := f.rows(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
	}
	f.limit, f.taken = 1, 0
	return f, nil
}

func notScrollable() error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "cursor can only scan forward").
		WithHint("Declare it with SCROLL option to enable backward scan.")
}

// fetchKept fetches from a cursor whose rows are kept, in any direction.
func (s utility) fetchKept(p *Portal, k *materialised, st *ast.Fetch) (source, error) {
	from := k.at
	var rows passed
	n := int(max(min(st.Count, int64(k.len()+1)), -int64(k.len()+1)))
	switch st.Direction {
	case "", ast.FetchNext:
		rows = k.forward(1)
	case ast.FetchPrior:
		rows = k.backward(1)
	case ast.FetchForward, ast.FetchBackward:
		if st.All {
			n = k.len() + 1
		}
		if st.Direction == ast.FetchBackward {
			n = -n
		}
		switch {
		case n > 0:
			rows = k.forward(n)
		case n < 0:
			rows = k.backward(-n)
		default:
			rows = k.move(from)
		}
	case ast.FetchFirst:
		rows = k.move(1)
	case ast.FetchLast:
		rows = k.move(k.len())
	case ast.FetchAbsolute:
		if n < 0 {
			n += k.len() + 1
		}
		rows = k.move(n)
	case ast.FetchRelative:
		rows = k.move(from + n)
	}
	if st.Move {
		return tagSource("MOVE " + strconv.Itoa(rows.count)), nil
	}
	return newKeptSource(k, p.columns, rows)
}

// openDeclare is DECLARE name CURSOR FOR query.
func (s utility) openDeclare(ctx context.Context, ps *Prepared, st *ast.DeclareCursor,
	params []types.Datum) (source, error) {
	if st.Binary {
		return nil, sqlerr.Unsupported(int(st.Pos), "DECLARE BINARY CURSOR")
	}
	if !st.Hold && s.tx.state != inBlock && !s.multiStatement && !s.inProgram {
		return nil, sqlerr.New(sqlerr.NoActiveSQLTransaction,
			"DECLARE CURSOR can only be used in transaction blocks")
	}
	if _, taken := s.portals[st.Name]; taken {
		return nil, sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", st.Name)
	}
	l := newPortalContext(ctx)
	runCtx, stop := l.within(ctx)
	defer stop()
	src, err := s.openPlan(runCtx, ps, st.Query, params, runOptions{incremental: true})
	if err != nil {
		return nil, err
	}
	p := &Portal{context: l, Name: st.Name,
		Statement: &Prepared{Text: st.Text, source: s.currentActivity().Query, Stmt: st.Query,
			HasRows: true},
		hold: st.Hold}
	p.opened(src)
	p.Statement.Columns = p.columns
	if err := s.setScroll(ctx, p, st.Scroll); err != nil {
		return nil, err
	}
	s.sideEffects = true
	return tagSource("DECLARE CURSOR"), s.addPortal(p)
}

// setScroll makes a cursor go backwards if it was declared SCROLL, or neither SCROLL nor NO SCROLL
// and its plan can go back.
func (s *portalSet) setScroll(ctx context.Context, p *Portal, scroll *bool) (err error) {
	if scroll == nil {
		p.remembers = p.plan != nil && p.plan.GoesBack()
		return nil
	}
	if p.scroll = *scroll; p.scroll {
		p.src, err = s.materialise(ctx, p.src)
	}
	return err
}

func (s utility) execCloseCursor(st *ast.CloseCursor) (string, error) {
	s.sideEffects = true
	if st.All {
		for name, p := range s.portals {
			if name != "" {
				p.close()
				delete(s.portals, name)
			}
		}
		return "CLOSE CURSOR ALL", nil
	}
	if _, err := s.findCursor(st.Name); err != nil {
		return "", err
	}
	s.ClosePortal(st.Name)
	return "CLOSE CURSOR", nil
}
