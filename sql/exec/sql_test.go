package exec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/sql/ddl"
	executor "github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// database runs statements from text to rows, each in a transaction of its own.
type database struct {
	t       *testing.T
	store   *txn.Store
	catalog *catalog.Catalog
	id      table.ID
	memory  int64
	spill   *spill.Dir // nil: operators hold all their rows in memory
}

func newDatabase(t *testing.T) *database {
	ctx := context.Background()
	store, err := txn.Open(ctx, kvtest.NewPoison(memkv.New(memkv.Options{})), txn.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	c, err := catalog.Open(ctx, store)
	require.NoError(t, err)
	db := &database{t: t, store: store, catalog: c}
	tx := db.begin()
	defer tx.Rollback(ctx)
	d, ok, err := c.View(tx).Database(ctx, "postgres")
	require.NoError(t, err)
	require.True(t, ok)
	db.id = d.ID
	return db
}

func (db *database) begin() *txn.Txn {
	tx, err := db.store.Begin(context.Background(), txn.BeginOptions{})
	require.NoError(db.t, err)
	return tx
}

// names finds relations in schema public.
type names struct {
	db   *database
	view *catalog.View
}

func (n names) Relation(ctx context.Context, name ast.Name) (*table.Desc, error) {
	return n.view.Relation(ctx, n.db.id, "public", name.Name)
}

func (n names) Type(_ context.Context, name ast.Name) (*types.Type, error) {
	t, _ := types.ByName(name.Name)
	return t, nil
}

func (names) TypeByOID(_ context.Context, oid types.OID) (*types.Type, error) {
	t, _ := types.ByOID(oid)
	return t, nil
}

func (n names) RelationByID(ctx context.Context, id table.ID) (*table.Desc, error) {
	return n.view.RelationByID(ctx, id)
}

// run runs one statement and prints its rows, one per line.
func (db *database) run(text string) (string, error) {
	ctx := context.Background()
	p, err := parse.ParseOne(context.Background(), text)
	if err != nil {
		return "", err
	}
	tx := db.begin()
	out, err := db.statement(ctx, tx, p.Stmt)
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		tx.Rollback(ctx)
	}
	return out, err
}

func (db *database) statement(ctx context.Context, tx *txn.Txn, stmt ast.Statement) (string,
	error) {
	view := db.catalog.View(tx)
	format := types.DefaultFormat
	rt := &expr.Runtime{Ctx: ctx, Location: time.UTC, Format: format}
	env := &planner.Env{Catalog: names{db, view}, ParseExpr: parse.ParseExpr, Runtime: rt,
		ParseQuery: func(text string) (*ast.Select, error) {
			p, err := parse.ParseOne(context.Background(), text)
			if err != nil {
				return nil, err
			}
			return p.Stmt.(*ast.Select), nil
		}}
	switch stmt.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete:
	default:
		tag, err := ddl.Execute(ctx,
			&ddl.Env{Tx: tx, Catalog: db.catalog, View: view, Planner: env, Database: db.id,
				DatabaseName: "postgres", SearchPath: []string{"public"}, Runtime: rt}, stmt)
		return tag, err
	}
	plan, err := planner.Plan(ctx, env, stmt, nil)
	if err != nil {
		return "", err
	}
	c, err := executor.Open(ctx,
		&executor.Env{Tx: tx, RowIDs: db.catalog, Runtime: rt, MemoryLimit: db.memory,
			Spill: db.spill, WorkMemory: 1}, plan, nil)
	if err != nil {
		return "", err
	}
	defer c.Close()
	var lines []string
	for {
		b, err := c.Next(ctx)
		if err != nil {
			return "", err
		}
		if b == nil {
			break
		}
		for i := range b.Rows() {
			var fields []string
			for _, v := range b.Cols {
				if d := v.Get(b.Row(i)); d.Null {
					fields = append(fields, "~")
				} else {
					fields = append(fields, types.Text(v.Type, d, &format))
				}
			}
			lines = append(lines, strings.Join(fields, "|"))
		}
	}
	if tag := tagOf(stmt, c.RowsAffected()); tag != "" {
		lines = append(lines, tag)
	}
	return strings.Join(lines, "\n"), nil
}

