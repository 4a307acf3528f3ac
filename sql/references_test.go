package sql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// orphans counts children without a parent, whichever way they refer to it.
const orphans = `SELECT (SELECT count(*) FROM c WHERE p IS NOT NULL AND
	p NOT IN (SELECT id FROM p)) +
	(SELECT count(*) FROM k WHERE u IS NOT NULL AND u NOT IN (SELECT u FROM p))`

// TestNoOrphans lets sessions attach rows to keys, and remove and change these keys, in each
// isolation level, with and without row locks asked for, on stores of one process and of several.
// No snapshot ever shows a row that refers to nothing. Deadlocks between processes are frequent
// here, and are searched for after deadlock_timeout, so that is short.
func TestNoOrphans(t *testing.T) {
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		for _, locks := range []string{"on", "off"} {
			for _, shared := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, locks %s, shared %v", level, locks, shared),
					func(t *testing.T) {
						noOrphans(t, level, locks, shared)
					})
			}
		}
	}
}

// openReferences opens one process, or two that share a store, with parents 1 to 4.
func openReferences(t *testing.T, shared bool) (engines []*sql.Engine, stores []*txn.Store) {
	n := 1
	if shared {
		n = 2
	}
	engines, stores = processes(t, n, memkv.New(memkv.Options{Shared: shared, Lost: 5}))
	mustQuery(t, newSession(t, engines[0]), `CREATE TABLE p(id int PRIMARY KEY, u int UNIQUE,
			v int);
		CREATE TABLE c(id serial PRIMARY KEY, p int REFERENCES p);
		CREATE TABLE k(id serial PRIMARY KEY, u int REFERENCES p(u)
			ON DELETE CASCADE ON UPDATE CASCADE);
		CREATE INDEX ON k(u);
		INSERT INTO p SELECT g, g, 0 FROM generate_series(1, 4) g`)
	return engines, stores
}

func noOrphans(t *testing.T, level, locks string, shared bool) {
	engines, stores := openReferences(t, shared)
	a := newSession(t, engines[0])
	const workers, rounds = 6, 80
	var wg sync.WaitGroup
	for w := range workers {
		s := newSession(t, engines[w%len(engines)])
		mustQuery(t, s, "SET default_transaction_isolation = '"+level+
			"'; SET minidb.write_locks = "+locks+"; SET deadlock_timeout = '20ms'")
		wg.Go(func() { churn(t, s, rand.New(rand.NewPCG(uint64(w), 7)), rounds) })
	}
	for range rounds {
		require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, a, orphans))
	}
	wg.Wait()
	require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, a, orphans))
	require.NoError(t, catalog.Check(context.Background(), stores[0],
		func(p catalog.Problem) { t.Error(p) }))
}

// churn runs random statements, alone or a few in a transaction.
func churn(t *testing.T, s *sql.Session, r *rand.Rand, rounds int) {
	ctx := context.Background()
	for range rounds {
		texts := []string{randomStatement(r)}
		if r.IntN(2) == 0 {
			texts = []string{"BEGIN", randomStatement(r), randomStatement(r), "COMMIT"}
		}
		for _, text := range texts {
			for range r.IntN(20) { // others come in between
				runtime.Gosched()
			}
			err := s.Query(ctx, text, &transcript{s: s})
			if err == nil {
				continue
			}
			switch codeOf(err) {
			case sqlerr.ForeignKeyViolation, sqlerr.UniqueViolation, sqlerr.SerializationFailure,
				sqlerr.DeadlockDetected:
			default:
				t.Errorf("%s: %v", text, err)
			}
			if len(texts) > 1 {
				mustQuery(t, s, "ROLLBACK")
			}
			break
		}
	}
}

