package sql_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// noted lists the notifications in the store as "observer (key): old row" and takes them away.
// Statements that ran before have settled what they wrote.
func noted(t *testing.T, store *txn.Store) (out []string) {
	t.Helper()
	ctx := context.Background()
	cat, err := catalog.Open(ctx, store, catalog.WithPrograms(sql.Programs()))
	require.NoError(t, err)
	tx, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	all, err := cat.View(tx).Observers(ctx, catalog.PostgresID)
	require.NoError(t, err)
	for _, o := range all {
		dec, err := table.NewRowDecoder(o.Table)
		require.NoError(t, err)
		var keys [][]byte
		span := o.Table.IndexSpan(table.RowIndexID)
		err = store.Notifications(ctx, span, func(key []byte, n *txn.Notification) error {
			if table.ID(n.Observer) != o.Observer.ID {
				return nil
			}
			k, _ := table.DecodeKey(key)
			old := "none"
			if n.HasOld {
				row, err := dec.Decode(key, n.Old)
				require.NoError(t, err)
				old = table.FormatRow(o.Table, row)
			}
			out = append(out, fmt.Sprintf("%s %s: %s", o.Observer.Name,
				table.DescribeKey(o.Table, k), old))
			keys = append(keys, bytes.Clone(key))
			return nil
		})
		require.NoError(t, err)
		for _, key := range keys {
			require.NoError(t, store.Acknowledge(ctx, key, uint32(o.Observer.ID), tx.ReadTS()))
		}
	}
	slices.Sort(out)
	return out
}

func observe(t *testing.T, s *sql.Session, name, on string) {
	t.Helper()
	mustQuery(t, s, fmt.Sprintf("SELECT minidb_create_observer('%s', '%s', 1, NULL, false)", name,
		on))
}

// Whatever statement writes a row, and however it locks, the observers of the table are notified.
func TestEveryWayToWriteARowNotifiesItsObservers(t *testing.T) {
	for _, c := range []struct {
		write string
		copy  string
		want  []string
	}{
		{write: "INSERT INTO p SELECT g, g * 10 FROM generate_series(3, 4) g",
			want: []string{"p (3): none", "p (4): none"}},
		{copy: "5\t50\n", write: "COPY p FROM STDIN", want: []string{"p (5): none"}},
		{write: "INSERT INTO p VALUES (1, 0), (6, 0) ON CONFLICT (id) DO UPDATE SET n = p.n + 1",
			want: []string{"p (1): (1, 10)", "p (6): none"}},
		{write: "INSERT INTO p VALUES (1, 0), (7, 0) ON CONFLICT DO NOTHING",
			want: []string{"p (7): none"}},
		{write: "INSERT INTO p VALUES (1, 0) ON CONFLICT (id) DO UPDATE SET n = p.n"},
		{write: "UPDATE p SET n = n WHERE id = 1"},
		{write: "UPDATE p SET n = n + 1 FROM c WHERE c.p = p.id", want: []string{"p (1): (1, 10)"}},
		{write: "WITH w AS (DELETE FROM p WHERE id = 2 RETURNING *) " +
			"INSERT INTO p SELECT 8, n FROM w", want: []string{"p (2): (2, 20)", "p (8): none"}},
		{write: "DELETE FROM p WHERE id = 1",
			want: []string{"c (1): (1, 1)", "n (1): (1, 1)", "p (1): (1, 10)"}},
		{write: "UPDATE p SET id = 9 WHERE id = 1",
			want: []string{"c (1): (1, 1)", "n (1): (1, 1)", "p (1): (1, 10)", "p (9): none"}},
		{write: "DELETE FROM p WHERE id = 2", want: []string{"p (2): (2, 20)"}},
		{write: "MERGE INTO p USING (VALUES (1, 1), (2, 0), (9, 9)) s (id, n) ON s.id = p.id " +
			"WHEN MATCHED AND s.n = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT " +
			"MATCHED THEN INSERT VALUES (s.id, s.n)",
			want: []string{"p (1): (1, 10)", "p (2): (2, 20)", "p (9): none"}},
		{write: "UPDATE seen SET n = n + 1 WHERE id > 0", want: []string{"p (2): (2, 20)"}},
		{write: "INSERT INTO seen VALUES (8, 80)", want: []string{"p (8): none"}},
	} {
		for _, begin := range []string{"", "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ",
			"BEGIN ISOLATION LEVEL SERIALIZABLE"} {
			t.Run(c.write+" "+begin, func(t *testing.T) {
				on := memkv.New(memkv.Options{})
				t.Cleanup(func() { require.NoError(t, on.Close()) })
				e, store := openEngine(t, on, txn.Options{}, sql.Options{})
				s := newSession(t, e)
				mustQuery(t, s, `CREATE TABLE p (id int PRIMARY KEY, n int);
					CREATE TABLE c (id int PRIMARY KEY,
						p int REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE);
					CREATE TABLE n (id int PRIMARY KEY,
						p int REFERENCES p ON DELETE SET NULL ON UPDATE SET NULL);
					INSERT INTO p VALUES (1, 10), (2, 20); INSERT INTO c VALUES (1, 1);
					INSERT INTO n VALUES (1, 1);
					CREATE VIEW seen AS SELECT * FROM p WHERE n > 15 WITH CHECK OPTION`)
				for _, name := range []string{"p", "c", "n"} {
					observe(t, s, name, name)
				}
				if begin != "" {
					mustQuery(t, s, begin)
				}
				w := &transcript{s: s, input: []string{c.copy}}
				require.NoError(t, s.Query(t.Context(), c.write, w))
				if begin != "" {
					require.Empty(t, noted(t, store), "before COMMIT")
					mustQuery(t, s, "COMMIT")
				}
				mustQuery(t, s, "SELECT * FROM p, c, n")
				require.Equal(t, c.want, noted(t, store))
			})
		}
	}
}

