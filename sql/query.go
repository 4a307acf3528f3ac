package sql

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/template"
)

// maxAttempts bounds how often an implicit transaction is run again after a conflict. Each conflict
// means that another transaction has committed, so the database as a whole moves on.
const maxAttempts = 50

// backoff waits before attempt number attempt+1, longer each time and never the same time twice.
func backoff(ctx context.Context, attempt int) error {
	if attempt == 0 {
		return ctx.Err()
	}
	most := time.Millisecond << min(attempt-1, 6)
	t := time.NewTimer(time.Duration(rand.Int64N(int64(most)) + 1))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// smallText is how long a text may be without counting what its parse takes.
const smallText = 16 << 10

// Query runs all statements of a text: the simple protocol. They form one implicit transaction,
// except for what BEGIN and COMMIT among them say. After an error the rest is not run.
func (s *Session) Query(ctx context.Context, text string, sink Sink) error {
	s.CloseStatement("")
	s.ClosePortal("")
	if len(text) > smallText {
		var work *memory.Work
		ctx, work = memory.With(ctx, s.memory)
		defer work.End()
	}
	again := false
	if parse.ShapeOf(text, &s.shape) {
		var served bool
		var err error
		if served, again, err = s.queryTemplate(ctx, text, sink); served {
			return err
		}
	}
	stmts, err := s.parse(ctx, text, sink)
	if err != nil {
		return err
	}
	if len(stmts) == 0 {
		return sink.Empty()
	}
	if again && len(stmts) == 1 {
		s.engine.templates.Add(&s.shape, stmts[0].Stmt)
	}
	for first := 0; first < len(stmts); {
		if first, err = s.runImplicit(ctx, queried{stmts: stmts}, first, sink); err != nil {
			return err
		}
	}
	return nil
}

// parse parses the text of a Query; a cancel request and statement_timeout end that too.
func (s *Session) parse(ctx context.Context, text string, sink Sink) ([]parse.Parsed, error) {
	ctx, done := s.begin(ctx, text, sink)
	defer done()
	stmts, err := parse.Parse(ctx, text)
	if err != nil {
		err = s.toSQL(ctx, err)
		s.fail(ctx)
	}
	return stmts, err
}

// queried are the statements of a Query: parsed, or one that a template serves.
type queried struct {
	stmts    []parse.Parsed
	template *template.Template
	values   []template.Argument
}

// prepared is statement i.
func (q *queried) prepared(i int) *Prepared {
	parsed := &q.stmts[i]
	ps := &Prepared{Text: parsed.Text, Stmt: parsed.Stmt, offset: parsed.Offset}
	if q.template != nil {
		ps.Text, ps.declared, ps.template, ps.values = q.template.Text, q.template.Declared, q.template, q.values
	}
	return ps
}

// runImplicit runs statements from first on until no implicit transaction is open, and returns the
// index of the next. A conflict makes it start again, as long as the client has seen nothing.
func (s *Session) runImplicit(ctx context.Context, q queried, first int, sink Sink) (int, error) {
	sink.Mark()
	for attempt := 0; ; attempt++ {
		s.once = false
		next, implicit, err := s.runUntilCommitted(ctx, &q, first, sink)
		if err == nil {
			return next, nil
		}
		if err == errNotServed {
			return next, err
		}
		if !implicit || !s.Restart(ctx, attempt, err) || !sink.Rewind() {
			return next, s.NameConflict(ctx, err)
		}
	}
}

// runUntilCommitted is one attempt of runImplicit. implicit tells whether the error met an implicit
// transaction.
func (s *Session) runUntilCommitted(ctx context.Context, q *queried, first int, sink Sink) (next int, implicit bool, err error) {
	for i := first; i < len(q.stmts); i++ {
		implicit = s.tx.state == idle || s.tx.state == inImplicit
		if err := s.runOne(ctx, q, i, sink); err != nil {
			return i, implicit, err
		}
		if s.tx.state != inImplicit {
			return i + 1, implicit, nil
		}
	}
	return len(q.stmts), implicit, nil
}

// runOne runs one statement of a Query. The last one commits the implicit transaction before its
// completion is told; several of them make BEGIN's absence no excuse for statements that must be
// alone.
func (s *Session) runOne(ctx context.Context, q *queried, i int, sink Sink) (err error) {
	parsed := &q.stmts[i]
	ctx, done := s.begin(ctx, parsed.Text, sink)
	defer done()
	defer func() {
		if err != nil && err != errNotServed {
			err = s.toSQL(ctx, err)
			s.fail(ctx)
		}
	}()
	if s.tx.state == inFailed && !kindOf(parsed.Stmt).endsBlock {
		return errFailedTransaction()
	}
	if _, prepare := parsed.Stmt.(*ast.Prepare); parsed.Params > 0 && !prepare {
		return sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", parsed.Params).At(parsed.Offset + parameterAt(parsed.Text))
	}
	s.several = len(q.stmts) > 1
	s.single, s.prompt = !s.several, false
	ps := q.prepared(i)
	src, err := s.open(ctx, call{ps: ps, sink: sink})
	if err != nil {
		return err
	}
	p := &Portal{Statement: ps, src: src}
	defer p.close()
	if cols := src.columns(); cols != nil {
		if err := sink.Describe(cols); err != nil {
			return err
		}
	}
	n, err := s.take(ctx, p, 0, sink)
	if err != nil {
		return err
	}
	tag := src.tag(n)
	p.close()
	if err := s.refused(); err != nil {
		return err
	}
	if i == len(q.stmts)-1 && s.tx.state == inImplicit {
		copied := s.copiedInto(parsed.Stmt)
		if err := s.commit(ctx); err != nil {
			return copied.conflict(ctx, err)
		}
	}
	return sink.Complete(tag)
}

// parameterAt is where the first $n of a text stands, from 1.
func parameterAt(text string) int {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '$' && text[i+1] >= '1' && text[i+1] <= '9' {
			return i + 1
		}
	}
	return 0
}
