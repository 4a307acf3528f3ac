package sql_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// detailed is a transcript with the context of messages.
type detailed struct{ transcript }

func (w *detailed) Notice(n *sql.Notice) {
	w.transcript.Notice(n)
	for _, f := range [][2]string{{"DETAIL", n.Detail}, {"HINT", n.Hint}} {
		if f[1] != "" {
			fmt.Fprintf(&w.b, "%s: %s\n", f[0], f[1])
		}
	}
}

func (w *detailed) fail(err error) {
	w.transcript.fail(err)
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return
	}
	for _, f := range [][2]string{{"HINT", e.Hint}, {"QUERY", e.InternalQuery},
		{"CONTEXT", e.Context}} {
		if f[1] != "" {
			fmt.Fprintf(&w.b, "%s: %s\n", f[0], f[1])
		}
	}
	if e.InternalPosition > 0 {
		fmt.Fprintf(&w.b, "at %d of the query\n", e.InternalPosition)
	}
}

// TestDo: what blocks of PL/pgSQL print, with the context of errors.
func TestDo(t *testing.T) {
	datadriven.Walk(t, "testdata/do", func(t *testing.T, path string) {
		s := newSession(t, newEngine(t))
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w := &detailed{}
			w.s = s
			if err := s.Query(context.Background(), d.Input, w); err != nil {
				w.fail(err)
			}
			return w.b.String()
		})
	})
}

// A loop ends with its statement's context, whatever it does and whatever it handles.
func TestLoopsOfProgramsAreCancelled(t *testing.T) {
	for _, body := range []string{
		"LOOP NULL; END LOOP",
		"WHILE true LOOP CONTINUE; END LOOP",
		"LOOP PERFORM 1; END LOOP",
		"LOOP PERFORM count(*) FROM pg_class; END LOOP",
		"LOOP BEGIN RAISE 'x'; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP",
		"LOOP BEGIN PERFORM 1/0; EXCEPTION WHEN query_canceled THEN NULL; WHEN OTHERS THEN NULL; " +
			"END; END LOOP",
		"FOR i IN 1..2000000000 LOOP END LOOP",
	} {
		s := newSession(t, newEngine(t))
		ctx, cancel := context.WithCancel(context.Background())
		w := &stopper{stop: cancel}
		w.s = s
		err := s.Query(ctx, "DO $$ BEGIN RAISE NOTICE 'go'; "+body+"; END $$", w)
		require.Equal(t, sqlerr.QueryCanceled, codeOf(err), "%s: %v", body, err)
	}
}

// stopper cancels when the first message comes.
type stopper struct {
	transcript
	stop func()
}

func (w *stopper) Notice(*sql.Notice) { w.stop() }

// A query of a program is planned once for all iterations of a loop.
func TestQueriesOfProgramsArePlannedOnce(t *testing.T) {
	e := newEngine(t)
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	before := e.Planned()
	mustQuery(t, s, `DO $$ DECLARE x int; r record; BEGIN
		FOR i IN 1..50 LOOP
			INSERT INTO t VALUES (i, i * 2);
			SELECT n INTO x FROM t WHERE id = i;
			x := x + i;
			FOR r IN SELECT id, n FROM t WHERE id = i LOOP x := x + r.n; END LOOP;
		END LOOP; END $$`)
	require.LessOrEqual(t, e.Planned()-before, int64(12))
}

// An implicit DO that meets a conflict runs again as a whole; what it had said is taken back.
func TestAProgramIsRunAgainAfterAConflict(t *testing.T) {
	e := newEngine(t)
	a, b := newSnapshotSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 0)")
	w := &noticed{do: func() { mustQuery(t, b, "UPDATE t SET n = 10") }}
	w.s = a
	require.NoError(t, a.Query(context.Background(), `DO $$ DECLARE x int; BEGIN
		SELECT n INTO x FROM t; RAISE NOTICE '%', x; UPDATE t SET n = x + 1; END $$`, w))
	require.Equal(t, "NOTICE 00000: 10\nDO\n", w.b.String(), "the second attempt alone is seen")
	require.Equal(t, "[n]\n11\nSELECT 1\n", mustQuery(t, a, "SELECT n FROM t"))
}

// noticed does something at the first message.
type noticed struct {
	transcript
	do func()
}

func (w *noticed) Notice(n *sql.Notice) {
	if w.do != nil {
		w.do()
		w.do = nil
	}
	w.transcript.Notice(n)
}

// In READ COMMITTED each statement of a program sees what was committed before it.
func TestStatementsOfProgramsHaveSnapshotsOfTheirOwn(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 0)")
	w := &noticed{do: func() { mustQuery(t, b, "UPDATE t SET n = 10") }}
	w.s = a
	require.NoError(t, a.Query(context.Background(), `DO $$ BEGIN
		RAISE NOTICE '%', (SELECT n FROM t); RAISE NOTICE '%', (SELECT n FROM t); END $$`, w))
	require.Equal(t, "NOTICE 00000: 0\nNOTICE 00000: 10\nDO\n", w.b.String())
}

// After an error in a program the savepoints of its blocks are gone, in a block of the client too.
func TestAProgramLeavesNoSavepoints(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY)")
	mustQuery(t, s, "BEGIN")
	mustQuery(t, s, "INSERT INTO t VALUES (1)")
	mustQuery(t, s, "SAVEPOINT a")
	err := s.Query(context.Background(), `DO $$ BEGIN BEGIN INSERT INTO t VALUES (2);
		RAISE 'x'; EXCEPTION WHEN division_by_zero THEN NULL; END; END $$`, &transcript{s: s})
	require.Equal(t, sqlerr.RaiseException, codeOf(err))
	mustQuery(t, s, "ROLLBACK TO a")
	mustQuery(t, s, "COMMIT")
	require.Equal(t, "[id]\n1\nSELECT 1\n", mustQuery(t, s, "SELECT id FROM t"))
}
