package sql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
)

// deferrableFixture makes a table with a key that is checked at the commit, and one whose key is
// checked at the end of each statement.
func deferrableFixture(t *testing.T, level string, sessions ...*sql.Session) {
	mustQuery(t, sessions[0], `CREATE TABLE later (k int UNIQUE DEFERRABLE INITIALLY DEFERRED,
			who text);
		CREATE TABLE soon (k int PRIMARY KEY DEFERRABLE, who text)`)
	for _, s := range sessions {
		mustQuery(t, s, "SET default_transaction_isolation = '"+level+"'")
	}
}

// atEachLevel runs a test at each isolation level.
func atEachLevel(t *testing.T, test func(t *testing.T, level string)) {
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) { test(t, level) })
	}
}

// TestADeferredKeyWaitsForTheOneThatTookItFirst: the second transaction waits at its COMMIT, not
// before, and fails if the first one commits.
func TestADeferredKeyWaitsForTheOneThatTookItFirst(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level string) {
		inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
			deferrableFixture(t, level, a, b)
			for _, end := range []string{"ROLLBACK", "COMMIT"} {
				mustQuery(t, a, "BEGIN; INSERT INTO later VALUES (1, 'a')")
				mustQuery(t, b, "BEGIN; INSERT INTO later VALUES (1, 'b')")
				wait := blocked(t, b, c, "COMMIT")
				mustQuery(t, a, end)
				if end == "ROLLBACK" {
					require.NoError(t, <-wait)
					mustQuery(t, a, "DELETE FROM later")
					continue
				}
				var e *sqlerr.Error
				require.ErrorAs(t, <-wait, &e)
				require.Equal(t, sqlerr.UniqueViolation, e.Code)
				require.Equal(t, "Key (k)=(1) already exists.", e.Detail)
			}
			require.Contains(t, mustQuery(t, c, "SELECT who FROM later"), "\na\nSELECT 1")
		})
	})
}

// TestADeferrableKeyThatIsGivenUp by another transaction is waited for at the end of the statement.
func TestADeferrableKeyThatIsGivenUp(t *testing.T) {
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
			deferrableFixture(t, "read committed", a, b)
			mustQuery(t, a, "INSERT INTO soon VALUES (1, 'old')")
			mustQuery(t, a, "BEGIN; UPDATE soon SET k = 2")
			wait := blocked(t, b, c, "INSERT INTO soon VALUES (1, 'b')")
			mustQuery(t, a, end)
			require.Equal(t, end == "COMMIT", <-wait == nil)
			fails(t, b, "INSERT INTO soon VALUES (1, 'c')", sqlerr.UniqueViolation)
		})
	}
}

// TestDeferredKeysStayUnique lets sessions take, swap and give up keys, which several rows may have
// within a transaction, at each level, with and without row locks, on stores of one process and of
// several. No snapshot shows a key twice, and the indexes have the rows of their tables.
func TestDeferredKeysStayUnique(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level string) {
		for _, shared := range []bool{false, true} {
			t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
				deferredKeys(t, level, shared)
			})
		}
	})
}

const twice = `SELECT (SELECT count(*) - count(DISTINCT k) FROM later) +
	(SELECT count(*) - count(DISTINCT k) FROM soon)`

func deferredKeys(t *testing.T, level string, shared bool) {
	n := 1
	if shared {
		n = 2
	}
	engines, stores := processes(t, n, memkv.New(memkv.Options{Shared: shared, Lost: 5}))
	watcher := newSession(t, engines[0])
	deferrableFixture(t, level, watcher)
	const workers, rounds = 6, 60
	var wg sync.WaitGroup
	defer wg.Wait() // a test that has failed does not end before its writers
	for w := range workers {
		s := newSession(t, engines[w%len(engines)])
		mustQuery(t, s, "SET deadlock_timeout = '20ms'; SET default_transaction_isolation = '"+
			level+"'; SET minidb.write_locks = "+[]string{"on", "off"}[w/2%2])
		wg.Go(func() { swapKeys(t, s, rand.New(rand.NewPCG(uint64(w), 5)), rounds) })
	}
	for range rounds {
		require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, watcher, twice))
	}
	wg.Wait()
	require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, watcher, twice))
	require.NoError(t, catalog.Check(context.Background(), stores[0],
		func(p catalog.Problem) { t.Error(p) }))
}

// swapKeys runs random statements, alone or a few in a transaction.
func swapKeys(t *testing.T, s *sql.Session, r *rand.Rand, rounds int) {
	statement := func() string {
		name, k, from := []string{"later", "soon"}[r.IntN(2)], r.IntN(5), r.IntN(5)
		switch r.IntN(7) {
		case 0:
			return fmt.Sprintf("INSERT INTO %s VALUES (%d, 'x')", name, k)
		case 1:
			return "UPDATE " + name + " SET k = (k + 1) % 5"
		case 2:
			return fmt.Sprintf("UPDATE %s SET k = %d WHERE k = %d", name, k, from)
		case 3:
			return fmt.Sprintf("DELETE FROM %s WHERE k = %d", name, k)
		case 4:
			return "SAVEPOINT s; UPDATE " + name + " SET k = 4 - k; ROLLBACK TO s"
		case 5:
			return "SET CONSTRAINTS ALL IMMEDIATE"
		}
		return "SET CONSTRAINTS soon_pkey DEFERRED"
	}
	for range rounds {
		texts := []string{"BEGIN", statement(), statement(), statement(), "COMMIT"}
		if r.IntN(3) == 0 {
			texts = []string{fmt.Sprintf("UPDATE soon SET k = (k + %d) %% 5", r.IntN(5))}
		}
		for _, text := range texts {
			err := query(s, text)
			if err == nil {
				continue
			}
			switch codeOf(err) {
			case sqlerr.UniqueViolation, sqlerr.SerializationFailure, sqlerr.DeadlockDetected:
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
