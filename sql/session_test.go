package sql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/copyfmt"
	"github.com/minidb/minidb/table/types"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newSession(t testing.TB, e *sql.Engine) *sql.Session {
	t.Helper()
	s, err := e.NewSession(context.Background(), sql.SessionOptions{User: "postgres"})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// newSnapshotSession is newSession with transactions that keep their snapshot.
func newSnapshotSession(t testing.TB, e *sql.Engine) *sql.Session {
	t.Helper()
	s := newSession(t, e)
	require.NoError(t, query(s, "SET default_transaction_isolation = 'repeatable read'"))
	return s
}

// query runs a text and forgets its results.
func query(s *sql.Session, text string) error {
	return s.Query(context.Background(), text, &transcript{s: s})
}

// mustQuery returns the results of a text that runs without an error.
func mustQuery(t *testing.T, s *sql.Session, text string) string {
	t.Helper()
	w := &transcript{s: s}
	require.NoError(t, s.Query(context.Background(), text, w), text)
	return w.b.String()
}

// fails returns the error of a text that must have one, of the given code.
func fails(t *testing.T, s *sql.Session, text, code string) *sqlerr.Error {
	t.Helper()
	var e *sqlerr.Error
	require.ErrorAs(t, query(s, text), &e, text)
	require.Equal(t, code, e.Code, "%s: %v", text, e)
	return e
}

// codeOf is the SQLSTATE of an error, "" if there is none.
func codeOf(err error) string {
	var e *sqlerr.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	default:
		return "without a code: " + err.Error()
	}
}

func pid(s *sql.Session) string { return strconv.Itoa(int(s.PID())) }

// transcript writes results as lines (sql.CopyWriter).
type transcript struct {
	b      strings.Builder
	s      *sql.Session
	marked int
	sent   bool // behave like output that has left: no rewinding
	input  []string
}

func (w *transcript) Describe(cols []physical.Column) error {
	names := make([]string, len(cols))
	for i := range cols {
		names[i] = cols[i].Name
	}
	fmt.Fprintf(&w.b, "[%s]\n", strings.Join(names, " "))
	return nil
}

func (w *transcript) Rows(b *types.Batch, from, to int) error {
	for i := from; i < to; i++ {
		cells := make([]string, len(b.Cols))
		for c, v := range b.Cols {
			if d := v.Get(b.Row(i)); d.Null {
				cells[c] = "NULL"
			} else {
				cells[c] = types.Text(v.Type, d, w.s.Format())
			}
		}
		fmt.Fprintln(&w.b, strings.Join(cells, "|"))
	}
	return nil
}

func (w *transcript) Complete(tag string) error {
	fmt.Fprintln(&w.b, tag)
	return nil
}

func (w *transcript) Empty() error {
	fmt.Fprintln(&w.b, "(empty)")
	return nil
}

func (w *transcript) Notice(n *sql.Notice) {
	fmt.Fprintf(&w.b, "%s %s: %s\n", n.Severity, n.Code, n.Message)
}

func (w *transcript) Mark() { w.marked = w.b.Len() }

func (w *transcript) Rewind() bool {
	if w.sent {
		return false
	}
	kept := w.b.String()[:w.marked]
	w.b.Reset()
	w.b.WriteString(kept)
	return true
}

func (w *transcript) CopyIn(columns int, binary bool) (copyfmt.Source, error) {
	fmt.Fprintf(&w.b, "(copy in %d)\n", columns)
	return w, nil
}

func (w *transcript) Next() ([]byte, error) {
	if len(w.input) == 0 {
		return nil, io.EOF
	}
	piece := w.input[0]
	w.input = w.input[1:]
	return []byte(piece), nil
}

func (w *transcript) CopyOut(columns int, binary bool) error {
	fmt.Fprintf(&w.b, "(copy out %d)\n", columns)
	return nil
}

func (w *transcript) CopyData(b []byte) error {
	fmt.Fprintf(&w.b, "%q\n", b)
	return nil
}

func (w *transcript) CopyDone() error { return nil }

func (w *transcript) fail(err error) {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(&w.b, "ERROR without a code: %v\n", err)
		return
	}
	fmt.Fprintf(&w.b, "ERROR %s: %s\n", e.Code, e.Message)
	if e.Detail != "" && !strings.Contains(e.Detail, "OID") {
		fmt.Fprintf(&w.b, "DETAIL: %s\n", e.Detail)
	}
	if e.Position != 0 {
		fmt.Fprintf(&w.b, "at %d\n", e.Position)
	}
}

// script runs the commands of a golden script. Sessions are made when they are first named.
//
//	query s=a            the text as one Query message
//	copy s=a             the first line is the COPY, the rest its data
//	prepare s=a name=x   Parse; shows what Describe would
//	bind s=a portal=p name=x args=(1,2)
//	execute s=a portal=p limit=1
//	close s=a portal=p
//	sync s=a
//	status s=a
type script struct {
	e        *sql.Engine
	sessions map[string]*sql.Session
	t        *testing.T
}

