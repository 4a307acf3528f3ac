package sql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// conditionDice draws conditions over the columns a int, b text, c numeric, d boolean.
type conditionDice struct{ *rand.Rand }

func (r conditionDice) of(list ...string) string { return list[r.IntN(len(list))] }

func (r conditionDice) number() string { return fmt.Sprint(r.IntN(8) - 1) }

func (r conditionDice) text() string { return r.of("'x'", "'xy'", "'Xy'", "''", "'y'", "'z'") }

func (r conditionDice) comparison() string { return r.of("=", "<>", "<", "<=", ">", ">=") }

// simple is a condition without AND and OR.
func (r conditionDice) simple() string {
	switch r.IntN(12) {
	case 0:
		return "a " + r.comparison() + " " + r.number()
	case 1:
		return "a + 1 " + r.comparison() + " " + r.number()
	case 2:
		return "b " + r.comparison() + " " + r.text()
	case 3:
		return "lower(b) " + r.comparison() + " lower(" + r.text() + ")"
	case 4:
		return "lower(b) LIKE " + r.of("'x%'", "'%'", "'xy'", "'_y'")
	case 5:
		return "c " + r.comparison() + " " + r.number() + r.of("", ".0", ".5")
	case 6:
		return r.of("d", "NOT d", "d IS TRUE", "d IS NOT TRUE", "d IS FALSE", "d = true",
			"d <> true", "d IS NOT FALSE", "d IS UNKNOWN", "NOT (d IS TRUE)")
	case 7:
		return r.of("a", "b", "c", "d", "a + 1", "lower(b)") + r.of(" IS NULL", " IS NOT NULL")
	case 8:
		return "a IN (" + r.number() + ", " + r.number() + ", " + r.of(r.number(), "NULL") + ")"
	case 9:
		return "a = ANY ('{" + r.number() + "," + r.number() + "}')"
	case 10:
		return "a NOT IN (" + r.number() + ", " + r.number() + ")"
	}
	return "a BETWEEN " + r.number() + " AND " + r.number()
}

func (r conditionDice) condition(depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return r.simple()
	}
	parts := make([]string, 2+r.IntN(2))
	for i := range parts {
		parts[i] = "(" + r.condition(depth-1) + ")"
	}
	return strings.Join(parts, r.of(" AND ", " AND ", " OR "))
}

// Indexes with expressions and predicates find what a scan finds, and agree with their table, after
// whatever writes.
func TestComputedIndexesFindWhatAScanFinds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := conditionDice{rand.New(rand.NewPCG(seed, 0))}
	engine, store := openEngine(t, memkv.New(memkv.Options{}), txn.Options{}, sql.Options{})
	s := newSession(t, engine)
	const columns = "(id int PRIMARY KEY, a int, b text, c numeric, d boolean)"
	mustQuery(t, s, "CREATE TABLE keyed "+columns+"; CREATE TABLE plain "+columns+
		"; SET enable_seqscan = off")
	both := func(statement string) {
		for _, name := range []string{"keyed", "plain"} {
			mustQuery(t, s, strings.ReplaceAll(statement, "TABLE", name))
		}
	}
	row := func() string {
		return r.of(r.number(), r.number(), "NULL") + ", " + r.of(r.text(), r.text(), "NULL") +
			", " + r.of(r.number(), r.number()+".5", "NULL") + ", " + r.of("true", "false", "NULL")
	}
	for i := range 12 {
		key := r.of("id", "a", "lower(b)", "(a + 1), id", "b, lower(b)", "c DESC, (a + 1)",
			"(a IS NULL), c", "(c * 2)")
		where := " WHERE " + r.condition(1)
		if i%4 == 0 {
			where = ""
		}
		mustQuery(t, s, "CREATE INDEX ON keyed ("+key+")"+where)
	}
	for id := range 120 {
		both(fmt.Sprintf("INSERT INTO TABLE VALUES (%d, %s)", id, row()))
	}
	mustQuery(t, s, "ANALYZE keyed")
	for range 150 {
		switch r.IntN(4) {
		case 0:
			both(fmt.Sprintf("UPDATE TABLE SET (a, b, c, d) = (%s) WHERE id = %d", row(),
				r.IntN(120)))
		case 1:
			both("UPDATE TABLE SET a = a + 1 WHERE " + r.condition(1) + " AND id % 7 = 0")
		case 2:
			both(fmt.Sprintf("DELETE FROM TABLE WHERE id = %d", r.IntN(120)))
		default:
			both(fmt.Sprintf("INSERT INTO TABLE VALUES (%d, %s) ON CONFLICT DO NOTHING",
				r.IntN(120), row()))
		}
		query := "SELECT id, a, b, c, d FROM TABLE WHERE " + r.condition(2) + " ORDER BY " +
			r.of("id", "lower(b), id", "a + 1 DESC, id")
		require.Equal(t, mustQuery(t, s, strings.ReplaceAll(query, "TABLE", "plain")),
			mustQuery(t, s, strings.ReplaceAll(query, "TABLE", "keyed")), query)
	}
	require.NoError(t, catalog.Check(context.Background(), store,
		func(p catalog.Problem) { t.Error(p) }, catalog.WithPrograms(sql.Programs())))
}
