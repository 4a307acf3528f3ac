package sql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/types"
	"github.com/stretchr/testify/require"
)

// answer is what a session answers to a text.
func answer(s *sql.Session, text string) string {
	w := &transcript{s: s}
	if err := s.Query(context.Background(), text, w); err != nil {
		s.Fail(context.Background())
		w.fail(err)
	}
	return w.b.String() + string(s.Status())
}

const templatesSchema = `
CREATE TABLE t (id int PRIMARY KEY, small smallint UNIQUE, big bigint UNIQUE, name text UNIQUE,
	short varchar(5), blanks char(3), num numeric(6,2), f float8, ok boolean, day date,
	at timestamptz, u uuid, doc jsonb, raw bytea, iv interval, list int[],
	rel regclass, twice int GENERATED ALWAYS AS (id * 2) STORED, n int DEFAULT 7, CHECK (n <> 13));
CREATE TABLE pair (a int, b text, c int REFERENCES t, PRIMARY KEY (a, b));
CREATE VIEW v AS SELECT id, name, n FROM t WHERE n < 50`

// shapes of texts: %i is digits, %s is a string.
var templatesShapes = []string{
	"SELECT id, name, n, num, twice FROM t WHERE id = %i",
	"SELECT id, n + %i FROM t WHERE id = -%i AND n > %i ORDER BY 1 LIMIT 1;",
	"SELECT name FROM t WHERE small = %i", "SELECT name FROM t WHERE big = %i",
	"SELECT id FROM t WHERE name = %s",
	"SELECT id FROM t WHERE name = %s AND day < %s AND n <= %i FOR UPDATE",
	"SELECT id FROM t WHERE name = %i",
	"SELECT count(*), sum(n) FROM t WHERE id = %i", "SELECT id FROM t WHERE n = %i ORDER BY id",
	"SELECT * FROM v WHERE id = %i",
	"SELECT id FROM t WHERE id = %s", "SELECT id FROM t WHERE num = %i ORDER BY id",
	"SELECT id FROM t WHERE short = %s ORDER BY id",
	"SELECT b FROM pair WHERE a = %i AND b = %s", "SELECT id, missing FROM t WHERE id = %i",
	"SELECT id FROM missing WHERE id = %i",
	"INSERT INTO t (id, name, n) VALUES (%i, %s, %i)",
	"INSERT INTO t (id, small, big) VALUES (%i, %i, %i)",
	"INSERT INTO t (id, short, blanks) VALUES (%i, %s, %s)",
	"INSERT INTO t (id, short, num) VALUES (%i, %i, %i)",
	"INSERT INTO t (id, num, f) VALUES (%i, %s, -%i), (-%i, %s, %i)",
	"INSERT INTO t (id, day, at) VALUES (%i, %s, %s)",
	"INSERT INTO t (id, u, doc, raw) VALUES (%i, %s, %s, %s)",
	"INSERT INTO t (id, ok, iv, list) VALUES (%i, %s, %s, %s)",
	"INSERT INTO t (id, rel) VALUES (%i, %s)", "INSERT INTO t (id, twice) VALUES (%i, %i)",
	"INSERT INTO t (id, ok) VALUES (%i, %i)",
	"INSERT INTO t (id, n) VALUES (%i, %i) ON CONFLICT (id) DO UPDATE SET n = t.n + %i RETURNING " +
		"id, n",
	"INSERT INTO pair VALUES (%i, %s, %i) ON CONFLICT DO NOTHING", "INSERT INTO t VALUES (%i, %s)",
	"UPDATE t SET n = n + %i WHERE id = %i", "UPDATE t SET n = n - -%i, name = %s WHERE id = %i " +
		"RETURNING *",
	"UPDATE t SET short = %s, blanks = %s WHERE name = %s", "UPDATE t SET small = %i WHERE id = %i",
	"UPDATE t SET id = %i WHERE id = %i",
	"UPDATE t SET num = %i, f = f + %i WHERE big = %i",
	"UPDATE t SET day = %s, at = %s WHERE id = %i", "UPDATE t SET n = %i WHERE n = %i",
	"DELETE FROM t WHERE id = %i", "DELETE FROM t WHERE name = %s AND n >= %i RETURNING id",
	"DELETE FROM pair WHERE a = %i AND b = %s",
}

// templatesOther are statements in between, after which plans are others.
var templatesOther = []string{
	"BEGIN", "BEGIN ISOLATION LEVEL READ COMMITTED", "BEGIN ISOLATION LEVEL SERIALIZABLE", "COMMIT",
	"COMMIT", "COMMIT", "ROLLBACK",
	"SAVEPOINT s", "ROLLBACK TO s", "SET datestyle = 'german'", "RESET datestyle",
	"SET search_path = other, public", "RESET search_path",
	"CREATE SCHEMA other; CREATE TABLE other.t (id text PRIMARY KEY, name int, n bigint)",
	"DROP SCHEMA IF EXISTS other CASCADE",
	"ALTER TABLE t DROP CONSTRAINT t_name_key", "ALTER TABLE t ADD CONSTRAINT t_name_key UNIQUE " +
		"(name)",
	"ALTER TABLE t ALTER n TYPE bigint", "ALTER TABLE t ALTER n TYPE int",
}

