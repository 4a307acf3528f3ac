// Package shell is minidb's own SQL shell: it reads statements, runs them over PostgreSQL's
// protocol and prints results as psql does. A data directory is opened by serving it on a
// connection inside the process, so there is one way of running a statement.
package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/peterh/liner"

	"github.com/minidb/minidb/sql/parse"
)

// Shell runs statements on one connection.
type Shell struct {
	conn     *pgconn.PgConn
	out, err io.Writer
	expanded bool
	timing   bool
	// failed remembers that a statement failed, for the exit code of -c and -f.
	failed bool
}

// New returns a shell over conn, which it does not close. The notices of the server are printed if
// conn was configured with Notices.
func New(conn *pgconn.PgConn, out, errOut io.Writer) *Shell {
	return &Shell{conn: conn, out: out, err: errOut}
}

// Notices returns a handler that prints the server's notices to w.
func Notices(w io.Writer) pgconn.NoticeHandler {
	return func(_ *pgconn.PgConn, n *pgconn.Notice) {
		fmt.Fprintf(w, "%s:  %s\n", n.Severity, n.Message)
	}
}

// Run runs all statements of a script, one after the other; it goes on after an error, as psql
// does, and reports at the end whether there was one.
func (s *Shell) Run(ctx context.Context, script string) error {
	statements, rest := parse.Split(script)
	if strings.TrimSpace(rest) != "" {
		statements = append(statements, rest)
	}
	for _, text := range statements {
		text, quit := s.metaLines(ctx, text)
		if quit {
			break
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := s.statement(ctx, text); err != nil {
			return err
		}
	}
	if s.failed {
		return errors.New("a statement failed")
	}
	return nil
}

// File runs a script from a file, or from standard input for "-".
func (s *Shell) File(ctx context.Context, path string) error {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(os.Stdin)
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return err
	}
	return s.Run(ctx, string(data))
}

// Interactive reads statements from a terminal until \q or the end of input. Ctrl-C cancels the
// statement that runs, or clears the line.
func (s *Shell) Interactive(ctx context.Context, database string) error {
	line := liner.NewLiner()
	defer line.Close()
	line.SetCtrlCAborts(true)
	line.SetMultiLineMode(true)
	fmt.Fprintf(s.out, "minidb shell. End statements with a semicolon; \\? for help, \\q to "+
		"quit.\n")
	buffered := ""
	for {
		input, err := line.Prompt(s.prompt(database, buffered))
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			buffered = ""
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.out)
			return nil
		case err != nil:
			return err
		}
		if buffered == "" && strings.HasPrefix(strings.TrimSpace(input), `\`) {
			line.AppendHistory(input)
			if quit := s.meta(ctx, strings.TrimSpace(input)); quit {
				return nil
			}
			continue
		}
		statements, rest := parse.Split(buffered + input + "\n")
		buffered = rest
		if len(statements) > 0 {
			line.AppendHistory(strings.TrimSpace(strings.Join(statements, " ")))
		}
		for _, text := range statements {
			if err := s.interruptible(ctx, text); err != nil {
				return err
			}
		}
	}
}

// prompt is psql's: = ready, - inside a statement; * in a transaction, ! in a failed one.
func (s *Shell) prompt(database, buffered string) string {
	mark := "="
	if strings.TrimSpace(buffered) != "" {
		mark = "-"
	}
	state := ""
	switch s.conn.TxStatus() {
	case 'T':
		state = "*"
	case 'E':
		state = "!"
	}
	return database + mark + state + "> "
}

// interruptible runs a statement that Ctrl-C cancels on the server.
func (s *Shell) interruptible(ctx context.Context, text string) error {
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-interrupt:
			_ = s.conn.CancelRequest(ctx)
		case <-done:
		}
	}()
	return s.statement(ctx, text)
}

// statement runs and prints one statement. An error of the statement is printed; the error returned
// is the connection's.
func (s *Shell) statement(ctx context.Context, text string) error {
	start := time.Now()
	reader := s.conn.Exec(ctx, text)
	for reader.NextResult() {
		if err := s.result(reader.ResultReader()); err != nil {
			break
		}
	}
	if err := reader.Close(); err != nil {
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) {
			return err
		}
		s.failed = true
		s.report(pgErr, text)
	}
	if s.timing {
		fmt.Fprintf(s.out, "Time: %.3f ms\n", float64(time.Since(start).Microseconds())/1000)
	}
	return nil
}

func (s *Shell) result(r *pgconn.ResultReader) error {
	t := newTable(r.FieldDescriptions())
	for r.NextRow() {
		t.add(r.Values())
	}
	tag, err := r.Close()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(s.out)
	defer w.Flush()
	if r.FieldDescriptions() != nil { // of a SELECT without columns there are none, and not nil
		t.print(w, s.expanded)
		return nil
	}
	fmt.Fprintln(w, tag)
	return nil
}

// report prints an error as psql does, with the line it points at.
func (s *Shell) report(e *pgconn.PgError, text string) {
	fmt.Fprintf(s.err, "%s:  %s: %s\n", e.Severity, e.Code, e.Message)
	if e.Position > 0 {
		number, line, column := locate(text, int(e.Position))
		prefix := fmt.Sprintf("LINE %d: ", number)
		fmt.Fprintf(s.err, "%s%s\n%s^\n", prefix, line, strings.Repeat(" ", len(prefix)+column))
	}
	if e.Detail != "" {
		fmt.Fprintln(s.err, "DETAIL: ", e.Detail)
	}
	if e.Hint != "" {
		fmt.Fprintln(s.err, "HINT: ", e.Hint)
	}
}

// locate finds the line, counted from 1, and the column, counted from 0, of the character that is
// number position, counted from 1.
func locate(text string, position int) (number int, line string, column int) {
	runes := []rune(text)
	position = min(max(position-1, 0), len(runes))
	start := position
	for start > 0 && runes[start-1] != '\n' {
		start--
	}
	end := position
	for end < len(runes) && runes[end] != '\n' {
		end++
	}
	return strings.Count(string(runes[:start]), "\n") +
		1, string(runes[start:end]), position - start
}
