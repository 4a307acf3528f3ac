package sql

import (
	"context"
	"slices"
	"strconv"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// openDeclare is DECLARE name CURSOR FOR query.
func (s utility) openDeclare(ctx context.Context, ps *Prepared, st *ast.DeclareCursor, params []types.Datum) (source, error) {
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
	p := &Portal{life: l, Name: st.Name, Statement: &Prepared{Text: st.Text, source: s.seen().Query, Stmt: st.Query, HasRows: true, Columns: src.columns()},
		hold: st.Hold}
	p.opened(src)
	p.scroll, p.remembers = st.Scroll != nil && *st.Scroll, st.Hold && st.Scroll == nil
	if p.scroll {
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

	account *memory.Account // counts bytes of rows
	bytes   int64
}

// grow counts n bytes more, of which the result may have limit in all (0: any number).
func (k *kept) grow(n, limit int64) error {
	k.bytes += n
	if limit > 0 && k.bytes > limit {
		k.account.Owe(n)
		return sqlerr.New(sqlerr.OutOfMemory, "the rows of a cursor exceed the memory limit of the statement").
			WithHint("Raise minidb.statement_memory, or declare the cursor NO SCROLL and WITHOUT HOLD.")
	}
	return k.account.Grow(n)
}

// countIn makes another account count the rows.
func (k *kept) countIn(a *memory.Account) {
	k.account.Move(k.bytes, a)
	k.account = a
}

func (k *kept) columns() []physical.Column { return k.cols }
func (k *kept) tag(n int64) string         { return "SELECT " + strconv.FormatInt(n, 10) }

func (k *kept) close() {
	k.account.Shrink(k.bytes)
	k.rows, k.bytes = nil, 0
}

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
func (s *portalSet) materialise(ctx context.Context, src source) (*kept, error) {
	defer src.close()
	k := &kept{cols: src.columns(), account: s.memory}
	limit := s.settings.Derived().StatementMemory
	for {
		b, err := src.next(ctx)
		if err == nil && b != nil {
			err = k.add(b, 0, b.Rows(), limit)
		}
		if err != nil {
			k.close()
			return nil, err
		}
		if b == nil {
			return k, nil
		}
	}
}

// add keeps the rows from..to of a batch.
func (k *kept) add(b *types.Batch, from, to int, limit int64) error {
	had := len(k.rows)
	k.rows = appendRows(k.rows, b, from, to)
	n := int64(0)
	for _, row := range k.rows[had:] {
		n += types.RowSize(row)
	}
	return k.grow(n, limit)
}

// holdCursors keeps the rows of WITH HOLD cursors before their transaction ends.
func (s *portalSet) holdCursors(ctx context.Context) error {
	for _, p := range s.portals {
		if !p.hold || p.kept || p.finished || p.failed {
			continue
		}
		if _, done := p.src.(*kept); done {
			continue
		}
		if err := s.keepRows(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// keepRows reads a cursor to its end into memory: all its rows if it remembers those that it has given,
// and may go backwards from now on; else those that are left.
func (s *portalSet) keepRows(ctx context.Context, p *Portal) error {
	limit := s.settings.Derived().StatementMemory
	k := &kept{cols: p.columns, account: s.memory}
	if p.given != nil {
		k, p.given = p.given, nil
		k.at = len(k.rows)
		if p.atEnd {
			k.at++
		}
	}
	err := error(nil)
	if p.batch != nil {
		err = k.add(p.batch, p.pos, p.batch.Rows(), limit)
		p.batch = nil
	}
	runCtx, stop := p.life.within(ctx)
	defer stop()
	var rest *kept
	if err == nil {
		rest, err = s.materialise(runCtx, p.src)
	}
	if err != nil {
		k.close()
		return err
	}
	k.rows = append(k.rows, rest.rows...)
	k.bytes += rest.bytes
	p.src = k
	return nil
}

// detachCursors prepares the open cursors and suspended portals for a plan that writes: they show what was
// there when they were opened (PostgreSQL's cursors are insensitive), and a scan that is not open yet would
// see the transaction's own writes.
func (s *portalSet) detachCursors(ctx context.Context, writes *physical.Plan) error {
	for _, p := range s.portals {
		if p.plan == nil || p.life == nil || p.finished || p.atEnd || uses(p.plan, opt.LocksRows) != nil {
			// What modifies has been read to its end when it gives its first row, and FOR UPDATE locks no
			// row, nor looks which version is the newest, before it is fetched.
			continue
		}
		touched := slices.ContainsFunc(uses(writes, opt.Modifies), func(id table.ID) bool {
			return slices.Contains(uses(p.plan, opt.Reads), id)
		})
		if !touched {
			continue
		}
		if err := s.detach(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// detach opens the portal's scan; rows that several scans give go into memory.
func (s *portalSet) detach(ctx context.Context, p *Portal) error {
	if _, done := p.src.(*kept); done {
		return nil
	}
	if !exec.ReadsOnce(p.plan) {
		return s.keepRows(ctx, p)
	}
	if p.batch != nil || p.rows > 0 {
		return nil
	}
	ctx, stop := p.life.within(ctx)
	defer stop()
	b, err := p.src.next(ctx)
	if b == nil {
		return err
	}
	p.batch, p.pos = b, 0
	return nil
}

// uses lists the relations with which a plan does that much at least.
func uses(p *physical.Plan, least opt.Use) (ids []table.ID) {
	for _, t := range p.Tables {
		if t.Use >= least {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// appendRows copies the rows from..to of a batch.
func appendRows(rows [][]types.Datum, b *types.Batch, from, to int) [][]types.Datum {
	for i := from; i < to; i++ {
		row := make([]types.Datum, len(b.Cols))
		for c, v := range b.Cols {
			row[c] = v.Get(b.Row(i))
		}
		rows = append(rows, row)
	}
	return rows
}

// keepHeld makes the held cursors of a committed transaction the session's.
func (s *portalSet) keepHeld() {
	for _, p := range s.portals {
		if !p.hold {
			continue
		}
		if k, ok := p.src.(*kept); ok && !p.kept {
			k.countIn(s.held)
		}
		p.kept, p.depth = true, 0
	}
}

// dropHeld closes the held cursors of a transaction that did not commit.
func (s *portalSet) dropHeld() {
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

func (s utility) execCloseCursor(st *ast.CloseCursor) (string, error) {
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