func templatesText(dice *rand.Rand, shape string) string {
	strs := []string{"a", "b", "it''s", "", "long text", "xy ", "5", "-7", "12.345", "70000",
		"2020-02-29", "31.12.2021", "now", "t",
		"550e8400-e29b-41d4-a716-446655440000", `{"a": 1}`, `\xff`, "1 day", "{1,2}", "pair", "NaN"}
	ints := []string{"0", "1", "2", "3", "4", "5", "13", "007", "99", "40000", "2147483647",
		"2147483648", "9999999999"}
	var b strings.Builder
	for i := 0; i < len(shape); i++ {
		switch {
		case strings.HasPrefix(shape[i:], "%i"):
			few := len(ints)
			if dice.IntN(3) > 0 {
				few = 6
			}
			b.WriteString(ints[dice.IntN(few)])
			i++
		case strings.HasPrefix(shape[i:], "%s"):
			b.WriteString("'" + strs[dice.IntN(len(strs))] + "'")
			i++
		default:
			b.WriteByte(shape[i])
		}
	}
	return b.String()
}

// TestTemplatesChangeNothing runs the same random statements on two engines; on one of them every
// text has a comment of its own, and so a shape of its own and no template.
func TestTemplatesChangeNothing(t *testing.T) {
	seed := rand.Uint64()
	if v := os.Getenv("MINIDB_TEMPLATE_SEED"); v != "" {
		var err error
		seed, err = strconv.ParseUint(v, 10, 64)
		require.NoError(t, err)
	}
	dice := rand.New(rand.NewPCG(seed, 0))
	with, without := newSession(t, newEngine(t)), newSession(t, newEngine(t))
	texts := 0
	both := func(text string) {
		// it is later on the other
		if strings.Contains(text, "'now'") && strings.Contains(text, "at") {
			return
		}
		texts++
		require.Equal(t, answer(without, text+fmt.Sprintf(" -- %d", texts)), answer(with, text),
			"MINIDB_TEMPLATE_SEED=%d: %s", seed, text)
	}
	both(templatesSchema)
	rounds := 6000
	if testing.Short() {
		rounds = 1000
	}
	for range rounds {
		if dice.IntN(25) == 0 {
			both(templatesOther[dice.IntN(len(templatesOther))])
		} else {
			both(templatesText(dice, templatesShapes[dice.IntN(len(templatesShapes))]))
		}
	}
	both("COMMIT")
	both("SELECT * FROM public.t ORDER BY id")
	both("SELECT * FROM public.pair ORDER BY a, b")
}

// TestATextOfAKnownShapeIsNotParsed compares what texts allocate with and without a template.
func TestATextOfAKnownShapeIsNotParsed(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, name text UNIQUE, n int)")
	n := 0
	allocations := func(text, end string) float64 {
		return testing.AllocsPerRun(50, func() {
			n++
			mustQuery(t, s, fmt.Sprintf(text, n)+strings.Repeat(end, n))
		})
	}
	for _, text := range []string{
		"SELECT n FROM t WHERE id = %[1]d", "SELECT n FROM t WHERE name = 'x%[1]d'",
		"INSERT INTO t VALUES (%[1]d, 'x%[1]d', %[1]d)",
		"UPDATE t SET n = n + 3 WHERE id = -%[1]d", "DELETE FROM t WHERE id = -%[1]d",
	} {
		require.Less(t, allocations(text, ""), allocations(text, " ")*0.8, text)
	}
}

// TestAPointSelectAllocatesLittle bounds what the most frequent statement allocates: each object
// more is met by every query.
func TestAPointSelectAllocatesLittle(t *testing.T) {
	ctx, s := context.Background(), newSession(t, newEngineIn(t, memory.NewPool(64<<20)))
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, v text)")
	mustQuery(t, s, "INSERT INTO t VALUES (17, 'v17')")
	ps, err := s.Prepare(ctx, "q", "SELECT v FROM t WHERE id = $1", nil, nil)
	require.NoError(t, err)
	require.NoError(t, s.Sync(ctx))
	var n nowhere
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		require.NoError(t, s.Query(ctx, "SELECT v FROM t WHERE id = 17", &n))
	}), 24.0, "simple protocol")
	params := []types.Datum{types.NewInt(17)}
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		p, err := s.Bind(ctx, "", ps, params)
		require.NoError(t, err)
		_, err = s.Execute(ctx, p, 0, &n)
		require.NoError(t, err)
		require.NoError(t, s.Sync(ctx))
	}), 17.0, "extended protocol")
	require.Equal(t, 2*1001, n.rows)
}
