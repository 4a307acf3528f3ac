package ri_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// TestScripts runs the commands of testdata/scripts over two tables,
//
//	parent (a, b, n, PRIMARY KEY (a, b))
//	child (id PRIMARY KEY, a, b, CONSTRAINT fk FOREIGN KEY (a, b) REFERENCES parent)
//
// with a host that shows the statements of the checks, and finds as many rows as a command says.
//
//	foreign-key [on-delete=…] [on-update=…] [match-full] [deferrable] [deferred]
//	                     an empty store with these tables
//	insert, delete       a row a line: child 1 2 3
//	update               parent 1 2 0 -> 1 3 0
//	check [finds=N] [newer]
//	                     the end of a statement; N rows match each query, and with newer there are
//	                     some that the snapshot does not show
//	commit [finds=N]     the deferred checks
//	set-constraints [deferred]
//	savepoint, rollback-to
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		f := &fixture{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "foreign-key" {
				f = newFixture(t, d)
				return ""
			}
			f.said.Reset()
			if err := f.do(t, d); err != nil {
				var e *sqlerr.Error
				if errors.As(err, &e) {
					fmt.Fprintf(&f.said, "ERROR %s: %s\n", e.Code, e.Message)
					if e.Detail != "" {
						fmt.Fprintf(&f.said, "DETAIL: %s\n", e.Detail)
					}
				} else {
					fmt.Fprintf(&f.said, "ERROR: %v\n", err)
				}
			}
			return f.said.String()
		})
	})
}

// fixture is a transaction with its queue, and the host of the queue.
type fixture struct {
	tx            *txn.Txn
	parent, child *table.Desc
	queue         *ri.Queue
	savepoint     ri.Savepoint

	said  strings.Builder
	finds int64
	newer bool
}

const (
	parentID table.ID = 16384
	childID  table.ID = 16385
)

func newFixture(t *testing.T, d *datadriven.TestData) *fixture {
	ctx := context.Background()
	store, err := txn.Open(ctx, memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(t, err)
	f := &fixture{}
	f.tx, err = store.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, f.tx.Rollback(ctx))
		require.NoError(t, store.Close())
	})
	fk := table.ForeignKey{OID: 20000, Name: "fk", Columns: []table.ColumnID{2, 3},
		RefTable: parentID, RefColumns: []table.ColumnID{1, 2}, OnDelete: "no action",
		OnUpdate: "no action", MatchFull: d.HasArg("match-full"),
		Deferrable:        d.HasArg("deferrable") || d.HasArg("deferred"),
		InitiallyDeferred: d.HasArg("deferred")}
	for name, action := range map[string]*string{"on-delete": &fk.OnDelete,
		"on-update": &fk.OnUpdate} {
		if d.HasArg(name) {
			d.ScanArgs(t, name, action)
			*action = strings.ReplaceAll(*action, "-", " ")
		}
	}
	f.parent = relation(t, parentID, "parent", []string{"a", "b", "n"}, 2)
	f.child = relation(t, childID, "child", []string{"id", "a", "b"}, 1)
	f.parent.ReferencedBy = []table.ID{childID}
	f.child.ForeignKeys = []table.ForeignKey{fk}
	f.queue = ri.NewQueue(f)
	return f
}

// relation describes a table of integers, the first columns of which are the primary key.
func relation(t *testing.T, id table.ID, name string, columns []string, key int) *table.Desc {
	d := &table.Desc{ID: id, Schema: "public", Name: name, Version: 1}
	for i, c := range columns {
		d.Columns = append(d.Columns, table.Column{ID: table.ColumnID(i + 1), Name: c,
			Type: types.TInt4, NotNull: i < key})
	}
	for i := range key {
		d.RowKey = append(d.RowKey, table.IndexColumn{ColumnID: table.ColumnID(i + 1)})
	}
	d.Indexes = []table.Index{{ID: table.RowIndexID, OID: id + 100, Name: name + "_pkey",
		Unique: true, Primary: true, Constraint: true, Columns: d.RowKey}}
	require.NoError(t, d.Prepare(nil))
	return d
}

func (f *fixture) do(t *testing.T, d *datadriven.TestData) error {
	ctx := context.Background()
	f.finds, f.newer = 0, d.HasArg("newer")
	if d.HasArg("finds") {
		d.ScanArgs(t, "finds", &f.finds)
	}
	switch d.Cmd {
	case "insert", "delete", "update":
		for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
			if err := f.write(ctx, t, d.Cmd, line); err != nil {
				return err
			}
		}
		return nil
	case "check":
		err := f.queue.Check(ctx)
		f.queue.Clear()
		return err
	case "commit":
		return f.queue.CheckDeferred(ctx)
	case "set-constraints":
		return f.queue.SetMode(ctx, nil, d.HasArg("deferred"))
	case "savepoint":
		f.savepoint = f.queue.Savepoint()
		return nil
	case "rollback-to":
		f.queue.RollbackTo(f.savepoint)
		return nil
	}
	t.Fatalf("%s: no command %s", d.Pos, d.Cmd)
	return nil
}

// write writes a row as a statement does: with the queue as the hook.
func (f *fixture) write(ctx context.Context, t *testing.T, cmd, line string) error {
	name, rest, _ := strings.Cut(line, " ")
	desc := f.parent
	if name == f.child.Name {
		desc = f.child
	}
	w := table.NewWriter(desc, nil)
	w.Hook(f.queue)
	before, after, _ := strings.Cut(rest, " -> ")
	switch cmd {
	case "insert":
		return w.Insert(ctx, f.tx, row(t, before))
	case "delete":
		return w.Delete(ctx, f.tx, row(t, before))
	}
	return w.Update(ctx, f.tx, row(t, before), row(t, after))
}

// row reads integers, or NULL.
func row(t *testing.T, text string) []types.Datum {
	var out []types.Datum
	for _, word := range strings.Fields(text) {
		if word == "NULL" {
			out = append(out, types.Null)
			continue
		}
		n, err := strconv.ParseInt(word, 10, 32)
		require.NoError(t, err)
		out = append(out, types.NewInt(n))
	}
	return out
}

func (f *fixture) Tx() *txn.Txn { return f.tx }

func (f *fixture) Format() *types.Format { return &types.DefaultFormat }

func (f *fixture) Relation(_ context.Context, id table.ID) (*table.Desc, error) {
	if id == childID {
		return f.child, nil
	}
	return f.parent, nil
}

// Run shows a statement with its parameters. A modification leaves no further events here.
func (f *fixture) Run(_ context.Context, text string, _ []*types.Type,
	params []types.Datum) (int64, error) {
	values := make([]string, len(params))
	for i, p := range params {
		values[i] = strconv.FormatInt(p.I, 10)
	}
	fmt.Fprintf(&f.said, "%s  [%s]\n", text, strings.Join(values, ", "))
	return f.finds, nil
}

func (f *fixture) Newer(context.Context, string, []*types.Type, []types.Datum) (bool, error) {
	return f.newer, nil
}

func (f *fixture) Refresh(context.Context) (bool, error) { return false, nil }
