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

// bookingFixture makes tables of bookings that may not overlap within a room: one that is checked
// at once, and one at the commit.
func bookingFixture(t *testing.T, level string, sessions ...*sql.Session) {
	mustQuery(t, sessions[0], `CREATE EXTENSION btree_gist;
		CREATE TABLE booking (room int, during int4range, who text,
			EXCLUDE USING gist (during WITH &&, room WITH =));
		CREATE TABLE plan (room int, during int4range, who text,
			EXCLUDE USING gist (room WITH =, during WITH &&) DEFERRABLE INITIALLY DEFERRED)`)
	for _, s := range sessions {
		mustQuery(t, s, "SET default_transaction_isolation = '"+level+"'")
	}
}

// TestTheSecondOfTwoBookingsWaits for the first one, and fails if that is committed; READ COMMITTED
// has no other answer, and at no level do both commit.
func TestTheSecondOfTwoBookingsWaits(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level string) {
		inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
			bookingFixture(t, level, a, b)
			for _, end := range []string{"ROLLBACK", "COMMIT"} {
				mustQuery(t, a, "BEGIN; INSERT INTO booking VALUES (1, '[1,5)', 'a')")
				mustQuery(t, b, "BEGIN")
				wait := blocked(t, b, c, "INSERT INTO booking VALUES (1, '[4,8)', 'b')")
				mustQuery(t, a, end)
				if end == "ROLLBACK" {
					require.NoError(t, <-wait)
					mustQuery(t, b, "ROLLBACK")
					continue
				}
				var e *sqlerr.Error
				require.ErrorAs(t, <-wait, &e)
				require.Equal(t, sqlerr.ExclusionViolation, e.Code)
				require.Equal(t, "Key (during, room)=([4,8), 1) conflicts with existing key "+
					"(during, room)=([1,5), 1).", e.Detail)
				mustQuery(t, b, "ROLLBACK")
			}
			require.Contains(t, mustQuery(t, c, "SELECT who FROM booking"), "\na\nSELECT 1")
		})
	})
}

// TestBookingsThatDoNotOverlapDoNotWait: neither in one room, one next to the other, nor in two.
func TestBookingsThatDoNotOverlapDoNotWait(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	bookingFixture(t, "read committed", a, b)
	mustQuery(t, b, "SET lock_timeout = '1ms'")
	mustQuery(t, a, "BEGIN; INSERT INTO booking VALUES (1, '[1,5)', 'a')")
	mustQuery(t, b, "BEGIN; INSERT INTO booking VALUES (1, '[5,8)', 'b'), (2, '[1,5)', 'b'), "+
		"(1, 'empty', 'b'), (NULL, '[1,5)', 'b')")
	fails(t, b, "INSERT INTO booking VALUES (1, '[4,5)', 'b')", sqlerr.LockNotAvailable)
	mustQuery(t, b, "ROLLBACK")
	mustQuery(t, a, "COMMIT")
}

// TestABookingThatIsRemoved by a transaction under way is waited for.
func TestABookingThatIsRemoved(t *testing.T) {
	for _, remove := range []string{"DELETE FROM booking", "UPDATE booking SET room = 2",
		"UPDATE booking SET during = '[100,105)'"} {
		for _, end := range []string{"COMMIT", "ROLLBACK"} {
			inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
				bookingFixture(t, "read committed", a, b)
				mustQuery(t, a, "INSERT INTO booking VALUES (1, '[1,5)', 'old')")
				mustQuery(t, a, "BEGIN; "+remove)
				wait := blocked(t, b, c, "INSERT INTO booking VALUES (1, '[4,8)', 'b')")
				mustQuery(t, a, end)
				require.Equal(t, end == "COMMIT", <-wait == nil)
				fails(t, b, "INSERT INTO booking VALUES (1, '[4,5)', 'c')",
					sqlerr.ExclusionViolation)
			})
		}
	}
}

// TestADeferredBookingIsChecked against what was committed meanwhile.
func TestADeferredBookingIsChecked(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level string) {
		inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
			bookingFixture(t, level, a, b)
			mustQuery(t, a, "BEGIN; INSERT INTO plan VALUES (1, '[1,5)', 'a')")
			wait := start(b, "BEGIN; INSERT INTO plan VALUES (1, '[4,8)', 'b'); COMMIT")
			mustQuery(t, a, "COMMIT")
			var e *sqlerr.Error
			require.ErrorAs(t, <-wait, &e)
			require.Equal(t, sqlerr.ExclusionViolation, e.Code)
			require.Contains(t, mustQuery(t, c, "SELECT who FROM plan"), "\na\nSELECT 1")
		})
	})
}

