package pgcatalog_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestScripts runs the statements of testdata/scripts and shows the rows of each, values between
// bars.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := newEngine(t)()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return run(t.Context(), s, d.Input)
		})
	})
}

// TestPostgreSQLAgrees asks PostgreSQL the same. Cases marked "own" differ from it, and say why.
func TestPostgreSQLAgrees(t *testing.T) {
	ctx, conn := t.Context(), pgtest.Connect(t)
	var differ []string
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		pgtest.Empty(t, conn)
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			if got := ask(ctx, conn, d.Input); got != d.Expected && !d.HasArg("own") {
				differ = append(differ, d.Pos+": "+d.Input+"\nminidb:\n"+d.Expected+"PostgreSQL:\n"+
					got)
			}
			return d.Expected
		})
	})
	assert.Empty(t, strings.Join(differ, "\n"))
}

// ask returns PostgreSQL's answer in the form of the golden file.
func ask(ctx context.Context, conn *pgconn.PgConn, text string) string {
	var b strings.Builder
	results, err := conn.Exec(ctx, text).ReadAll()
	for _, r := range results {
		for _, row := range r.Rows {
			values := make([]string, len(row))
			for i, v := range row {
				if values[i] = string(v); v == nil {
					values[i] = "NULL"
				}
			}
			b.WriteString(strings.Join(values, "|") + "\n")
		}
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		b.WriteString("ERROR " + e.Code + ": " + e.Message + "\n")
	}
	return b.String()
}

// newEngine opens an engine on an empty store; what it returns begins sessions.
func newEngine(t *testing.T) func() *sql.Session {
	ctx := context.Background()
	store, err := txn.Open(ctx, memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(t, err)
	cat, err := catalog.Open(ctx, store, catalog.WithPrograms(sql.Programs()))
	require.NoError(t, err)
	engine := sql.NewEngine(store, cat, sql.Options{})
	t.Cleanup(func() {
		engine.Close()
		require.NoError(t, store.Close())
	})
	return func() *sql.Session {
		s, err := engine.NewSession(ctx, sql.SessionOptions{User: "postgres"})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close(ctx) })
		return s
	}
}

func run(ctx context.Context, s *sql.Session, text string) string {
	out := &rows{session: s}
	if err := s.Query(ctx, text, out); err != nil {
		var e interface{ SQLState() string }
		errors.As(err, &e)
		out.WriteString("ERROR " + e.SQLState() + ": " + err.Error() + "\n")
	}
	return out.String()
}

// rows takes the rows of queries as text.
type rows struct {
	strings.Builder
	session *sql.Session
}

func (r *rows) Rows(b *types.Batch, from, to int) error {
	for i := from; i < to; i++ {
		for j, c := range b.Cols {
			if j > 0 {
				r.WriteString("|")
			}
			text := "NULL"
			if d := c.Get(b.Row(i)); !d.Null {
				text = types.Text(c.Type, d, r.session.Format())
			}
			r.WriteString(text)
		}
		r.WriteString("\n")
	}
	return nil
}

func (r *rows) Describe([]physical.Column) error { return nil }
func (r *rows) Complete(string) error            { return nil }
func (r *rows) Empty() error                     { return nil }
func (r *rows) Notice(*sql.Notice)               {}
func (r *rows) Mark()                            {}
func (r *rows) Rewind() bool                     { return false }

// TestSessionsShareSystemQueries reads the same views in several sessions at once: the parsed query
// of a system view is shared, so nothing may change it. The race detector watches.
func TestSessionsShareSystemQueries(t *testing.T) {
	begin := newEngine(t)
	want := run(t.Context(), begin(), readAll)
	require.NotContains(t, want, "ERROR")
	got := make(chan string)
	for range 4 {
		s := begin()
		go func() { got <- run(context.Background(), s, readAll) }()
	}
	for range 4 {
		require.Equal(t, want, <-got)
	}
}

const readAll = `
	SELECT * FROM information_schema.columns WHERE table_name = 'pg_class';
	SELECT table_name, left(view_definition, 9) FROM information_schema.views;
	SELECT count(*) FROM pg_tables; SELECT count(*) FROM pg_views WHERE definition IS NULL;
	SELECT * FROM information_schema.key_column_usage; SELECT * FROM pg_indexes;
	SELECT * FROM information_schema.table_constraints; SELECT * FROM pg_roles`
