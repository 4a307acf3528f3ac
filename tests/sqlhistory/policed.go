package sqlhistory

import (
	"context"
	"fmt"
	"strconv"
)

// plot is a table with policies, one for each command, that differ. They apply to sessions that
// have taken the role guest.
const (
	plotPolicies = "; ALTER TABLE plot ENABLE ROW LEVEL SECURITY" +
		"; CREATE POLICY seen ON plot FOR SELECT USING (v <= 5)" +
		"; CREATE POLICY changed ON plot FOR UPDATE USING (v <= 4) WITH CHECK (v <> 2)" +
		"; CREATE POLICY added ON plot FOR INSERT WITH CHECK (v <= 4)" +
		"; CREATE POLICY removed ON plot FOR DELETE USING (v <= 3)"
	plotKeys, plotValues = 5, 8
)

// limits are the greatest values that a session sees, changes, adds and removes, and the one that
// it changes no row to.
type limits struct{ seen, changed, added, removed, never int }

func (s *session) limits() limits {
	if s.guest {
		return limits{seen: 5, changed: 4, added: 4, removed: 3, never: 2}
	}
	return limits{seen: 1000, changed: 1000, added: 1000, removed: 1000, never: -1}
}

// becomes reports whether a row may be changed to a value.
func (l limits) becomes(v int) bool { return v <= l.seen && v != l.never }

// upTo reports whether a value is at most a limit.
func upTo(v string, limit int) bool { return number(v) <= limit }

// plotScan reads what the session may see.
func plotScan(s *session, ctx context.Context) error {
	if !s.guest {
		return s.scan(ctx, "plot")
	}
	a, err := s.ask(ctx, "SELECT t.k, t.v::text, t.who, "+tail+" FROM (SELECT 1) AS s LEFT JOIN "+
		"plot t ON true")
	if err != nil {
		return err
	}
	s.statement(&a)
	seen := s.limits().seen
	s.r.addRange(rangeRead{rec: s.rec, table: "plot", own: len(s.rec.Writes),
		ts: a.rows[0].snapshot, got: pairs("plot", a.rows),
		within: func(_ int, v, _ string) bool { return upTo(v, seen) }})
	return nil
}

// plotRange reads through the index, under the policies.
func plotRange(s *session, ctx context.Context) error {
	low := s.dice.IntN(plotValues)
	high := low + s.dice.IntN(4)
	cond := fmt.Sprintf("v BETWEEN %d AND %d", low, high)
	if high = min(high, s.limits().seen); high < low {
		high = low - 1 // nothing
	}
	return s.rangeScan(ctx, "plot", cond, low, high)
}

// plotLock locks a row that the session may change.
func plotLock(s *session, ctx context.Context) error {
	limit := s.limits().changed
	_, err := s.lockIf(ctx, "plot", s.dice.IntN(plotKeys), "FOR UPDATE",
		func(v string) bool { return upTo(v, limit) })
	return err
}

func plotInsert(s *session, ctx context.Context) error {
	who, k, v := s.label(), s.dice.IntN(plotKeys), s.dice.IntN(plotValues)
	added := s.limits().added
	to := func(_ int, _ string, ok bool) (string, bool) {
		return strconv.Itoa(v), !ok && v <= added
	}
	a, err := s.write(ctx, "plot", who, to, false,
		fmt.Sprintf("INSERT INTO plot VALUES (%d, %d, $1)", k, v), who)
	if codeOf(err) == "23505" {
		s.claim(&a, "plot", func(have int, _, _ string) bool { return have == k }, true)
	}
	return err
}

// plotSet changes a row if the session may, to what it may.
func plotSet(s *session, ctx context.Context) error {
	who, k, v, l := s.label(), s.dice.IntN(plotKeys), s.dice.IntN(plotValues), s.limits()
	mine := func(have int, old, _ string) bool { return have == k && upTo(old, l.changed) }
	to := func(have int, old string, ok bool) (string, bool) {
		return strconv.Itoa(v), ok && mine(have, old, "") && l.becomes(v)
	}
	a, err := s.write(ctx, "plot", who, to, false,
		fmt.Sprintf("UPDATE plot SET v = %d, who = $1 WHERE k = %d", v, k), who)
	switch {
	case codeOf(err) == "42501":
		s.claim(&a, "plot", mine, true)
	case err == nil && len(a.rows) == 0:
		s.claim(&a, "plot", mine, false)
	}
	return err
}

// plotBump moves the rows of a range that the session may change.
func plotBump(s *session, ctx context.Context) error {
	low, l := s.dice.IntN(plotValues), s.limits()
	high := low + s.dice.IntN(4)
	return s.bump(ctx, bump{target: "plot", table: "plot", values: plotValues,
		cond: fmt.Sprintf("v BETWEEN %d AND %d", low, high), low: low, high: min(high, l.changed),
		becomes: l.becomes})
}

// advanced is what adding one to row k, or making it v, does under the session's policies.
func (l limits) advanced(k, v int) change {
	return func(have int, old string, ok bool) (string, bool) {
		if !ok {
			return strconv.Itoa(v), have == k && v <= l.added
		}
		n := (number(old) + 1) % plotValues
		return strconv.Itoa(n), have == k && upTo(old, l.changed) && l.becomes(n)
	}
}

// plotMerge and plotUpsert do not skip a row that policies keep from changes: they fail.
func plotMerge(s *session, ctx context.Context) error {
	who, k, v := s.label(), s.dice.IntN(plotKeys), s.dice.IntN(plotValues)
	a, err := s.merge(ctx, "plot", who, s.limits().advanced(k, v), fmt.Sprintf("MERGE INTO plot "+
		"USING (VALUES (%d, %d)) AS m (k, v) ON plot.k = m.k WHEN MATCHED THEN UPDATE SET v = "+
		"(plot.v + 1) %% %d, who = '%s' WHEN NOT MATCHED THEN INSERT VALUES (m.k, m.v, '%[4]s')",
		k, v, plotValues, who))
	s.refused(&a, err, k)
	return err
}

func plotUpsert(s *session, ctx context.Context) error {
	who, k, v := s.label(), s.dice.IntN(plotKeys), s.dice.IntN(plotValues)
	a, err := s.write(ctx, "plot", who, s.limits().advanced(k, v), false, fmt.Sprintf("INSERT "+
		"INTO plot VALUES (%d, %d, $1) ON CONFLICT (k) DO UPDATE SET v = (plot.v + 1) %% %d, who "+
		"= excluded.who", k, v, plotValues), who)
	s.refused(&a, err, k)
	return err
}

// refused notes that row k was in the way of a statement that failed.
func (s *session) refused(a *answer, err error, k int) {
	if codeOf(err) == "23505" {
		s.claim(a, "plot", func(have int, _, _ string) bool { return have == k }, true)
	}
}

func plotDelete(s *session, ctx context.Context) error {
	limit := s.limits().removed
	k := s.dice.IntN(plotKeys)
	mine := func(have int, old, _ string) bool { return have == k && upTo(old, limit) }
	to := func(have int, old string, ok bool) (string, bool) {
		return "", ok && mine(have, old, "")
	}
	a, err := s.write(ctx, "plot", s.label(), to, true,
		fmt.Sprintf("DELETE FROM plot WHERE k = %d", k))
	if err == nil && len(a.rows) == 0 {
		s.claim(&a, "plot", mine, false)
	}
	return err
}
