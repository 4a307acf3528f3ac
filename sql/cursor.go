package sql

import (
	"context"
	"slices"

	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
)

// materialise reads a source to its end.
func (s *portalSet) materialise(ctx context.Context, src source) (*materialised, error) {
	k := s.newMaterialised(src.columns())
	if err := k.readAll(ctx, src); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// readAll adds the rows of a source, which it closes.
func (k *materialised) readAll(ctx context.Context, src source) error {
	defer src.close()
	for {
		b, err := src.next(ctx)
		if b == nil || err != nil {
			return err
		}
		if err := k.add(ctx, b, 0, b.Rows()); err != nil {
			return err
		}
	}
}

// holdCursors keeps the rows of WITH HOLD cursors before their transaction ends.
func (s *portalSet) holdCursors(ctx context.Context) error {
	if s.onlyUnnamed() != nil {
		return nil
	}
	for _, p := range s.portals {
		if !p.hold || p.committed || p.finished || p.failed {
			continue
		}
		if _, done := p.src.(*materialised); done {
			continue
		}
		if err := s.keepRows(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// keepRows reads a cursor to its end. If the cursor remembers the rows that it has
// returned, it keeps all its rows, and may go backwards from now on; otherwise it keeps those that
// are left.
func (s *portalSet) keepRows(ctx context.Context, p *Portal) error {
	k := s.newMaterialised(p.made)
	if p.fetched != nil {
		k, p.fetched = p.fetched, nil
		k.at = k.len()
		if p.atEnd {
			k.at++
		}
	}
	err := error(nil)
	if p.batch != nil {
		err = k.add(ctx, p.batch, p.pos, p.batch.Rows())
		p.batch = nil
	}
	runCtx, stop := p.context.within(ctx)
	defer stop()
	if err == nil {
		err = k.readAll(runCtx, p.src)
	}
	if err != nil {
		k.close()
		return err
	}
	p.src = k
	return nil
}

// detachCursors prepares the open cursors and suspended portals for a plan that writes. They show
// what was there when they were opened (PostgreSQL's cursors are insensitive), but a scan that is
// not open yet would see the transaction's own writes.
func (s *portalSet) detachCursors(ctx context.Context, writes *physical.Plan) error {
	for _, p := range s.portals {
		if p.plan == nil || p.context == nil || p.finished || p.atEnd ||
			usedRelations(p.plan, opt.LocksRows) != nil {
			// A statement that modifies has been read to its end when it returns its first row. FOR
			// UPDATE locks a row, and finds its newest version, when the row is fetched.
			continue
		}
		touched := slices.ContainsFunc(usedRelations(writes, opt.Modifies), func(id table.ID) bool {
			return slices.Contains(usedRelations(p.plan, opt.Reads), id)
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

// detach opens the portal's scan, so that it does not see what is written from now on. The rows of
// a plan with several scans are kept.
func (s *portalSet) detach(ctx context.Context, p *Portal) error {
	if _, done := p.src.(*materialised); done {
		return nil
	}
	if !exec.ReadsOnce(p.plan) {
		return s.keepRows(ctx, p)
	}
	if p.batch != nil || p.rows > 0 {
		return nil
	}
	ctx, stop := p.context.within(ctx)
	defer stop()
	b, err := p.src.next(ctx)
	if b == nil {
		return err
	}
	p.batch, p.pos = b, 0
	return nil
}

// usedRelations lists the relations that a plan uses at least as strongly as least.
func usedRelations(p *physical.Plan, least opt.Use) (ids []table.ID) {
	for _, t := range p.Tables {
		if t.Use >= least {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// keepHeld makes the WITH HOLD cursors of a committed transaction belong to the session.
func (s *portalSet) keepHeld() {
	for _, p := range s.portals {
		if !p.hold {
			continue
		}
		if k, ok := p.src.(*materialised); ok && !p.committed {
			k.rows.CountIn(s.held)
		}
		p.committed, p.depth = true, 0
	}
}

// dropHeld closes the WITH HOLD cursors of a transaction that did not commit.
func (s *portalSet) dropHeld() {
	for name, p := range s.portals {
		if p.hold && !p.committed {
			p.close()
			delete(s.portals, name)
		}
	}
}
