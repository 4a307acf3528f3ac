package sql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	return openReferencesWith(t, shared, txn.Options{})
}

func openReferencesWith(t *testing.T, shared bool, opts txn.Options) (engines []*sql.Engine,
	stores []*txn.Store) {
	n := 1
	if shared {
		n = 2
	}
	engines, stores = processesWith(t, n, memkv.New(memkv.Options{Shared: shared, Lost: 5}), opts)
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
	churnAll(t, engines, stores, level, locks, func(*rand.Rand) {})
}

// churnAll lets sessions of the processes churn, and looks for orphans meanwhile and at the end.
func churnAll(t *testing.T, engines []*sql.Engine, stores []*txn.Store, level, locks string,
	between func(r *rand.Rand)) {
	a := newSession(t, engines[0])
	const workers, rounds = 6, 80
	var wg sync.WaitGroup
	for w := range workers {
		s := newSession(t, engines[w%len(engines)])
		mustQuery(t, s, "SET default_transaction_isolation = '"+level+
			"'; SET minidb.write_locks = "+locks+"; SET deadlock_timeout = '20ms'")
		wg.Go(func() { churn(t, s, rand.New(rand.NewPCG(uint64(w), 7)), rounds, between) })
	}
	for range rounds {
		require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, a, orphans))
	}
	wg.Wait()
	require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, a, orphans))
	require.NoError(t, catalog.Check(context.Background(), stores[0],
		func(p catalog.Problem) { t.Error(p) }))
}

// churn runs random statements, alone or a few in a transaction. It calls a function before each.
func churn(t *testing.T, s *sql.Session, r *rand.Rand, rounds int, between func(r *rand.Rand)) {
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
			between(r)
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

// TestReferencesThatDoNotMeet: a transaction that refers to a key goes on beside changes of the
// row's other columns, and one that removes a key beside rows that refer to other keys. Where
// several processes share the store a serializable one fails if another writes what it has read.
func TestReferencesThatDoNotMeet(t *testing.T) {
	for name, tc := range map[string]struct {
		mine, theirs string
		reads        bool // what they write
	}{
		"primary key": {"INSERT INTO c(p) VALUES (1)", "UPDATE p SET v = v + 1 WHERE id = 1",
			true},
		"other key": {"INSERT INTO k(u) VALUES (1)", "UPDATE p SET v = v + 1 WHERE id = 1", false},
		"deletion":  {"DELETE FROM p WHERE id = 1", "INSERT INTO c(p) VALUES (2)", true},
		"cascade":   {"UPDATE p SET u = 9 WHERE u = 1", "INSERT INTO k(u) VALUES (2)", false},
	} {
		for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
			for _, shared := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, shared %v", name, level, shared), func(t *testing.T) {
					engines, _ := openReferences(t, shared)
					a, b := newSession(t, engines[0]), newSession(t, engines[len(engines)-1])
					mustQuery(t, a, "BEGIN ISOLATION LEVEL "+level)
					mustQuery(t, a, tc.mine)
					mustQuery(t, b, tc.theirs)
					if tc.reads && shared && level == "SERIALIZABLE" {
						fails(t, a, "COMMIT", sqlerr.SerializationFailure)
						return
					}
					mustQuery(t, a, "COMMIT")
				})
			}
		}
	}
}

// leases are those of processes whose clock moves only when a test moves it.
type leases struct{ clock atomic.Int64 }

const leaseTime = time.Minute

func openLeases(t *testing.T, opts txn.Options) (l *leases, engines []*sql.Engine,
	stores []*txn.Store) {
	l = &leases{}
	l.clock.Store(1_000_000)
	opts.Clock, opts.Lease, opts.LeaseRenewal = l.clock.Load, leaseTime, -1
	engines, stores = openReferencesWith(t, true, opts)
	return l, engines, stores
}

// expire makes all leases end.
func (l *leases) expire() { l.clock.Add(leaseTime.Milliseconds()) }

// pass lets some of a lease pass, or all of it, after the renewal of one or none, and returns what
// it has done.
func (l *leases) pass(t *testing.T, r *rand.Rand, stores []*txn.Store) string {
	renewed := r.IntN(2 * len(stores))
	if renewed < len(stores) {
		require.NoError(t, stores[renewed].RenewLease(context.Background()))
	}
	d := leaseTime / time.Duration(1+r.IntN(2))
	l.clock.Add(d.Milliseconds())
	return fmt.Sprintf("renew %d, pass %v", renewed, d)
}

// TestALeaseEndsBetweenReferences: a transaction whose process was paused beyond its lease has lost
// the lock of a key to which it refers, or which it removes. It fails, whatever another one made of
// that, and whether that one has ended. (One that writes a key which the other has locked waits for
// its end.)
func TestALeaseEndsBetweenReferences(t *testing.T) {
	const attach, remove = "INSERT INTO c(p) VALUES (1)", "DELETE FROM p WHERE id = 1"
	const attachOther, change = "INSERT INTO k(u) VALUES (1)", "UPDATE p SET u = 9 WHERE u = 1"
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		for name, of := range map[string][2]string{
			"attach": {attach, remove}, "remove": {remove, attach},
			"attach to the other key": {attachOther, change}, "change": {change, attachOther},
		} {
			for _, early := range []bool{false, true} {
				if waits := of[0] == remove || of[0] == change; waits && !early {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s, early %v", level, name, early), func(t *testing.T) {
					l, engines, stores := openLeases(t, txn.Options{})
					paused, other := newSession(t, engines[0]), newSession(t, engines[1])
					for _, s := range []*sql.Session{paused, other} {
						mustQuery(t, s, "BEGIN ISOLATION LEVEL "+level)
					}
					mustQuery(t, paused, of[0])
					l.expire()
					mustQuery(t, other, of[1])
					if early {
						mustQuery(t, other, "COMMIT")
					}
					fails(t, paused, "COMMIT", sqlerr.SerializationFailure)
					if !early {
						mustQuery(t, other, "COMMIT")
					}
					require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, other, orphans))
					require.NoError(t, catalog.Check(context.Background(), stores[1],
						func(p catalog.Problem) { t.Error(p) }))
				})
			}
		}
	}
}

