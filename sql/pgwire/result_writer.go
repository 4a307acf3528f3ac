package pgwire

import (
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/types"
)

// resultWriter writes a session's results into the connection's output (sql.ResultWriter).
type resultWriter struct {
	c         *conn
	describes bool    // simple protocol: RowDescription comes with the rows
	function  bool    // the result is the value of a FunctionCall
	codes     []int16 // format codes of the result
	marked    mark
	format    *types.Format // of the session, once per statement
}

func (s *resultWriter) Describe(cols []physical.Column) error {
	s.format = nil
	if s.describes {
		s.c.out.rowDescription(cols, s.codes)
	}
	return s.c.out.full()
}

func (s *resultWriter) Rows(b *types.Batch, from, to int) error {
	if s.format == nil {
		s.format = s.c.session.Format()
	}
	if s.function {
		return s.c.out.functionResult(b, from, s.codes, s.format)
	}
	return s.c.out.rows(b, from, to, s.codes, s.format)
}

func (s *resultWriter) Complete(tag string) error {
	s.format = nil
	if s.function {
		return s.c.out.full()
	}
	s.c.out.complete(tag)
	return s.c.out.full()
}

func (s *resultWriter) Empty() error {
	s.c.out.simple('I')
	return s.c.out.full()
}

func (s *resultWriter) Notice(n *sql.Notice) { s.c.notice(n) }
func (s *resultWriter) Mark()                { s.marked = s.c.out.mark() }
func (s *resultWriter) Rewind() bool         { return s.c.out.rewind(s.marked) }

// checkText refuses a statement that is not valid UTF-8.
func checkText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n <= 1 {
			return sqlerr.New(sqlerr.CharacterNotInRepertoire,
				"invalid byte sequence for encoding \"UTF8\": 0x%02x", text[i])
		}
		i += n
	}
	return nil
}
