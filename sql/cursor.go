package sql

import (
	"context"
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// openDeclare is DECLARE name CURSOR FOR query.
func (s *Session) openDeclare(ctx context.Context, ps *Prepared, st *ast.DeclareCursor, params []types.Datum) (source, error) {
	if st.Binary {
		return nil, sqlerr.Unsupported(int(st.Pos), "DECLARE BINARY CURSOR")
	}
	if !st.Hold && s.tx.state != inBlock && !s.several {
		return nil, sqlerr.New(sqlerr.NoActiveSQLTransaction, "DECLARE CURSOR can only be used in transaction blocks")
	}
	if _, taken := s.portals[st.Name]; taken {
		return nil, sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", st.Name)
	}
	l := newLife(ctx)
	runCtx, stop := l.within(ctx)
	defer stop()
	src, err := s.openPlan(runCtx, ps, st.Query, params, runOptions{piecemeal: true})
	if err != nil {
		return nil, err
	}
	p := &Portal{life: l, Name: st.Name, Statement: &Prepared{Text: st.Text, Stmt: st.Query, HasRows: true, Columns: src.columns()},
		hold: st.Hold}
	p.opened(src)
	if st.Scroll != nil && *st.Scroll {
		if p.src, err = s.materialise(ctx, src); err != nil {
			return nil, err
		}
	}
	s.once = true
	return tagSource("DECLARE CURSOR"), s.addPortal(p)
}

// kept is a result that is wholly in memory: a cursor that may go backwards, or one that outlives
// its transaction. It is on row at: 0 is before the first, len(rows)+1 behind the last.
type kept struct {
	cols []physical.Column
	rows [][]types.Datum
	at   int
	out  *types.Batch
}

func (k *kept) columns() []physical.Column { return k.cols }
func (k *kept) tag(n int64) string         { return "SELECT " + strconv.FormatInt(n, 10) }
func (k *kept) close()                     {}

func (k *kept) next(context.Context) (*types.Batch, error) {
	n := min(len(k.rows)-k.at, types.BatchSize)
	if n <= 0 {
		k.at = len(k.rows) + 1
		return nil, nil
	}
	b := k.batch(k.rows[k.at : k.at+n])
	k.at += n
	return b, nil
}

func (k *kept) batch(rows [][]types.Datum) *types.Batch {
	if k.out == nil {
		ts := make([]*types.Type, len(k.cols))
		for i := range k.cols {
			ts[i] = k.cols[i].Type
		}
		k.out = types.NewBatch(ts)
	}
	k.out.Reset()
	for _, r := range rows {
		k.out.AppendRow(r)
	}
	return k.out
}

// move goes to row number to and returns that row's batch, nil if there is none.
func (k *kept) move(to int) *types.Batch {
	k.at = max(0, min(to, len(k.rows)+1))
	if k.at < 1 || k.at > len(k.rows) {
		return nil
	}
	return k.batch(k.rows[k.at-1 : k.at])
}

// materialise reads a source to its end. The memory budget of a statement bounds it.
func (s *Session) materialise(ctx context.Context, src source) (*kept, error) {
	defer src.close()
	k := &kept{cols: src.columns()}
	limit, used := s.settings.Derived().StatementMemory, int64(0)
	for {
		b, err := src.next(ctx)
		if err != nil || b == nil {
			return k, err
		}
		for i := range b.Rows() {
			row := make([]types.Datum, len(b.Cols))
			used += int64(len(row)) * 96
			for c, v := range b.Cols {
				row[c] = v.Get(b.Row(i))
				used += int64(len(row[c].S))
			}
			if limit > 0 && used > limit {
				return nil, sqlerr.New(sqlerr.OutOfMemory, "the rows of a cursor exceed the memory limit of the statement").
					WithHint("Raise minidb.statement_memory, or declare the cursor NO SCROLL and WITHOUT HOLD.")
			}
			k.rows = append(k.rows, row)
		}
	}
}

// holdCursors keeps the rows that WITH HOLD cursors have not given yet, before their transaction ends.
func (s *Session) holdCursors(ctx context.Context) error {
	for _, p := range s.portals {
		if !p.hold || p.kept {
			continue
		}
		if _, done := p.src.(*kept); done || p.finished {
			continue
		}
		rest := &kept{cols: p.columns}
		if p.batch != nil {
			for i := p.pos; i < p.batch.Rows(); i++ {
				row := make([]types.Datum, len(p.batch.Cols))
				for c, v := range p.batch.Cols {
					row[c] = v.Get(p.batch.Row(i))
				}
				rest.rows = append(rest.rows, row)
			}
			p.batch = nil
		}
		runCtx, stop := p.life.within(ctx)
		more, err := s.materialise(runCtx, p.src)
		stop()
		if err != nil {
			return err
		}
		rest.rows = append(rest.rows, more.rows...)
		p.src = rest
	}
	return nil
}

// keepHeld makes the held cursors of a committed transaction the session's.
func (s *Session) keepHeld() {
	for _, p := range s.portals {
		if p.hold {
			p.kept, p.depth = true, 0
		}
	}
}

// dropHeld closes the held cursors of a transaction that did not commit.
func (s *Session) dropHeld() {
	for name, p := range s.portals {
		if p.hold && !p.kept {
			p.close()
			delete(s.portals, name)
		}
	}
}

func (s *Session) findCursor(name string) (*Portal, error) {
	if p := s.portals[name]; p != nil && name != "" {
		return p, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", name)
}

func (s *Session) execCloseCursor(st *ast.CloseCursor) (string, error) {
	s.once = true
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

// fetchSource gives some rows of a cursor: FETCH.
type fetchSource struct {
	s     *Session
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
		runCtx, stop := p.life.within(ctx)
		b, err := p.src.next(runCtx)
		stop()
		if err != nil {
			return nil, err
		}
		if b == nil {
			p.atEnd = true
			return nil, nil
		}
		p.batch, p.pos = b, 0
	}
	to := p.batch.Rows()
	if f.limit >= 0 && int64(to-p.pos) > f.limit {
		to = p.pos + int(f.limit)
	}
	out := &types.Batch{Cols: p.batch.Cols, Len: p.batch.Len}
	for i := p.pos; i < to; i++ {
		out.Sel = append(out.Sel, int32(p.batch.Row(i)))
	}
	n := int64(to - p.pos)
	f.taken += n
	if f.limit >= 0 {
		f.limit -= n
	}
	p.rows += n
	if p.pos = to; p.pos == p.batch.Rows() {
		p.batch = nil
	}
	return out, nil
}

// openFetch is FETCH and MOVE.
func (s *Session) openFetch(ctx context.Context, st *ast.Fetch) (source, error) {
	p, err := s.findCursor(st.Cursor)
	if err != nil {
		return nil, err
	}
	s.once = true
	if p.src == nil && !p.finished { // a portal of the extended protocol that has not run yet
		p.life = newLife(ctx)
		runCtx, stop := p.life.within(ctx)
		src, err := s.open(runCtx, p.Statement, p.params, nil)
		stop()
		if err != nil {
			return nil, err
		}
		p.opened(src)
	}
	if p.columns == nil {
		return nil, sqlerr.New(sqlerr.InvalidCursorState, "portal \"%s\" cannot be run", p.Name)
	}
	if k, ok := p.src.(*kept); ok {
		return s.fetchKept(p, k, st)
	}
	f := &fetchSource{s: s, p: p, limit: st.Count, moved: st.Move}
	switch st.Direction {
	case "", "next", "forward":
		if st.Direction != "forward" {
			f.limit = 1
		}
		if st.All {
			f.limit = -1
		} else if f.limit < 0 {
			return nil, notScrollable()
		}
	case "relative":
		if st.Count < 1 {
			return nil, notScrollable()
		}
		return f.skipTo(ctx, st.Count)
	case "absolute":
		if st.Count <= p.rows {
			return nil, notScrollable()
		}
		return f.skipTo(ctx, st.Count-p.rows)
	case "first":
		if p.rows > 0 {
			return nil, notScrollable()
		}
		f.limit = 1
	default:
		return nil, notScrollable()
	}
	return f, nil
}

// skipTo moves on by n rows, of which the last is the one to fetch.
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

// fetchKept fetches from a cursor whose rows are in memory, in any direction.
func (s *Session) fetchKept(p *Portal, k *kept, st *ast.Fetch) (source, error) {
	from := k.at
	var rows [][]types.Datum
	one := func(to int) {
		if b := k.move(to); b != nil {
			rows = [][]types.Datum{k.rows[k.at-1]}
		}
	}
	n := int(max(min(st.Count, int64(len(k.rows)+1)), -int64(len(k.rows)+1)))
	switch st.Direction {
	case "", "next":
		rows = k.forward(1)
	case "prior":
		rows = k.backward(1)
	case "forward", "backward":
		if st.All {
			n = len(k.rows) + 1
		}
		if st.Direction == "backward" {
			n = -n
		}
		switch {
		case n > 0:
			rows = k.forward(n)
		case n < 0:
			rows = k.backward(-n)
		default:
			one(from)
		}
	case "first":
		one(1)
	case "last":
		one(len(k.rows))
	case "absolute":
		if n < 0 {
			n += len(k.rows) + 1
		}
		one(n)
	case "relative":
		one(from + n)
	}
	if st.Move {
		return tagSource("MOVE " + strconv.Itoa(len(rows))), nil
	}
	out := newRows("FETCH", p.columns, rows)
	out.counted = true
	return out, nil
}

// forward steps n rows ahead and returns those that it went over.
func (k *kept) forward(n int) [][]types.Datum {
	from := min(k.at, len(k.rows))
	to := min(from+n, len(k.rows))
	rows := k.rows[from:to]
	if k.at = to; len(rows) < n {
		k.at = len(k.rows) + 1
	}
	return rows
}

// backward steps n rows back and returns those that it went over, nearest first.
func (k *kept) backward(n int) [][]types.Datum {
	var rows [][]types.Datum
	for ; n > 0 && k.at > 0; n-- {
		if k.at--; k.at > 0 {
			rows = append(rows, k.rows[k.at-1])
		}
	}
	return rows
}