func (sc *script) session(name string) *sql.Session {
	if s := sc.sessions[name]; s != nil {
		return s
	}
	sc.sessions[name] = newSession(sc.t, sc.e)
	return sc.sessions[name]
}

func arg(d *datadriven.TestData, key string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

func (sc *script) run(t *testing.T, d *datadriven.TestData) string {
	ctx := context.Background()
	s := sc.session(arg(d, "s"))
	w := &transcript{s: s}
	var err error
	switch d.Cmd {
	case "query":
		err = s.Query(ctx, d.Input, w)
	case "copy":
		lines := strings.SplitAfter(d.Input+"\n", "\n")
		w.input = lines[1:]
		err = s.Query(ctx, strings.TrimSpace(lines[0]), w)
	case "prepare":
		err = sc.prepare(s, arg(d, "name"), d.Input, w)
	case "bind":
		err = sc.bind(s, d)
	case "execute":
		var p *sql.Portal
		if p, err = s.Portal(arg(d, "portal")); err == nil {
			var limit int64
			fmt.Sscan(arg(d, "limit"), &limit)
			var suspended bool
			if suspended, err = s.Execute(ctx, p, limit, w); suspended {
				fmt.Fprintln(&w.b, "(suspended)")
			}
		}
	case "close":
		s.ClosePortal(arg(d, "portal"))
	case "sync":
		err = s.Sync(ctx)
	case "status":
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	if err != nil {
		s.Fail(ctx)
		w.fail(err)
	}
	for _, r := range s.Settings().Changed() {
		fmt.Fprintf(&w.b, "%s=%s\n", r.Name, r.Value)
	}
	fmt.Fprintf(&w.b, "%c\n", s.Status())
	return w.b.String()
}

func (sc *script) prepare(s *sql.Session, name, text string, w *transcript) error {
	ps, err := s.Prepare(context.Background(), name, text, nil, w)
	if err != nil {
		return err
	}
	params := make([]string, len(ps.ParamTypes))
	for i, t := range ps.ParamTypes {
		params[i] = t.Name
	}
	fmt.Fprintf(&w.b, "params [%s]\n", strings.Join(params, " "))
	if !ps.HasRows {
		fmt.Fprintln(&w.b, "no data")
		return nil
	}
	return w.Describe(ps.Columns)
}

func (sc *script) bind(s *sql.Session, d *datadriven.TestData) error {
	ps, err := s.Statement(arg(d, "name"))
	if err != nil {
		return err
	}
	var params []types.Datum
	if text := arg(d, "args"); text != "" {
		for i, a := range strings.Split(text, ",") {
			v, err := types.ParseText(ps.ParamTypes[i], a, nil)
			if err != nil {
				return err
			}
			params = append(params, v)
		}
	}
	_, err = s.Bind(context.Background(), arg(d, "portal"), ps, params)
	return err
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/session", func(t *testing.T, path string) {
		sc := &script{e: newEngine(t), sessions: map[string]*sql.Session{}, t: t}
		datadriven.RunTest(t, path, sc.run)
	})
}

// TestSetSessionCharacteristicsStays (S1) when later statements fail, and goes with the block that
// set it when that is rolled back, as SET default_transaction_… does.
func TestSetSessionCharacteristicsStays(t *testing.T) {
	for _, set := range []string{"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " +
		"SERIALIZABLE, READ ONLY, DEFERRABLE",
		"SET default_transaction_isolation = serializable; SET default_transaction_read_only = " +
			"on; SET default_transaction_deferrable = on"} {
		s := newSession(t, newEngine(t))
		modes := func() string {
			return mustQuery(t, s, "SELECT current_setting('transaction_isolation') AS level, "+
				"current_setting('default_transaction_read_only') AS ro, "+
				"current_setting('default_transaction_deferrable') AS deferrable")
		}
		const was, is = "[level ro deferrable]\nread committed|off|off\nSELECT 1\n",
			"[level ro deferrable]\nserializable|on|on\nSELECT 1\n"
		fails(t, s, set+"; SELECT 1 / 0", sqlerr.DivisionByZero)
		require.Equal(t, was, modes(), "it went with its transaction")
		mustQuery(t, s, "BEGIN; "+set+"; ROLLBACK")
		require.Equal(t, was, modes())
		mustQuery(t, s, "BEGIN; SAVEPOINT a; "+set+"; ROLLBACK TO a; COMMIT")
		require.Equal(t, was, modes())
		mustQuery(t, s, set)
		fails(t, s, "SELECT 1 / 0", sqlerr.DivisionByZero)
		require.Equal(t, is, modes())
		fails(t, s, "CREATE TABLE t (i int)", sqlerr.ReadOnlySQLTransaction)
		fails(t, s, "CREATE TABLE t (i int)", sqlerr.ReadOnlySQLTransaction)
	}
}
