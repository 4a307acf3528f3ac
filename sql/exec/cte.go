package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// cte is a materialised WITH query. It is read as far as its readers ask for, so that LIMIT over an
// endless recursion ends; every reader has a position of its own in the rows. If none of those
// readers that are built when the first one asks is below a LIMIT, that one will ask for all rows.
type cte struct {
	run     *run
	def     *physical.CTE
	first   operator // the query, or a recursion's first term
	step    operator // the recursive term
	rows    *rowLog
	opened  bool
	ended   bool
	busy    bool // its rows are being made
	err     error
	seen    *keyTable // UNION: all rows so far
	round   int       // rows before it were read by the recursive term in earlier rounds
	fresh   int       // rows from round up to here are this round's work table
	working bool      // the recursive term runs
	sel     []int32
	found   []int32
}

// cteByID finds or makes the state of a WITH query.
func (r *run) cteByID(id int) (*cte, error) {
	if c := r.ctes[id]; c != nil {
		return c, nil
	}
	for i := range r.plan.CTEs {
		def := &r.plan.CTEs[i]
		if def.ID != id {
			continue
		}
		c := r.newCTE(def)
		if len(r.ev.Vars) > 0 && !def.Modifies {
			free := slotSet{}
			r.freeInCTE(id, free)
			r.watch(free, c.forget)
		}
		return c, nil
	}
	return nil, sqlerr.New(sqlerr.InternalError, "no WITH query with number %d", id)
}

// newCTE makes the state of a WITH query, which readers find by its ID from then on.
func (r *run) newCTE(def *physical.CTE) *cte {
	ts := columnTypes(def.Plan)
	c := &cte{run: r, def: def, rows: newRowLog(r, ts)}
	if def.Recursive != nil && !def.UnionAll {
		c.seen = newKeyTable(&r.mem, ts)
	}
	if r.ctes == nil {
		r.ctes = map[int]*cte{}
	}
	r.ctes[def.ID] = c
	return c
}

// runModifying runs the WITH queries that modify to their ends, as far as their readers have not
// done so. It runs the last one first, as PostgreSQL does, because it may read the earlier ones.
func (r *run) runModifying(ctx context.Context) error {
	for i := len(r.plan.CTEs) - 1; i >= 0; i-- {
		if !r.plan.CTEs[i].Modifies {
			continue
		}
		c, err := r.cteByID(r.plan.CTEs[i].ID)
		if err != nil {
			return err
		}
		for more := true; more; {
			if more, err = c.more(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget makes the query run again, because a variable that it reads has changed.
func (c *cte) forget() {
	c.opened, c.ended, c.working = false, false, false
	c.round, c.fresh = 0, 0
	c.rows.reset()
	if c.seen != nil {
		c.seen.reset()
	}
}

// more adds rows, or reports that there are no more.
func (c *cte) more(ctx context.Context) (bool, error) {
	if c.ended || c.err != nil {
		return false, c.err
	}
	if c.busy { // a wrong plan fails the statement here, and would otherwise recurse without end
		return false, sqlerr.New(sqlerr.InternalError, "a WITH query reads itself")
	}
	c.busy = true
	more, err := c.advance(ctx)
	c.busy, c.err = false, err
	if !more && err == nil {
		c.ended = true
		c.err = c.closeOps()
	}
	return more, c.err
}

func (c *cte) advance(ctx context.Context) (bool, error) {
	if !c.opened {
		if err := c.open(ctx); err != nil {
			return false, err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		op := c.first
		if c.working {
			op = c.step
		}
		b, err := op.Next(ctx)
		if err != nil {
			return false, err
		}
		if b != nil {
			n, err := c.add(ctx, b)
			if n > 0 || err != nil {
				return err == nil, err
			}
			continue
		}
		if c.step == nil {
			return false, nil
		}
		// A round has ended: its rows are the next one's work table.
		if c.working {
			c.round = c.fresh
		}
		if c.fresh = c.rows.len; c.fresh == c.round {
			return false, nil
		}
		c.working = true
		if err := c.step.Open(ctx); err != nil {
			return false, err
		}
	}
}

func (c *cte) open(ctx context.Context) (err error) {
	c.opened = true
	before := c.run.partial
	c.run.partial = c.def.Recursive != nil || !c.run.plan.ReadOnly || c.run.cteCut[c.def.ID]
	defer func() { c.run.partial = before }()
	if c.first == nil {
		if c.first, err = c.run.build(c.def.Plan); err != nil {
			return err
		}
	}
	if c.def.Recursive != nil && c.step == nil {
		if c.step, err = c.run.build(c.def.Recursive); err != nil {
			return err
		}
	}
	return c.first.Open(ctx)
}

// add appends the rows of b; for UNION only those that were not there before.
func (c *cte) add(ctx context.Context, b *types.Batch) (n int, err error) {
	sel := selection(b)
	if c.seen != nil {
		if c.sel, c.found, err = c.seen.addNew(b.Cols, sel, c.sel, c.found); err != nil {
			return 0, err
		}
		sel = c.sel
	}
	return len(sel), c.rows.add(ctx, b.Cols, sel)
}

func (c *cte) closeOps() error {
	var ops []operator
	for _, op := range []operator{c.first, c.step} {
		if op != nil {
			ops = append(ops, op)
		}
	}
	return closeAll(ops...)
}

func (c *cte) close() {
	c.closeOps()
	c.rows.free()
	if c.seen != nil {
		c.seen.free()
	}
}

// cteScan reads a WITH query; with work set, it reads the last round's rows within the recursive
// term.
type cteScan struct {
	run  *run
	id   int
	work bool
	c    *cte
	logReader
	part types.Batch
}

func (r *run) buildCTEScan(n *physical.CTEScan) (operator, error) {
	if r.partial {
		if r.cteCut == nil {
			r.cteCut = map[int]bool{}
		}
		r.cteCut[n.ID] = true
	}
	return &cteScan{run: r, id: n.ID, work: n.WorkTable}, nil
}

func (s *cteScan) Open(context.Context) error {
	c, err := s.run.cteByID(s.id)
	if err != nil {
		return err
	}
	s.c = c
	at := 0
	if s.work {
		at = c.round
	}
	s.open(c.rows, at)
	return nil
}

func (s *cteScan) Close() error {
	s.closeDisk()
	return nil
}

func (s *cteScan) Next(ctx context.Context) (*types.Batch, error) {
	if s.work {
		return s.nextWork()
	}
	for s.at >= s.c.rows.len {
		more, err := s.c.more(ctx)
		if err != nil || !more {
			return nil, err
		}
	}
	return s.next()
}

// nextWork returns the next rows of the work table, which ends before the rows of this round.
func (s *cteScan) nextWork() (*types.Batch, error) {
	if s.at >= s.c.fresh {
		return nil, nil
	}
	b, err := s.next()
	if b == nil || err != nil || s.at <= s.c.fresh {
		return b, err
	}
	sel := selection(b)
	s.part = types.Batch{Cols: b.Cols, Len: b.Len, Sel: sel[:len(sel)-(s.at-s.c.fresh)]}
	return &s.part, nil
}
