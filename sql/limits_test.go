package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

// TestAValueThatTheStoreDoesNotTake: on a store with limits it is refused with its statement, and
// smaller rows go in by the thousand.
func TestAValueThatTheStoreDoesNotTake(t *testing.T) {
	here, there := twoProcesses(t)
	a, b := newSession(t, here), newSession(t, there)
	mustQuery(t, a, "CREATE TABLE docs (id int PRIMARY KEY, body text)")
	fails(t, a, "INSERT INTO docs VALUES (1, repeat('x', 40000))", sqlerr.ProgramLimitExceeded)
	mustQuery(t, a, "BEGIN; INSERT INTO docs VALUES (2, repeat('x', 30000))")
	mustQuery(t, a, "INSERT INTO docs SELECT n, repeat('x', 500) FROM generate_series(3, 2000) n")
	mustQuery(t, a, "COMMIT")
	require.Equal(t, "[count]\n1999\nSELECT 1\n", mustQuery(t, b, "SELECT count(*) FROM docs"))
	mustQuery(t, b, "UPDATE docs SET body = repeat('y', 600) WHERE id > 2")
	mustQuery(t, b, "DELETE FROM docs WHERE id > 100")
	require.Equal(t, "[count]\n99\nSELECT 1\n", mustQuery(t, a, "SELECT count(*) FROM docs"))
}

// TestACursorOverWhatWasWrittenSince: a store that gives up the state which a cursor reads, when
// its transaction has written much since it was opened, costs the transaction and nothing else.
func TestACursorOverWhatWasWrittenSince(t *testing.T) {
	e, _ := openEngine(t, memkv.New(memkv.Options{Shared: true, Lost: 3}),
		txn.Options{StreamBytes: 1 << 16}, sql.Options{})
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE docs (id int PRIMARY KEY, body text)")
	mustQuery(t, s, `BEGIN;
		INSERT INTO docs SELECT n, repeat('x', 500) FROM generate_series(1, 3000) n;
		DECLARE c CURSOR FOR SELECT id FROM docs; FETCH 1 FROM c`)
	mustQuery(t, s, "INSERT INTO docs SELECT n, 'y' FROM generate_series(3001, 9000) n")
	fails(t, s, "FETCH ALL FROM c", "72000")
	mustQuery(t, s, "ROLLBACK")
	require.Equal(t, "[count]\n0\nSELECT 1\n", mustQuery(t, s, "SELECT count(*) FROM docs"))
}
