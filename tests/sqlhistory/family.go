package sqlhistory

import (
	"context"
	"fmt"

	"github.com/minidb/minidb/txn/tso"
)

// families are tables with foreign keys, one for each action. What is written to them is in no
// record: actions write rows that their statement does not name. Instead every child must have its
// parent, at each commit, and at each statement of any session, in whatever snapshot, its own
// writes included.
var families = []struct{ name, definition string }{
	{"parent", "(k int PRIMARY KEY, n int)"},
	{"child0", "(k int PRIMARY KEY, v int REFERENCES parent)"},
	{"child1", "(k int PRIMARY KEY, v int REFERENCES parent ON UPDATE CASCADE ON DELETE " +
		"CASCADE); CREATE INDEX ON child1 (v)"},
	{"child2", "(k int PRIMARY KEY, v int REFERENCES parent ON UPDATE SET NULL ON DELETE SET " +
		"NULL)"},
	{deferred, "(k int PRIMARY KEY, v int REFERENCES parent DEFERRABLE INITIALLY DEFERRED); " +
		"CREATE INDEX ON child3 (v)"},
}

const (
	parents  = 4
	children = 5
	deferred = "child3" // may be without a parent until the transaction's end
)

// change runs a statement of a family.
func (s *session) change(ctx context.Context, format string, args ...any) error {
	_, err := s.exec(ctx, fmt.Sprintf(format, args...))
	s.touched = s.touched || err == nil
	return err
}

func (s *session) child() string { return families[1+s.dice.IntN(len(families)-1)].name }

func parentInsert(s *session, ctx context.Context) error {
	return s.change(ctx, "INSERT INTO parent VALUES (%d, 0) ON CONFLICT (k) DO UPDATE SET n = "+
		"parent.n + 1", s.dice.IntN(parents))
}

func parentDelete(s *session, ctx context.Context) error {
	return s.change(ctx, "DELETE FROM parent WHERE k = %d", s.dice.IntN(parents))
}

func parentRename(s *session, ctx context.Context) error {
	return s.change(ctx, "UPDATE parent SET k = %d WHERE k = %d", s.dice.IntN(parents),
		s.dice.IntN(parents))
}

func parentTouch(s *session, ctx context.Context) error {
	return s.change(ctx, "UPDATE parent SET n = n + 1 WHERE k = %d", s.dice.IntN(parents))
}

func childInsert(s *session, ctx context.Context) error {
	return s.change(ctx, "INSERT INTO %s VALUES (%d, %d) ON CONFLICT (k) DO UPDATE SET v = "+
		"excluded.v",
		s.child(), s.dice.IntN(children), s.dice.IntN(parents))
}

func childMove(s *session, ctx context.Context) error {
	return s.change(ctx, "UPDATE %s SET v = (SELECT max(k) FROM parent) WHERE k = %d", s.child(),
		s.dice.IntN(children))
}

func childDelete(s *session, ctx context.Context) error {
	return s.change(ctx, "DELETE FROM %s WHERE k = %d", s.child(), s.dice.IntN(children))
}

// orphans looks for children without a parent, in one statement.
func orphans(s *session, ctx context.Context) error {
	of := s.child()
	if of == deferred && s.block && !s.rec.Historical {
		return nil
	}
	a, err := s.ask(ctx, fmt.Sprintf("SELECT c.k, c.v::text, '', %s FROM %s c WHERE c.v IS NOT "+
		"NULL "+
		"AND NOT EXISTS (SELECT FROM parent p WHERE p.k = c.v)", tail, of))
	if err == nil && len(a.rows) > 0 {
		s.r.found(Disagreement, "%s (%s): %s sees %v, who have no parent", s.rec, s.level, of,
			a.rows)
	}
	return err
}

// holdFamilies looks for children without a parent at a commit.
func (r *run) holdFamilies(ctx context.Context, ts tso.Timestamp) error {
	there, err := r.numbers(ctx, "k", "parent", ts)
	if err != nil {
		return err
	}
	for _, t := range families[1:] {
		named, err := r.numbers(ctx, "v", t.name, ts)
		if err != nil {
			return err
		}
		for n := range named {
			if !there[n] {
				r.found(Disagreement, "as of %s %s names the parent %d, which is not there", ts,
					t.name, n)
			}
		}
	}
	return nil
}

// numbers are the values of a column at a timestamp.
func (r *run) numbers(ctx context.Context, column, table string, ts tso.Timestamp) (map[int]bool,
	error) {
	rows, err := r.db.Query(ctx, fmt.Sprintf("SELECT %s FROM %s AS OF SYSTEM TIME %d WHERE %[1]s "+
		"IS NOT NULL", column, table, ts))
	if err != nil {
		return nil, err
	}
	out := map[int]bool{}
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out[n] = true
	}
	return out, rows.Err()
}
