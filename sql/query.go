package sql

import (
	"context"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/template"
)

// Query runs all statements of a text: the simple protocol. They form one implicit transaction,
// unless BEGIN and COMMIT among them make others. After an error the rest is not run.
func (s *Session) Query(ctx context.Context, text string, results ResultWriter) error {
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
		if served, again, err = s.queryTemplate(ctx, text, results); served {
			return err
		}
	}
	stmts, err := s.parse(ctx, text, results)
	if err != nil {
		return err
	}
	if len(stmts) == 0 {
		return results.Empty()
	}
	if again && len(stmts) == 1 {
		s.engine.templates.Add(&s.shape, stmts[0].Stmt)
	}
	for first := 0; first < len(stmts); {
		if first, err = s.runImplicit(ctx, &queried{text: text, stmts: stmts}, first,
			results); err != nil {
			return err
		}
	}
	return nil
}

// parse parses the text of a Query; a cancel request and statement_timeout end that too.
func (s *Session) parse(ctx context.Context, text string, results ResultWriter) ([]parse.Parsed,
	error) {
	ctx = s.begin(ctx, text, results)
	defer s.end()
	s.tally.begins(s.clock)
	stmts, err := parse.Parse(ctx, text)
	if err != nil {
		err = s.toSQL(ctx, err)
		s.Refused(err)
		s.fail(ctx)
	}
	return stmts, err
}

// queried are the statements of a Query: the parsed ones, or the one of a template.
type queried struct {
	text     string // of the message
	stmts    []parse.Parsed
	template *template.Template
	values   []template.Argument
}

// portal returns a portal of statement i.
func (q *queried) portal(i int) *Portal {
	parsed := &q.stmts[i]
	one := len(q.stmts) == 1
	made := &struct { // a single allocation
		portal   Portal
		prepared Prepared
	}{
		prepared: Prepared{Text: parsed.Text, Stmt: parsed.Stmt, offset: parsed.Offset},
		portal: Portal{Single: one, of: message{query: true, text: q.text,
			multiStatement: !one, last: i == len(q.stmts)-1}},
	}
	ps := &made.prepared
	made.portal.Statement = ps
	if _, prepare := parsed.Stmt.(*ast.Prepare); !prepare {
		ps.unbound = parsed.Params
	}
	if q.template != nil {
		ps.Text, ps.declared, ps.template, ps.values = q.template.Text, q.template.Declared,
			q.template, q.values
	}
	return &made.portal
}

// runImplicit runs statements from first on until no implicit transaction is open, and returns the
// index of the next statement. After a conflict it starts again, as long as the client has seen
// nothing.
func (s *Session) runImplicit(ctx context.Context, q *queried, first int,
	results ResultWriter) (int, error) {
	results.Mark()
	s.sideEffects = false
	next, implicit, err := s.runUntilCommitted(ctx, q, first, results)
	if err == nil || err == errNotServed {
		return next, err
	}
	if implicit {
		return s.retryImplicit(ctx, q, first, results, err)
	}
	return next, s.NameConflict(ctx, err)
}

// retryImplicit is runImplicit after the first attempt.
func (s *Session) retryImplicit(ctx context.Context, q *queried, first int, results ResultWriter,
	err error) (next int, _ error) {
	err = s.Retry(ctx, err, results.Rewind, func() error {
		var err error
		next, _, err = s.runUntilCommitted(ctx, q, first, results)
		return err
	})
	return next, s.NameConflict(ctx, err)
}

// runUntilCommitted is one attempt of runImplicit. implicit reports whether the error met an
// implicit transaction.
func (s *Session) runUntilCommitted(ctx context.Context, q *queried, first int,
	results ResultWriter) (next int, implicit bool, err error) {
	for i := first; i < len(q.stmts); i++ {
		implicit = s.tx.state == idle || s.tx.state == inImplicit
		if _, err := s.run(ctx, q.portal(i), 0, results); err != nil {
			return i, implicit, err
		}
		if s.tx.state != inImplicit {
			return i + 1, implicit, nil
		}
	}
	return len(q.stmts), implicit, nil
}

// queryTemplate runs the text of the session's shape by a template. served is false if no template
// can run it; again then reports that a template may be made from the text.
func (s *Session) queryTemplate(ctx context.Context, text string, results ResultWriter) (served,
	again bool, err error) {
	t, again := s.engine.templates.Find(&s.shape)
	if t == nil {
		return false, again, nil
	}
	values, ok := t.Arguments(&s.shape)
	if !ok {
		return false, false, nil
	}
	one := []parse.Parsed{{Stmt: t.Stmt, Text: text[s.shape.First:s.shape.End]}}
	q := &queried{text: text, stmts: one, template: t, values: values}
	_, err = s.runImplicit(ctx, q, 0, results)
	if err == errNotServed {
		s.tx.statements-- // there was none
		t.Refused()
		return false, false, nil
	}
	t.Served()
	return true, false, err
}
