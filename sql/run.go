package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// A statement of a client runs in one way, whichever messages bring it: Query and Execute make a
// portal, run opens it (open, by its kind), takes its rows, and sends the completion.

// Execute runs a portal, for at most limit rows if limit is not 0. It reports whether the portal
// was suspended with rows perhaps left; otherwise the result writer's Complete (or Empty) has been
// called.
func (s *Session) Execute(ctx context.Context, p *Portal, limit int64,
	results ResultWriter) (suspended bool, err error) {
	return s.run(ctx, p, limit, results)
}

// run is Execute. When it returns an error, the implicit transaction has ended or the block has
// failed. Only errNotServed leaves everything as it was.
func (s *Session) run(ctx context.Context, p *Portal, limit int64,
	results ResultWriter) (suspended bool, err error) {
	text := p.Statement.Text
	if p.of.query {
		text = p.of.text
	}
	ctx = s.begin(ctx, text, results)
	defer s.end()
	s.measure()
	s.announce(p)
	s.tally.runs(s.clock, statementKindOf(p.Statement.Stmt))
	suspended, err = s.proceed(ctx, p, limit, results)
	if err == nil {
		s.finish(p, suspended)
	} else if err != errNotServed {
		if p.src != nil {
			p.fail()
		}
		err = s.toSQL(ctx, s.confirmed(ctx, err))
		s.fail(ctx)
	}
	s.tally.ran(err, s.tx.state == inImplicit)
	return suspended, err
}

// proceed opens the portal's statement, or continues it.
func (s *Session) proceed(ctx context.Context, p *Portal, limit int64,
	results ResultWriter) (suspended bool, err error) {
	ps := p.Statement
	// Sync commits a COPY of the extended protocol, and does not know that it ends a COPY: so such
	// a COPY is not single, and locks its rows.
	_, copying := ps.Stmt.(*ast.Copy)
	s.multiStatement, s.prompt = p.of.multiStatement, p.Prompt
	s.single = p.Single && (p.of.query || !copying)
	if ps.Stmt == nil {
		return false, results.Empty()
	}
	if p.finished && !p.failed && ps.HasRows && s.tx.state != inFailed {
		return false, results.Complete(p.done)
	}
	if err := s.advisoryLast(); err != nil {
		return false, err
	}
	if err := s.runnable(p); err != nil {
		return false, err
	}
	if p.src == nil {
		if err := s.openPortal(ctx, p, limit, results); err != nil {
			return false, err
		}
	}
	n, err := s.take(ctx, p, limit, results)
	if err != nil {
		return false, err
	}
	if !p.atEnd {
		s.tally.rows = n
		return true, nil
	}
	return false, s.complete(ctx, p, n, results)
}

// runnable returns why a portal cannot run now.
func (s *Session) runnable(p *Portal) error {
	ps := p.Statement
	switch {
	case s.tx.state == inFailed && !kindOf(ps.Stmt).endsBlock:
		return errFailedTransaction()
	case ps.unbound > 0:
		return sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d",
			ps.unbound).At(ps.offset + parameterAt(ps.Text))
	case p.failed || p.finished:
		return errCannotRun(p.Name)
	}
	return nil
}

// parameterAt returns the position of the first $n of a text, from 1.
func parameterAt(text string) int {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '$' && text[i+1] >= '1' && text[i+1] <= '9' {
			return i + 1
		}
	}
	return 0
}

// openPortal begins to run the portal's statement. The client takes at most limit of its rows (0:
// all) at a time. As in PostgreSQL there are three kinds of statements:
//   - one without rows has run when openPortal returns, and ignores the limit;
//   - a planned one with rows is run piece by piece;
//   - any other (FETCH, EXECUTE, SHOW, EXPLAIN) makes all rows at once, which are returned in
//     pieces.
func (s *Session) openPortal(ctx context.Context, p *Portal, limit int64,
	results ResultWriter) error {
	src, err := s.openSource(ctx, p, limit, results)
	if err != nil {
		return err
	}
	p.opened(src)
	if cols := src.columns(); cols != nil && p.of.query {
		return results.Describe(cols)
	}
	return nil
}

func (s *Session) openSource(ctx context.Context, p *Portal, limit int64,
	results ResultWriter) (source, error) {
	if limit > 0 && p.context == nil && p.needsContext() {
		p.context = newPortalContext(ctx)
	}
	runCtx, stop := p.context.within(ctx)
	defer stop()
	src, err := s.open(runCtx, call{ps: p.Statement, params: p.params, results: results,
		options: runOptions{inPieces: limit > 0, point: limit == 0 || p.Statement.isPointRead()}})
	if err != nil || limit == 0 || p.context != nil {
		return src, err
	}
	if p.needsContext() { // it was planned anew
		src.close()
		return s.openSource(ctx, p, limit, results)
	}
	switch src.(type) {
	case *planSource, *fetchSource:
		if src.columns() != nil && !p.Statement.isPointRead() {
			return s.gatherRows(ctx, src)
		}
	}
	return src, nil
}