func randomStatement(r *rand.Rand) string {
	k := 1 + r.IntN(4)
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("INSERT INTO c(p) VALUES (%d)", k)
	case 1:
		return fmt.Sprintf("INSERT INTO k(u) VALUES (%d)", k)
	case 2:
		return fmt.Sprintf("DELETE FROM p WHERE id = %d", k)
	case 3:
		return fmt.Sprintf("INSERT INTO p VALUES (%d, %d, 0)", k, k)
	case 4:
		return fmt.Sprintf("UPDATE p SET u = %d WHERE u = %d", 1+r.IntN(6), k)
	case 5:
		return fmt.Sprintf("UPDATE p SET v = v + 1 WHERE id = %d", k)
	case 6:
		return fmt.Sprintf("UPDATE c SET p = %d WHERE id %% 3 = %d", k, r.IntN(3))
	}
	return fmt.Sprintf("DELETE FROM c WHERE p = %d", k)
}

// TestWhoComesSecond lets one session attach a row to a key and another remove the key, in the
// orders in which only the rules of package ri distinguish them. After it, no row refers to
// nothing.
func TestWhoComesSecond(t *testing.T) {
	const attach, remove = "INSERT INTO c(p) VALUES (1)", "DELETE FROM p WHERE id = 1"
	for name, tc := range map[string]struct {
		shared bool
		steps  []string // "a" and "b" are two sessions, of two processes when shared
	}{
		"a row that the remover's snapshot does not show": {steps: []string{
			"a: BEGIN ISOLATION LEVEL REPEATABLE READ", "a: SELECT 1 FROM p", "b: " +
				attach, "a: " + remove, "a: COMMIT"}},
		"cascade to a row that the snapshot does not show": {steps: []string{
			"a: BEGIN ISOLATION LEVEL REPEATABLE READ", "a: SELECT 1 FROM p",
			"b: INSERT INTO k(u) VALUES (1)", "a: " + remove, "a: COMMIT"}},
		"a remover that an implicit attacher waits for": {steps: []string{
			"a: BEGIN", "a: " + remove, "b& " + attach, "a: COMMIT"}},
		"a remover of one of two keys that an implicit attacher waits for": {steps: []string{
			"a: BEGIN", "a: DELETE FROM p WHERE id = 2", "b& INSERT INTO c(p) VALUES (3), (2)",
			"a: COMMIT"}},
		"a remover that asked for no locks": {steps: []string{
			"a: SET minidb.write_locks = off", "a: BEGIN", "a: " +
				remove, "b: SET lock_timeout = 50", "b: " + attach, "a: COMMIT"}},
		"an attacher that asked for no locks": {steps: []string{
			"a: SET minidb.write_locks = off", "a: BEGIN", "a: " +
				attach, "b: SET lock_timeout = 50", "b: " + remove, "a: COMMIT"}},
		"another process attaches, then this one removes": {shared: true, steps: []string{
			"a: BEGIN", "a: " + attach, "b& " + remove, "a: COMMIT"}},
		"another process removes, then this one attaches": {shared: true, steps: []string{
			"a: BEGIN", "a: " + remove, "b& " + attach, "a: COMMIT"}},
	} {
		t.Run(name, func(t *testing.T) {
			engines, stores := openReferences(t, tc.shared)
			sessions := map[byte]*sql.Session{'a': newSession(t, engines[0]),
				'b': newSession(t, engines[len(engines)-1])}
			var behind <-chan error // of a step that waits
			for _, step := range tc.steps {
				s := sessions[step[0]]
				if step[1] == '&' {
					behind = start(s, step[3:])
					for last := stores[len(stores)-1]; len(last.RowLocks().Waits())+
						len(last.LockWaits()) == 0; {
						runtime.Gosched()
					}
					continue
				}
				err := query(s, step[3:])
				switch codeOf(err) {
				case sqlerr.ForeignKeyViolation, sqlerr.SerializationFailure,
					sqlerr.LockNotAvailable, sqlerr.InFailedSQLTransaction:
				default:
					require.NoError(t, err, step)
				}
			}
			if behind != nil {
				require.Equal(t, sqlerr.ForeignKeyViolation, codeOf(<-behind))
			}
			require.Equal(t, "[?column?]\n0\nSELECT 1\n",
				mustQuery(t, newSession(t, engines[0]), orphans))
			require.NoError(t, catalog.Check(context.Background(), stores[0],
				func(p catalog.Problem) { t.Error(p) }))
		})
	}
}
