package sql_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// queryMaker makes random queries that can be maintained.
type queryMaker struct{ rnd *rand.Rand }

// madeQuery is a query with result columns c0, c1, …, of type int (i) or text (t).
type madeQuery struct {
	text  string
	types string
}

func (m queryMaker) pick(of ...string) string { return of[m.rnd.IntN(len(of))] }

// column returns a random column of a type, qualified; "" when there is none.
func (m queryMaker) column(q madeQuery, alias string, t byte) string {
	var found []string
	for i := range q.types {
		if q.types[i] == t {
			found = append(found, fmt.Sprintf("%s.c%d", alias, i))
		}
	}
	if len(found) == 0 {
		return ""
	}
	return m.pick(found...)
}

// query returns a query of at most some levels of nesting.
func (m queryMaker) query(depth int) madeQuery {
	if depth == 0 {
		switch m.rnd.IntN(4) {
		case 0:
			return madeQuery{"SELECT id AS c0, g AS c1, x AS c2, s AS c3 FROM a", "iiit"}
		case 1:
			return madeQuery{"SELECT id AS c0, a AS c1, g AS c2 FROM b", "iii"}
		case 2:
			return madeQuery{"SELECT g AS c0, name AS c1 FROM c", "it"}
		}
		return madeQuery{"SELECT x AS c0, s AS c1 FROM a WHERE b", "it"}
	}
	switch m.rnd.IntN(7) {
	case 0:
		return m.filter(depth)
	case 1, 2, 3:
		return m.join(depth)
	case 4:
		return m.union(depth)
	case 5:
		return m.group(depth)
	}
	q := m.query(depth - 1)
	return madeQuery{fmt.Sprintf("SELECT DISTINCT * FROM (%s) q", q.text), q.types}
}

func (m queryMaker) cond(q madeQuery, alias string) string {
	if col := m.column(q, alias, 'i'); col != "" {
		return fmt.Sprintf("%s %s %d", col, m.pick("<", ">", "=", "<>"), m.rnd.IntN(4))
	}
	return "true"
}

func (m queryMaker) filter(depth int) madeQuery {
	q := m.query(depth - 1)
	out := madeQuery{}
	var items []string
	for i := range 1 + m.rnd.IntN(3) {
		t := q.types[m.rnd.IntN(len(q.types))]
		e := m.column(q, "q", t)
		switch {
		case t == 'i' && m.rnd.IntN(3) == 0:
			e += " % 3"
		case t == 't' && m.rnd.IntN(3) == 0:
			e = "upper(" + e + ")"
		}
		items = append(items, fmt.Sprintf("%s AS c%d", e, i))
		out.types += string(t)
	}
	out.text = fmt.Sprintf("SELECT %s FROM (%s) q", strings.Join(items, ", "), q.text)
	if m.rnd.IntN(2) == 0 {
		out.text += " WHERE " + m.cond(q, "q")
	}
	return out
}

func (m queryMaker) join(depth int) madeQuery {
	l, r := m.query(depth-1), m.query(m.rnd.IntN(depth))
	t := byte('i')
	left, right := m.column(l, "l", t), m.column(r, "r", t)
	if left == "" || right == "" {
		t = 't'
		left, right = m.column(l, "l", t), m.column(r, "r", t)
	}
	if left == "" || right == "" {
		return l
	}
	on := left + " = " + right
	if m.rnd.IntN(3) == 0 {
		on += " AND " + m.cond(r, "r")
	}
	if m.rnd.IntN(4) == 0 {
		on += " AND " + m.cond(l, "l")
	}
	out := madeQuery{}
	var items []string
	for i := range 1 + m.rnd.IntN(4) {
		q, alias := l, "l"
		if i%2 == 1 {
			q, alias = r, "r"
		}
		t := q.types[m.rnd.IntN(len(q.types))]
		items = append(items, fmt.Sprintf("%s AS c%d", m.column(q, alias, t), i))
		out.types += string(t)
	}
	kind := m.pick("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN")
	out.text = fmt.Sprintf("SELECT %s FROM (%s) l %s (%s) r ON %s", strings.Join(items, ", "),
		l.text, kind, r.text, on)
	if m.rnd.IntN(4) == 0 {
		out.text += " WHERE " + m.cond(r, "r") + " OR " + right + " IS NULL"
	}
	return out
}

func (m queryMaker) union(depth int) madeQuery {
	l, r := m.query(depth-1), m.query(m.rnd.IntN(depth))
	var left, right []string
	out := madeQuery{}
	for _, t := range []byte("it") {
		a, b := m.column(l, "l", t), m.column(r, "r", t)
		if a != "" && b != "" {
			left = append(left, fmt.Sprintf("%s AS c%d", a, len(left)))
			right = append(right, b)
			out.types += string(t)
		}
	}
	if len(left) == 0 {
		return l
	}
	out.text = fmt.Sprintf("SELECT %s FROM (%s) l %s SELECT %s FROM (%s) r",
		strings.Join(left, ", "), l.text, m.pick("UNION ALL", "UNION ALL", "UNION"),
		strings.Join(right, ", "), r.text)
	return out
}

func (m queryMaker) group(depth int) madeQuery {
	q := m.query(depth - 1)
	out := madeQuery{}
	var items, by []string
	add := func(e string, t byte) {
		items = append(items, fmt.Sprintf("%s AS c%d", e, len(items)))
		out.types += string(t)
	}
	for range m.rnd.IntN(3) {
		t := q.types[m.rnd.IntN(len(q.types))]
		key := m.column(q, "q", t)
		by = append(by, key)
		add(key, t)
	}
	add("count(*)::int", 'i')
	if col := m.column(q, "q", 'i'); col != "" {
		add(fmt.Sprintf(m.pick("sum(%s)::int", "min(%s)", "max(%s)", "count(%s)::int",
			"count(DISTINCT %s)::int", "(avg(%s) * 100)::int"), col), 'i')
	}
	if col := m.column(q, "q", 't'); col != "" && m.rnd.IntN(2) == 0 {
		add(fmt.Sprintf(m.pick("min(%s)", "max(%s)"), col), 't')
	}
	out.text = fmt.Sprintf("SELECT %s FROM (%s) q", strings.Join(items, ", "), q.text)
	if len(by) > 0 {
		out.text += " GROUP BY " + strings.Join(by, ", ")
	}
	if m.rnd.IntN(4) == 0 {
		out.text += " HAVING count(*) > 1"
	}
	return out
}

// TestRandomViews is TestViewsEqualTheirQueries for queries that are random too. MINIDB_VIEWS is
// how many there are.
func TestRandomViews(t *testing.T) {
	n, first := 60, 0
	if more, err := strconv.Atoi(os.Getenv("MINIDB_VIEWS")); err == nil {
		n = more
	}
	if from, err := strconv.Atoi(os.Getenv("MINIDB_SEED")); err == nil {
		first = from
	}
	const together = 5
	for seed := first; seed < first+n; seed += together {
		f := newDeltaFixture(t)
		rnd := rand.New(rand.NewPCG(uint64(seed), 3))
		for range 25 {
			f.mutate(rnd)
		}
		for i := range together {
			q := queryMaker{rnd}.query(1 + rnd.IntN(3))
			f.create(fmt.Sprintf("v%d", i), q.text)
		}
		for range 6 {
			for range 1 + rnd.IntN(8) {
				f.mutate(rnd)
			}
			require.NoError(t, f.tryAdvance(), "seed %d", seed)
			f.check(false)
		}
		require.Empty(t, f.verify(), "seed %d", seed)
	}
}