// open starts a statement: one without rows has run when open returns.
func (s *Session) open(ctx context.Context, c call) (source, error) {
	k := kindOf(c.ps.Stmt)
	if k.class == transactionControl {
		return k.open(utility{s}, ctx, c)
	}
	if s.tx.state == idle {
		s.start(inImplicit)
	}
	if k.class == sessionCommand {
		return k.open(utility{s}, ctx, c)
	}
	if past := s.asOf(c.ps.Stmt); past != nil {
		with, err := s.argumentsOf(ctx, c.ps, c.params)
		if err != nil {
			return nil, err
		}
		if err := s.readPast(ctx, past, with); err != nil {
			return nil, err
		}
	}
	if err := s.beginStatement(ctx, &k); err != nil {
		return nil, err
	}
	s.tx.ran = true
	return k.open(utility{s}, ctx, c)
}

// take passes up to limit rows (0: all) of the portal to the result writer, and returns their
// number.
func (s *Session) take(ctx context.Context, p *Portal, limit int64, results ResultWriter) (int64,
	error) {
	ctx, stop := p.context.within(ctx)
	defer stop()
	var n int64
	for {
		if p.batch == nil {
			b, err := p.src.next(ctx)
			if err != nil {
				return n, err
			}
			if b == nil {
				p.atEnd, p.current = true, nil
				return n, nil
			}
			p.batch, p.pos = b, 0
		}
		to := p.batch.Rows()
		if limit > 0 && int64(to-p.pos) > limit-n {
			to = p.pos + int(limit-n)
		}
		if to > p.pos && results != nil {
			if err := s.awaitDurable(ctx); err != nil {
				return n, err
			}
			if err := results.Rows(p.shown(), p.pos, to); err != nil {
				return n, err
			}
		}
		n += int64(to - p.pos)
		p.rows += int64(to - p.pos)
		p.noteCurrent(to - 1)
		if p.pos = to; p.pos == p.batch.Rows() {
			p.batch = nil
		}
		if limit > 0 && n == limit {
			return n, nil
		}
	}
}

// complete ends a statement whose rows have all been taken, n of them by this run.
func (s *Session) complete(ctx context.Context, p *Portal, n int64, results ResultWriter) error {
	tag := p.src.tag(n)
	s.ending(p, tag)
	s.tally.rows = rowsOf(tag)
	if p.Statement.HasRows {
		p.done = p.src.tag(0)
	}
	p.close()
	if err := s.serializationError(); err != nil {
		return err
	}
	if p.of.last && s.tx.state == inImplicit {
		copied := s.copiedInto(p.Statement.Stmt)
		if err := s.commit(ctx); err != nil {
			return copied.conflict(ctx, err)
		}
	}
	return results.Complete(tag)
}

// Sync ends the implicit transaction of the extended protocol, if there is one. Its portals are
// gone then, unless it returns an error: Rewound brings them back.
func (s *Session) Sync(ctx context.Context) error {
	if s.tx.state != inImplicit {
		return nil
	}
	dirty := s.tx.tx != nil && s.tx.tx.Dirty() // otherwise the commit takes no time
	if dirty {
		ctx = s.begin(ctx, s.text, nil)
		defer s.end()
	}
	p := s.onlyUnnamed()
	err := s.commit(ctx)
	if dirty && err == nil {
		s.finishStep("commit", s.text)
	}
	if err == nil && p != nil {
		s.recycle(p)
	}
	err = s.toSQL(ctx, err)
	s.tally.failed(err)
	return err
}

// Fail ends the implicit transaction, or makes a block fail, because a message had an error before
// it reached the session.
func (s *Session) Fail(ctx context.Context) { s.fail(ctx) }

// needsContext reports whether the portal's statement needs a context of its own if it is
// suspended. A read of a single row holds nothing that needs it. A statement that ends the
// transaction must not have one: it closes its own portal.
func (p *Portal) needsContext() bool {
	ps := p.Statement
	return ps.HasRows && kindOf(ps.Stmt).planned == ps.Stmt && !ps.isPointRead()
}

// gathered are all rows of a statement that has ended.
type gathered struct {
	*materialised
	of source
}

func (g gathered) tag(n int64) string { return g.of.tag(n) }

func (s *portalSet) gatherRows(ctx context.Context, src source) (source, error) {
	rows, err := s.materialise(ctx, src)
	return gathered{rows, src}, err
}
