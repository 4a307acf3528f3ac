package sql

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/explain"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// measured is what is known of the running statement, for its record.
type measured struct {
	began   time.Time     // of the first attempt, if it is run again with its transaction
	retries int           // attempts at the transaction before this one
	waits   rowlock.Waits // of the session before the first attempt
	startTS tso.Timestamp // of the transaction that began last
	tag     string        // of the statement, once it has ended
	plan    string        // as auto_explain logs it; "": it does not
}

// measure begins to measure a statement. Requires: begin was called.
func (s *transactor) measure() {
	m := &s.measured
	if s.retries == 0 {
		m.began = s.activity.QueryStart // only this goroutine writes it
		m.waits = s.locks.Waits()
	}
	m.retries, m.tag, m.plan = s.retries, "", ""
}

// announce writes the record of a statement that is about to run, for log_statement.
func (s *transactor) announce(p *Portal) {
	set := s.LogSettings()
	if set.Statement == "none" || s.retries > 0 || p.src != nil ||
		!logged(p.Statement.Stmt, set.Statement) {
		return
	}
	s.record(settings.LogSeverity, "statement", s.describe(p)...)
}

// describe has the statement of a portal, and the values of its parameters.
func (s *transactor) describe(p *Portal) []slog.Attr {
	attrs := statementAttrs(p.Statement.Text)
	if values := s.parametersText(p.Statement.ParamTypes, p.params,
		s.LogSettings().Parameters); values != "" {
		attrs = append(attrs, slog.String("parameters", values))
	}
	return attrs
}

// logged reports whether log_statement asks for a statement.
func logged(stmt ast.Statement, what string) bool {
	if what == "all" || stmt == nil {
		return what == "all"
	}
	switch st := stmt.(type) {
	case *ast.Truncate:
		return what == "mod"
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		return what == "mod"
	case *ast.Copy:
		return what == "mod" && st.From
	case *ast.Select:
		return intoTable(st) != nil
	case *ast.Prepare:
		return logged(st.Statement, what)
	case *ast.Explain:
		return st.Analyze && logged(st.Statement, what)
	case *ast.AlterSettings, *ast.AlterRoleSettings:
		return true
	}
	_, ddl := schemaKind(stmt)
	return ddl
}

// ending is called when all rows of a statement were taken, and its source is still open.
func (s *transactor) ending(p *Portal, tag string) {
	s.measured.tag = tag
	set := &s.LogSettings().Explain
	if set.MinDuration < 0 || p.spent+time.Since(s.measured.began) < set.MinDuration {
		return
	}
	src, ok := p.src.(*planSource)
	if g, all := p.src.(gathered); all {
		src, ok = g.of.(*planSource)
	}
	if !ok {
		return
	}
	o := explain.Options{Verbose: set.Verbose, HideTiming: !set.Timing}
	if src.env.Stats {
		o.Actual, o.Changed = nodesMeasured(src.cursor), src.cursor.Changed
		o.Spilled, o.Sections = src.cursor.Spilled, src.cursor.Sections
	}
	plan := explain.Describe(src.rerun.plan, o)
	if set.JSON {
		s.measured.plan = plan.JSON()
		return
	}
	s.measured.plan = strings.Join(plan.Text(), "\n")
}

// finish writes the record of a statement that has ended without an error, if it took as long as a
// setting says. One that is suspended is measured further when it goes on.
func (s *transactor) finish(p *Portal, suspended bool) {
	set := s.LogSettings()
	if !set.Timed {
		return
	}
	took := p.spent + time.Since(s.measured.began)
	if suspended {
		p.spent = took
		return
	}
	slow := set.MinDuration >= 0 && took >= set.MinDuration || s.measured.plan != ""
	if !slow && !set.Duration {
		return
	}
	attrs := []slog.Attr{slog.Float64("duration_ms", milliseconds(took))}
	if !slow { // log_duration alone has no text
		s.record(settings.LogSeverity, "duration", attrs...)
		return
	}
	attrs = append(attrs, s.describe(p)...)
	if n, ok := affected(s.measured.tag); ok {
		if p.Statement.HasRows {
			n = p.rows // of all runs
		}
		attrs = append(attrs, slog.Int64("rows", n))
	}
	if s.measured.plan != "" {
		attrs = append(attrs, slog.String("plan", bounded(s.measured.plan)))
	}
	s.record(settings.LogSeverity, "slow statement", append(attrs, s.troubles()...)...)
}

// troubles are the waits and attempts of the running statement, where there were any, and its
// transaction.
func (s *transactor) troubles() (attrs []slog.Attr) {
	m := &s.measured
	if waits := s.locks.Waits(); waits != m.waits {
		attrs = append(attrs, slog.Int("lock_waits", waits.Number-m.waits.Number),
			slog.Float64("lock_wait_ms", milliseconds(waits.Time-m.waits.Time)))
	}
	if n := int64(m.retries) + s.progress.reruns.Load(); n > 0 {
		attrs = append(attrs, slog.Int64("retries", n))
	}
	if m.startTS != 0 {
		attrs = append(attrs, slog.String("transaction", pgcatalog.TransactionName(m.startTS)))
	}
	return attrs
}

// finishStep writes the record of another step of a statement, parse or commit, if it took long.
// Requires: begin was called for it.
func (s *transactor) finishStep(step, text string) {
	set := s.LogSettings()
	if set.MinDuration < 0 {
		return
	}
	if took := time.Since(s.activity.QueryStart); took >= set.MinDuration {
		attrs := append([]slog.Attr{slog.Float64("duration_ms", milliseconds(took)),
			slog.String("step", step)}, statementAttrs(text)...)
		s.record(settings.LogSeverity, "slow statement", append(attrs, s.troubles()...)...)
	}
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}

// affected returns the number of rows that a command tag ends with; false if there is none.
func affected(tag string) (int64, bool) {
	i := strings.LastIndexByte(tag, ' ')
	if i < 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(tag[i+1:], 10, 64)
	return n, err == nil
}

// watchLocks makes long waits for locks leave records, for log_lock_waits.
func (s *transactor) watchLocks(on bool) {
	if on == s.watchesLocks {
		return
	}
	s.watchesLocks = on
	if !on {
		s.locks.OnLongWait(nil)
		return
	}
	s.locks.OnLongWait(s.longWait)
}

// longWait writes the record of a wait that has lasted longer than deadlock_timeout, and the one of
// its end.
func (s *transactor) longWait(w rowlock.LongWait) {
	message := "still waiting for a lock"
	switch {
	case w.Over && w.Err != nil:
		message = "did not get the lock"
	case w.Over:
		message = "got the lock"
	}
	attrs := []slog.Attr{
		slog.String("lock", s.engine.waitWords(context.Background(),
			&rowlock.Wait{Key: w.Key, Mode: w.Mode})),
		slog.Float64("waited_ms", milliseconds(w.For)), slog.Any("holders", w.Holders),
		slog.Any("ahead", w.Ahead)}
	if w.Over && w.Err != nil {
		attrs = append(attrs, slog.String("error", w.Err.Error()))
	}
	attrs = append(attrs, statementAttrs(s.text)...)
	if s.measured.startTS != 0 {
		attrs = append(attrs, slog.String("transaction",
			pgcatalog.TransactionName(s.measured.startTS)))
	}
	s.record(settings.LogSeverity, message, attrs...)
}
