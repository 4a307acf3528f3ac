package sql

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/types"
)

// The log has one record for each event of a session, made of attributes: a text of a client is
// always the value of one, which slog's handlers quote, so that it cannot pass for another record.
// Each record has the session's process ID, database, user and application, and where it is about a
// statement its text without passwords. What is logged depends on PostgreSQL's settings
// (settings.Log).

// loggedBytes bounds a text of a client in a record, and all values of parameters together.
const loggedBytes = 8 << 10

// LogSettings are the session's settings about its records.
func (s *client) LogSettings() *settings.Log { return &s.settings.Derived().Log }

// levelOf is slog's level of a severity. An error of a statement is a warning to the operator:
// most are mistakes of the client. LogError raises those that are not.
func levelOf(v settings.Severity) slog.Level {
	switch {
	case v <= settings.Debug1:
		return slog.LevelDebug
	case v == settings.Warning, v == settings.ErrorSeverity:
		return slog.LevelWarn
	case v >= settings.Fatal:
		return slog.LevelError
	}
	return slog.LevelInfo
}

var severityNames = map[settings.Severity]string{settings.Debug1: "DEBUG", settings.Info: "INFO",
	settings.NoticeSeverity: "NOTICE", settings.Warning: "WARNING",
	settings.ErrorSeverity: "ERROR", settings.LogSeverity: "LOG"}

// record writes a record on the session if log_min_messages asks for its severity.
func (s *client) record(v settings.Severity, message string, attrs ...slog.Attr) {
	s.recordAt(levelOf(v), v, message, attrs...)
}

func (s *client) recordAt(level slog.Level, v settings.Severity, message string,
	attrs ...slog.Attr) {
	ctx := context.Background()
	if v < s.LogSettings().MinMessages || !s.engine.log.Enabled(ctx, level) {
		return
	}
	all := make([]slog.Attr, 0, 6+len(attrs))
	all = append(all, slog.String("severity", severityNames[v]), slog.Int("session", int(s.pid)),
		slog.String("database", s.database), slog.String("user", s.user))
	if app := s.settings.Derived().ApplicationName; app != "" {
		all = append(all, slog.String("application", app))
	}
	if s.address != "" {
		all = append(all, slog.String("client", s.address))
	}
	s.engine.log.LogAttrs(ctx, level, message, append(all, attrs...)...)
}

// bounded returns a text of at most loggedBytes, whole characters of it.
func bounded(text string) string {
	if len(text) <= loggedBytes {
		return text
	}
	end := loggedBytes
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// statementAttrs are the text of a statement, without passwords, and its length if it was cut.
func statementAttrs(text string) []slog.Attr {
	shown, _ := parse.Conceal(text)
	attrs := []slog.Attr{slog.String("statement", bounded(shown))}
	if len(shown) > loggedBytes {
		attrs = append(attrs, slog.Int("statement_bytes", len(text)))
	}
	return attrs
}

// parametersText is what a record has of the values of parameters: each with at most so many bytes,
// or with a negative number all of it, and all together bounded. It is "" without values, and for
// a bound of 0.
func (s *client) parametersText(ts []*types.Type, values []types.Datum, most int) string {
	if most == 0 || len(values) == 0 || len(ts) < len(values) {
		return ""
	}
	var b strings.Builder
	f := &s.settings.Derived().Format
	for i := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > loggedBytes {
			b.WriteString("…")
			break
		}
		b.WriteString("$" + strconv.Itoa(i+1) + " = ")
		if values[i].Null {
			b.WriteString("NULL")
			continue
		}
		text := string(types.AppendText(nil, ts[i], values[i], f))
		b.WriteString(QuotedValue(text, most))
	}
	return b.String()
}

// QuotedValue is a value as a literal, cut to a number of bytes unless that is negative.
func QuotedValue(text string, most int) string {
	if most < 0 || most > loggedBytes {
		most = loggedBytes
	}
	if len(text) <= most {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return "'" + strings.ReplaceAll(text[:most], "'", "''") + "...'"
}

// LogError writes the record of an error that is sent to the client, of a statement of text; p is
// the portal that ran, or nil.
func (s *Session) LogError(e *sqlerr.Error, text string, p *Portal) {
	set := s.LogSettings()
	if settings.ErrorSeverity < set.MinMessages {
		return
	}
	level := levelOf(settings.ErrorSeverity)
	switch e.Code[:min(2, len(e.Code))] {
	case "53", "58", "XX": // resources, the system, the program itself
		level = slog.LevelError
	}
	_, secrets := parse.Conceal(text)
	clean := func(shown string) string {
		for _, secret := range secrets {
			shown = strings.ReplaceAll(shown, secret, "'***'")
		}
		return bounded(shown)
	}
	attrs := []slog.Attr{slog.String("sqlstate", e.Code), slog.String("error", clean(e.Message))}
	for _, f := range []struct{ name, text string }{{"detail", e.Detail}, {"hint", e.Hint},
		{"context", e.Context}} {
		if f.text != "" {
			attrs = append(attrs, slog.String(f.name, clean(f.text)))
		}
	}
	if e.Position > 0 {
		attrs = append(attrs, slog.Int("position", e.Position))
	}
	if settings.ErrorSeverity >= set.MinErrorStatement && text != "" {
		attrs = append(attrs, statementAttrs(text)...)
	}
	if p != nil {
		if values := s.parametersText(p.Statement.ParamTypes, p.params,
			set.ParametersOnError); values != "" {
			attrs = append(attrs, slog.String("parameters", values))
		}
	}
	s.recordAt(level, settings.ErrorSeverity, "statement failed", attrs...)
}

// LogConnection writes the record of a session that begins, for log_connections.
func (s *Session) LogConnection() {
	if !s.LogSettings().Connections {
		return
	}
	var attrs []slog.Attr
	if e := s.currentActivity().TLS; e != nil {
		attrs = append(attrs, slog.String("tls", e.Version), slog.String("cipher", e.Cipher))
	}
	s.record(settings.LogSeverity, "connection authorized", attrs...)
}

// LogDisconnection writes the record of a session that ends, for log_disconnections.
func (s *Session) LogDisconnection() {
	if s.LogSettings().Disconnections {
		s.record(settings.LogSeverity, "disconnection",
			slog.Float64("session_seconds", time.Since(s.started).Seconds()))
	}
}

// logNotice writes the record of a message to the client, for log_min_messages.
func (s *client) logNotice(n *Notice) {
	v := settings.SeverityNamed(strings.ToLower(n.Severity))
	if n.Severity == "DEBUG" {
		v = settings.Debug1
	}
	if v < s.LogSettings().MinMessages {
		return
	}
	attrs := []slog.Attr{slog.String("sqlstate", n.Code),
		slog.String("notice", bounded(n.Message))}
	if n.Detail != "" {
		attrs = append(attrs, slog.String("detail", bounded(n.Detail)))
	}
	s.record(v, "message to the client", attrs...)
}
