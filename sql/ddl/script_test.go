package ddl_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// TestScripts runs each statement of testdata in a session, one per line, and shows what a client
// sees. The expectations were compared with PostgreSQL 15. After each script the store is checked.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		ctx := context.Background()
		beside, err := txn.Open(ctx, memkv.New(memkv.Options{}), txn.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, beside.Close()) }()
		store, err := txn.Open(ctx, memkv.New(memkv.Options{}), txn.Options{
			Companion: func() (*txn.Store, error) { return beside, nil }})
		require.NoError(t, err)
		defer func() { require.NoError(t, store.Close()) }()
		cat, err := catalog.Open(ctx, store, catalog.WithPrograms(sql.Programs()))
		require.NoError(t, err)
		engine := sql.NewEngine(store, cat, sql.Options{})
		defer engine.Close()
		session, err := engine.NewSession(ctx, sql.SessionOptions{User: "postgres"})
		require.NoError(t, err)
		defer session.Close(ctx)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := &sink{}
			for line := range strings.Lines(d.Input) {
				line = strings.TrimSpace(line)
				if line == "" || strings.HasPrefix(line, "--") {
					continue
				}
				if err := session.Query(ctx, line, out); err != nil {
					out.fail(err)
				}
			}
			return out.String()
		})
		require.NoError(t, catalog.Check(ctx, store, func(p catalog.Problem) { t.Error(p) },
			catalog.WithPrograms(sql.Programs())))
	})
}

// sink writes down what a client would get.
type sink struct{ strings.Builder }

func (s *sink) fail(err error) {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(s, "error without a code: %v\n", err)
		return
	}
	fmt.Fprintf(s, "ERROR %s: %s\n", e.Code, e.Message)
	if e.Position > 0 {
		fmt.Fprintf(s, "POSITION %d\n", e.Position)
	}
	if e.Detail != "" {
		fmt.Fprintf(s, "DETAIL %s\n", strings.ReplaceAll(e.Detail, "\n", "\n       "))
	}
	if e.Hint != "" {
		fmt.Fprintf(s, "HINT %s\n", e.Hint)
	}
}

func (s *sink) Describe([]physical.Column) error { return nil }

func (s *sink) Rows(b *types.Batch, from, to int) error {
	for i := from; i < to; i++ {
		for j, c := range b.Cols {
			if j > 0 {
				s.WriteString("|")
			}
			if d := c.Get(b.Row(i)); !d.Null {
				s.WriteString(types.Text(c.Type, d, &types.DefaultFormat))
			}
		}
		s.WriteString("\n")
	}
	return nil
}

func (s *sink) Complete(tag string) error {
	fmt.Fprintln(s, tag)
	return nil
}
func (s *sink) Empty() error { return nil }
func (s *sink) Notice(n *sql.Notice) {
	fmt.Fprintf(s, "%s %s: %s\n", n.Severity, n.Code, n.Message)
}
func (s *sink) Mark()        {}
func (s *sink) Rewind() bool { return false }