// What is undone leaves no notification.
func TestWhatIsRolledBackNotifiesNobody(t *testing.T) {
	on := memkv.New(memkv.Options{})
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	e, store := openEngine(t, on, txn.Options{}, sql.Options{})
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 10)")
	observe(t, s, "o", "t")
	mustQuery(t, s, "BEGIN; SAVEPOINT a; UPDATE t SET n = 11; ROLLBACK TO a; COMMIT")
	require.Empty(t, noted(t, store))
	mustQuery(t, s, "BEGIN; SAVEPOINT a")
	fails(t, s, "INSERT INTO t VALUES (1, 12)", sqlerr.UniqueViolation)
	mustQuery(t, s, "ROLLBACK TO a; UPDATE t SET n = 13; SAVEPOINT b; UPDATE t SET n = 14")
	mustQuery(t, s, "ROLLBACK TO b; COMMIT")
	require.Equal(t, []string{"o (1): (1, 10)"}, noted(t, store))
}

// Registering waits for the transactions that write the table. Every commit after it notifies,
// also of a transaction that has begun before, whichever process it runs in.
func TestRegisteringAnObserverLetsNoCommitSlipThrough(t *testing.T) {
	here, there := processes(t, 2, memkv.New(memkv.Options{Shared: true, HashGroups: 3, Lost: 5}))
	a, b, _ := lockFixtureOf(t, here[0], here[1])
	mustQuery(t, b, "BEGIN; UPDATE t SET n = n + 1 WHERE id = 1")
	observe(t, a, "o", "t") // the lock of a table binds one process
	fails(t, b, "COMMIT", sqlerr.SerializationFailure)
	mustQuery(t, b, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM t")
	observe(t, a, "p", "t")
	fails(t, b, "UPDATE t SET n = n + 1 WHERE id = 2; COMMIT", sqlerr.SerializationFailure)
	mustQuery(t, b, "ROLLBACK; UPDATE t SET n = n + 1 WHERE id = 2; SELECT * FROM t")
	require.Equal(t, []string{"o (2): (2, 20, 2)", "p (2): (2, 20, 2)"}, noted(t, there[0]))

	on := memkv.New(memkv.Options{})
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	e, store := openEngine(t, on, txn.Options{}, sql.Options{})
	writer, s := newSession(t, e), newSession(t, e)
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 10)")
	for i, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		mustQuery(t, writer, "BEGIN ISOLATION LEVEL "+level)
		mustQuery(t, writer, "UPDATE t SET n = n + 1")
		name := fmt.Sprintf("o%d", i)
		done := blocked(t, s, newSession(t, e),
			"SELECT minidb_create_observer('"+name+"', 't', 1, NULL, false)")
		mustQuery(t, writer, "COMMIT")
		require.NoError(t, <-done)
		noted(t, store) // those of the observers before
		mustQuery(t, writer, "BEGIN ISOLATION LEVEL "+level+"; SELECT * FROM t")
		observe(t, s, name+"b", "t")
		mustQuery(t, writer, "UPDATE t SET n = n + 1; COMMIT")
		require.Contains(t, noted(t, store), fmt.Sprintf("%sb (1): (1, %d)", name, 11+2*i))
	}
}

