package sqlhistory

import (
	"context"
	"fmt"

	"github.com/minidb/minidb/txn/tso"
)

// bookings are tables whose constraints PostgreSQL checks after rows are written, or among all
// rows: deferrable keys and EXCLUDE. What is written to them is in no record. Instead no two rows
// may exclude each other, at each commit, and at each statement of any session but those that wait
// for their own transaction's end.
var bookings = []struct{ name, definition string }{
	{"turn", "(k int, who text, UNIQUE (k) DEFERRABLE INITIALLY DEFERRED)"},
	{"seat", "(k int PRIMARY KEY DEFERRABLE, who text)"},
	{"room", "(k int, during int4range, EXCLUDE USING gist (k WITH =, during WITH &&))"},
	{"stay", "(during int4range, EXCLUDE USING gist (during WITH &&) DEFERRABLE INITIALLY " +
		"DEFERRED)"},
}

const turns = 5

// clashes counts rows that exclude each other, by table.
var clashes = map[string]string{
	"turn": "SELECT count(*) - count(DISTINCT k) FROM turn %s",
	"seat": "SELECT count(*) - count(DISTINCT k) FROM seat %s",
	"room": "SELECT count(*) FROM room a JOIN room b ON a.k = b.k AND a.during && b.during AND " +
		"a.ctid <> b.ctid %s",
	"stay": "SELECT count(*) FROM stay a JOIN stay b ON a.during && b.during AND " +
		"a.ctid <> b.ctid %s",
}

func (s *session) during() string {
	from := s.dice.IntN(12)
	return fmt.Sprintf("'[%d,%d)'", from, from+s.dice.IntN(4))
}

func turnTaken(s *session, ctx context.Context) error {
	return s.change(ctx, "INSERT INTO %s VALUES (%d, 'x')", s.keyed(), s.dice.IntN(turns))
}

func turnsMoved(s *session, ctx context.Context) error {
	return s.change(ctx, "UPDATE %s SET k = (k + %d) %% %d", s.keyed(), 1+s.dice.IntN(turns-1),
		turns)
}

func turnGiven(s *session, ctx context.Context) error {
	return s.change(ctx, "DELETE FROM %s WHERE k = %d", s.keyed(), s.dice.IntN(turns))
}

func (s *session) keyed() string { return bookings[s.dice.IntN(2)].name }

func booked(s *session, ctx context.Context) error {
	if s.dice.IntN(2) == 0 {
		return s.change(ctx, "INSERT INTO stay VALUES (%s)", s.during())
	}
	return s.change(ctx, "INSERT INTO room VALUES (%d, %s)", s.dice.IntN(2), s.during())
}

func rebooked(s *session, ctx context.Context) error {
	return s.change(ctx, "UPDATE %s SET during = %s WHERE during && %s",
		bookings[2+s.dice.IntN(2)].name, s.during(), s.during())
}

func cancelled(s *session, ctx context.Context) error {
	return s.change(ctx, "DELETE FROM %s WHERE during && %s", bookings[2+s.dice.IntN(2)].name,
		s.during())
}

func checkedNow(s *session, ctx context.Context) error {
	_, err := s.exec(ctx, "SET CONSTRAINTS ALL IMMEDIATE")
	return err
}

// holdBookings looks for rows that exclude each other at a commit.
func (r *run) holdBookings(ctx context.Context, ts tso.Timestamp) error {
	for _, t := range bookings {
		rows, err := r.db.Query(ctx, fmt.Sprintf(clashes[t.name],
			fmt.Sprintf("AS OF SYSTEM TIME %d", ts)))
		if err != nil {
			return err
		}
		n := 0
		for rows.Next() {
			if err := rows.Scan(&n); err != nil {
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if n > 0 {
			r.found(Disagreement, "as of %s %s has rows that exclude each other", ts, t.name)
		}
	}
	return nil
}