// TestNoOrphansPastLeases is TestNoOrphans with leases that end at any moment.
func TestNoOrphansPastLeases(t *testing.T) {
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			l, engines, stores := openLeases(t, txn.Options{})
			churnAll(t, engines, stores, level, "on", func(r *rand.Rand) {
				if r.IntN(8) == 0 {
					l.expire()
				}
			})
		})
	}
}

// lateOrphans are those of two more tables: a deferred foreign key, and one with an action.
const lateOrphans = `SELECT (SELECT count(*) FROM d WHERE p NOT IN (SELECT id FROM p)) +
	(SELECT count(*) FROM n WHERE u IS NOT NULL AND u NOT IN (SELECT u FROM p))`

// TestInterleavedReferencesPastLeases interleaves the statements of a few transactions of two
// processes by dice, with leases that end in between or do not. A statement that has to wait fails.
// Some transactions stream out what they write.
func TestInterleavedReferencesPastLeases(t *testing.T) {
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		for _, streamBytes := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, stream %d", level, streamBytes), func(t *testing.T) {
				l, engines, stores := openLeases(t, txn.Options{StreamBytes: streamBytes})
				a := newSession(t, engines[0])
				mustQuery(t, a, `CREATE TABLE d(id serial PRIMARY KEY,
						p int REFERENCES p DEFERRABLE INITIALLY DEFERRED);
					CREATE TABLE n(id serial PRIMARY KEY, u int REFERENCES p(u)
						ON DELETE SET NULL ON UPDATE SET NULL)`)
				var sessions []*sql.Session
				for i := range 3 {
					sessions = append(sessions, newSession(t, engines[i%2]))
					mustQuery(t, sessions[i], "SET lock_timeout = 1")
				}
				r := rand.New(rand.NewPCG(1, 2))
				for n := range 200 {
					mustQuery(t, a, "DELETE FROM c; DELETE FROM k; DELETE FROM d; DELETE FROM n; "+
						"DELETE FROM p; INSERT INTO p VALUES (1, 1, 0), (2, 2, 0)")
					said := interleave(t, r, sessions, level, func() string {
						return l.pass(t, r, stores)
					})
					for _, query := range []string{orphans, lateOrphans} {
						require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, a, query),
							"history %d: %q", n, said)
					}
				}
				require.NoError(t, catalog.Check(context.Background(), stores[0],
					func(p catalog.Problem) { t.Error(p) }))
			})
		}
	}
}

// crossing are statements about one of two parents. Those that come first are more frequent.
var crossing = []string{
	"INSERT INTO c(p) VALUES (%d)",
	"DELETE FROM p WHERE id = %d",
	"INSERT INTO k(u) VALUES (%d)",
	"UPDATE p SET u = 3 WHERE u = %d",
	"INSERT INTO d(p) VALUES (%d)",
	"INSERT INTO n(u) VALUES (%d)",
	"UPDATE p SET u = 3 - u WHERE v < %d",
	"UPDATE p SET v = v + 1 WHERE id = %d",
	"SAVEPOINT s; INSERT INTO c(p) VALUES (%d); ROLLBACK TO s",
	"SAVEPOINT s; DELETE FROM p WHERE id = %d; ROLLBACK TO s",
	"UPDATE c SET p = %d",
	"DELETE FROM p WHERE id = %[1]d; INSERT INTO p VALUES (%[1]d, %[1]d, 7)",
	"INSERT INTO d(p) VALUES (%d); SAVEPOINT s; SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK TO s",
}

// interleave runs a transaction of a few statements in each session, and returns what was run.
// pass lets time pass between two statements.
func interleave(t *testing.T, r *rand.Rand, sessions []*sql.Session, level string,
	pass func() string) (said []string) {
	left := make([][]string, len(sessions))
	for i := range left {
		left[i] = []string{"BEGIN ISOLATION LEVEL " + level}
		for range 1 + r.IntN(2) {
			k := 1 + r.IntN(2)
			left[i] = append(left[i], fmt.Sprintf(
				crossing[min(r.IntN(len(crossing)), r.IntN(len(crossing)))], k))
		}
		left[i] = append(left[i], "COMMIT")
	}
	for over := 0; over < len(left); {
		i := r.IntN(len(left))
		if len(left[i]) == 0 {
			continue
		}
		if r.IntN(8) == 0 {
			said = append(said, pass())
		}
		code := codeOf(query(sessions[i], left[i][0]))
		require.NotContains(t, code, "without", left[i][0])
		require.False(t, strings.HasPrefix(code, "XX"), left[i][0])
		said = append(said, fmt.Sprintf("%d: %s: %s", i, left[i][0], code))
		left[i] = left[i][1:]
		if len(left[i]) == 0 {
			over++
		}
	}
	return said
}