// ObserverStatement is bound and executed like any other statement.
func TestObserverStatement(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t)
	s := newSession(t, e)
	mustQuery(t, s, `CREATE SCHEMA "Sc"; CREATE TABLE "Sc".t (id int PRIMARY KEY, "A" int)`)
	run := func(o sql.ObserverOptions) error {
		ps, err := sql.ObserverStatement(o)
		if err != nil {
			return err
		}
		p, err := s.Bind(ctx, "p", ps, nil)
		require.NoError(t, err)
		defer s.ClosePortal("p")
		w := &transcript{s: s}
		if _, err := s.Execute(ctx, p, 0, w); err != nil {
			return err
		}
		require.Equal(t, "CREATE OBSERVER\n", w.b.String())
		return s.Sync(ctx)
	}
	o := sql.ObserverOptions{Name: "o", Version: 1, Table: `"Sc".t`, Columns: []string{"A"}}
	require.NoError(t, run(o))
	require.NoError(t, run(o))
	mustQuery(t, s, `SET search_path = "Sc"`)
	o.Table = "t"
	require.NoError(t, run(o))
	o.Columns = nil
	require.Equal(t, sqlerr.DuplicateObject, codeOf(run(o)))
	o.Table = "nowhere"
	require.Equal(t, sqlerr.UndefinedTable, codeOf(run(o)))
	o.Table = ".."
	require.Equal(t, sqlerr.InvalidName, codeOf(run(o)))

	mustQuery(t, s, "BEGIN")
	require.NoError(t, run(sql.ObserverOptions{Name: "p", Table: "t"}))
	mustQuery(t, s, "ROLLBACK")
	fails(t, s, "SELECT minidb_drop_observer('p')", sqlerr.UndefinedObject)
	mustQuery(t, s, "BEGIN")
	require.NoError(t, run(sql.ObserverOptions{Name: "p", Table: "t"}))
	require.Equal(t, sqlerr.UndefinedColumn,
		codeOf(run(sql.ObserverOptions{Name: "q", Table: "t", Columns: []string{"a"}})))
	require.EqualValues(t, 'E', s.Status())
	mustQuery(t, s, "ROLLBACK")
	mustQuery(t, s, "SELECT minidb_drop_observer('o')")
	fails(t, s, "SELECT minidb_drop_observer('o')", sqlerr.UndefinedObject)

	// a table that the session itself is not done with
	mustQuery(t, s, "BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH c")
	require.Equal(t, sqlerr.ObjectInUse, codeOf(run(sql.ObserverOptions{Name: "p", Table: "t"})))
	mustQuery(t, s, "ROLLBACK")
}

// Of two sessions that register one observer at once, the second one waits for the first and finds
// the observer; one that another process has registered meanwhile is a conflict.
func TestTwoSessionsRegisterOneObserver(t *testing.T) {
	const create = "SELECT minidb_create_observer('o', '%s', 1, NULL, false)"
	a, b, c := lockFixture(t)
	mustQuery(t, a, "CREATE TABLE u (id int)")
	mustQuery(t, a, "BEGIN; "+fmt.Sprintf(create, "t"))
	done := blocked(t, b, c, fmt.Sprintf(create, "t"))
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-done)
	mustQuery(t, a, "SELECT minidb_drop_observer('o')")
	mustQuery(t, a, "BEGIN; "+fmt.Sprintf(create, "t"))
	done = blocked(t, b, c, fmt.Sprintf(create, "u"))
	mustQuery(t, a, "COMMIT")
	require.Equal(t, sqlerr.DuplicateObject, codeOf(<-done))

	a, b, _ = sharedFixture(t)
	mustQuery(t, a, "BEGIN; "+fmt.Sprintf(create, "t"))
	mustQuery(t, b, fmt.Sprintf(create, "t"))
	fails(t, a, "COMMIT", sqlerr.SerializationFailure)
	mustQuery(t, a, fmt.Sprintf(create, "t"))
}