// TestARowThatWaitsHidesNoOverlap: of three new rows the first overlaps both others, of which the
// one in between goes.
func TestARowThatWaitsHidesNoOverlap(t *testing.T) {
	s := newSession(t, newEngine(t))
	bookingFixture(t, "read committed", s)
	e := fails(t, s, `BEGIN; INSERT INTO plan VALUES (1, '[1,100)'), (1, '[2,3)'), (1, '[50,60)');
		DELETE FROM plan WHERE during = '[2,3)'; COMMIT`, sqlerr.ExclusionViolation)
	require.Equal(t, "Key (room, during)=(1, [50,60)) conflicts with existing key "+
		"(room, during)=(1, [1,100)).", e.Detail)
}

// TestNoBookingsOverlap lets sessions book, move and cancel, at each level, with and without row
// locks, on stores of one process and of several. No snapshot shows two bookings that overlap.
func TestNoBookingsOverlap(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level string) {
		for _, shared := range []bool{false, true} {
			t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
				noOverlaps(t, level, shared)
			})
		}
	})
}

const overlaps = `SELECT (SELECT count(*) FROM booking a JOIN booking b ON a.room = b.room AND
	a.during && b.during AND a.ctid < b.ctid) + (SELECT count(*) FROM plan a JOIN plan b ON
	a.room = b.room AND a.during && b.during AND a.ctid < b.ctid)`

func noOverlaps(t *testing.T, level string, shared bool) {
	n, rounds := 1, 40
	if shared {
		n, rounds = 2, 12
	}
	engines, stores := processes(t, n, memkv.New(memkv.Options{Shared: shared, Lost: 5}))
	watcher := newSession(t, engines[0])
	bookingFixture(t, level, watcher)
	const workers = 6
	var wg sync.WaitGroup
	defer wg.Wait() // a test that has failed does not end before its writers
	for w := range workers {
		s := newSession(t, engines[w%len(engines)])
		mustQuery(t, s, "SET deadlock_timeout = '20ms'; SET default_transaction_isolation = '"+
			level+"'; SET minidb.write_locks = "+[]string{"on", "off"}[w/2%2])
		wg.Go(func() { book(t, s, rand.New(rand.NewPCG(uint64(w), 9)), rounds) })
	}
	for range rounds {
		require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, watcher, overlaps))
	}
	wg.Wait()
	require.Equal(t, "[?column?]\n0\nSELECT 1\n", mustQuery(t, watcher, overlaps))
	require.NoError(t, catalog.Check(context.Background(), stores[0],
		func(p catalog.Problem) { t.Error(p) }, catalog.WithPrograms(sql.Programs())))
}

// book runs random statements, alone or a few in a transaction.
func book(t *testing.T, s *sql.Session, r *rand.Rand, rounds int) {
	statement := func() string {
		name, room, from := []string{"booking", "plan"}[r.IntN(2)], r.IntN(2), r.IntN(20)
		during := fmt.Sprintf("'[%d,%d)'", from, from+r.IntN(6))
		switch r.IntN(8) {
		case 0, 1, 2:
			return fmt.Sprintf("INSERT INTO %s VALUES (%d, %s)", name, room, during)
		case 3:
			return fmt.Sprintf("UPDATE %s SET room = 1 - room WHERE during && %s", name, during)
		case 4:
			return fmt.Sprintf("UPDATE %s SET during = int4range(lower(during) + 2, "+
				"upper(during) + 2) WHERE during && %s", name, during)
		case 5:
			return fmt.Sprintf("DELETE FROM %s WHERE during && %s", name, during)
		case 6:
			return fmt.Sprintf("SAVEPOINT s; DELETE FROM %s WHERE room = %d; ROLLBACK TO s", name,
				room)
		}
		return fmt.Sprintf("INSERT INTO booking VALUES (%d, %s) ON CONFLICT DO NOTHING", room,
			during)
	}
	for range rounds {
		texts := []string{"BEGIN", statement(), statement(), statement(), "COMMIT"}
		if one := statement(); r.IntN(3) == 0 && one[:4] != "SAVE" {
			texts = []string{one}
		}
		for _, text := range texts {
			err := query(s, text)
			if err == nil {
				continue
			}
			switch codeOf(err) {
			case sqlerr.ExclusionViolation, sqlerr.SerializationFailure, sqlerr.DeadlockDetected:
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