func tagOf(stmt ast.Statement, n int64) string {
	switch stmt.(type) {
	case *ast.Insert:
		return fmt.Sprintf("INSERT 0 %d", n)
	case *ast.Update:
		return fmt.Sprintf("UPDATE %d", n)
	case *ast.Delete:
		return fmt.Sprintf("DELETE %d", n)
	}
	return ""
}

func sortLines(lines []string) {
	slices.Sort(lines)
}

func describe(err error) string {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return "error: " + err.Error()
	}
	out := "ERROR:  " + e.Code + ": " + e.Message
	if e.Detail != "" {
		out += "\nDETAIL:  " + e.Detail
	}
	return out
}

// TestSQL runs the scripts of testdata/sql. Each statement's answer is PostgreSQL's: with
// MINIDB_TEST_POSTGRES set to psql's connection arguments, PostgreSQL answers instead, so that
// -rewrite writes what it says and a plain run compares.
func TestSQL(t *testing.T) {
	files, err := filepath.Glob("testdata/sql/*")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			run := askMinidb(newDatabase(t))
			if args := os.Getenv("MINIDB_TEST_POSTGRES"); args != "" {
				run = askPostgres(t, strings.Fields(args))
			}
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				out := run(d.Input)
				if d.HasArg("unordered") {
					lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
					sortLines(lines)
					out = strings.Join(lines, "\n") + "\n"
				}
				return out
			})
		})
	}
}

// TestSQLOnDisk runs the scripts of TestSQL with operators that may hold one batch of rows.
func TestSQLOnDisk(t *testing.T) {
	files, err := filepath.Glob("testdata/sql/*")
	require.NoError(t, err)
	dir, err := spill.NewDir(t.TempDir(), spill.Options{})
	require.NoError(t, err)
	for _, file := range files {
		db := newDatabase(t)
		db.spill = dir
		run := askMinidb(db)
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			out := run(d.Input)
			require.Zero(t, dir.Open(), d.Input)
			want := strings.Split(d.Expected, "\n")
			got := strings.Split(out, "\n")
			sortLines(want)
			sortLines(got)
			require.Equal(t, want, got, d.Input)
			return d.Expected
		})
	}
	written, _ := dir.Stats(0)
	require.Positive(t, written)
}

func askMinidb(db *database) func(string) string {
	return func(text string) string {
		out, err := db.run(text)
		if err != nil {
			return describe(err) + "\n"
		}
		if out == "" {
			return ""
		}
		return out + "\n"
	}
}

func askPostgres(t *testing.T, args []string) func(string) string {
	psql := func(stdin string, more ...string) string {
		cmd := exec.Command("psql",
			append(append([]string{"-X", "-q", "-At", "-P", "null=~"}, args...), more...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	psql("drop database if exists minidb_exec_test with (force)")
	psql("create database minidb_exec_test")
	return func(text string) string {
		out := psql("\\set QUIET off\n"+text+";", "-v", "VERBOSITY=verbose", "-d",
			"minidb_exec_test")
		var lines []string
		for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
			if l == "" || strings.HasPrefix(l, "LOCATION:") || strings.HasPrefix(l, "HINT:") ||
				strings.HasPrefix(l, "LINE ") ||
				strings.HasPrefix(strings.TrimSpace(l), "^") ||
				strings.HasPrefix(l, "SCHEMA NAME:") || strings.HasPrefix(l, "TABLE NAME:") ||
				strings.HasPrefix(l, "COLUMN NAME:") || strings.HasPrefix(l, "CONSTRAINT NAME:") ||
				strings.HasPrefix(l, "NOTICE:") {
				continue
			}
			lines = append(lines, l)
		}
		if len(lines) == 0 {
			return ""
		}
		return strings.Join(lines, "\n") + "\n"
	}
}
