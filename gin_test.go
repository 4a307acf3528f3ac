package minidb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// docs makes random values for the columns of a table with GIN indexes, and random conditions.
type docs struct{ *rand.Rand }

func (d docs) word() string { return []string{"a", "b", "c", "x1", "x2", ""}[d.IntN(6)] }

func (d docs) json(depth int) string {
	switch n := d.IntN(8); {
	case n < 3 && depth > 0:
		var parts []string
		for range d.IntN(4) {
			parts = append(parts, fmt.Sprintf("%q: %s", d.word(), d.json(depth-1)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n < 5 && depth > 0:
		var parts []string
		for range d.IntN(4) {
			parts = append(parts, d.json(depth-1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case n < 6:
		return []string{"0", "1", "1.0", "2e1", "20", "-3"}[d.IntN(6)]
	case n < 7:
		return fmt.Sprintf("%q", d.word())
	}
	return []string{"null", "true", "false"}[d.IntN(3)]
}

func (d docs) array() string {
	var parts []string
	for range d.IntN(4) {
		parts = append(parts, []string{"1", "2", "3", "40", "500", "NULL"}[d.IntN(6)])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (d docs) words() string {
	var parts []string
	for range d.IntN(3) {
		parts = append(parts, `"`+d.word()+`"`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// value is NULL now and then.
func (d docs) value(text string) string {
	if d.IntN(12) == 0 {
		return "NULL"
	}
	return "'" + text + "'"
}

func (d docs) condition(depth int) string {
	switch d.IntN(9) {
	case 0, 1:
		if depth > 0 {
			return "(" + d.condition(depth-1) + []string{" AND ", " OR "}[d.IntN(2)] +
				d.condition(depth-1) + ")"
		}
	case 2:
		return "j ? " + d.value(d.word())
	case 3:
		return "j " + []string{"?|", "?&"}[d.IntN(2)] + " " + d.value(d.words())
	case 4:
		return []string{"1", "3", "NULL"}[d.IntN(3)] + " = ANY (n)"
	case 5, 6:
		return "n " + []string{"@>", "<@", "&&", "="}[d.IntN(4)] + " " + d.value(d.array()) +
			"::int[]"
	case 7:
		return "k % 3 = " + fmt.Sprint(d.IntN(3))
	}
	return "j @> " + d.value(d.json(2)) + "::jsonb"
}

// The rows that GIN indexes find are those that a scan of the whole table finds, while rows change.
func TestGINFindsWhatASequentialScanFinds(t *testing.T) {
	db, ctx := open(t), context.Background()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	d := docs{rand.New(rand.NewPCG(seed, 0))}
	exec(t, db, "CREATE TABLE g (k int PRIMARY KEY, j jsonb, n int[]); "+
		"CREATE INDEX g_j ON g USING gin (j, n); CREATE INDEX g_p ON g USING gin "+
		"(j jsonb_path_ops) WHERE k % 3 = 1; CREATE INDEX g_n ON g USING gin (n)")
	byKeys := 0
	for round := range 4 {
		for range 150 {
			exec(t, db, fmt.Sprintf("INSERT INTO g VALUES (%d, %s, %s) ON CONFLICT (k) DO UPDATE "+
				"SET j = excluded.j, n = excluded.n", d.IntN(400), d.value(d.json(3)),
				d.value(d.array())))
		}
		exec(t, db, fmt.Sprintf("DELETE FROM g WHERE %s AND k < 50", d.condition(1)))
		if round == 2 {
			exec(t, db, "ANALYZE g")
		}
		require.NoError(t, db.Update(ctx, func(tx *minidb.Tx) error {
			for range 60 {
				cond := d.condition(2)
				answer := func(setting string) string {
					_, err := tx.Exec(ctx, "SET LOCAL enable_seqscan = on; "+
						"SET LOCAL enable_bitmapscan = on; SET LOCAL "+setting+" = off")
					require.NoError(t, err)
					var out string
					require.NoError(t, tx.QueryRow(ctx, "SELECT coalesce(string_agg(k::text, "+
						"' ' ORDER BY k), '') FROM g WHERE "+cond).Scan(&out), cond)
					return out
				}
				require.Equal(t, answer("enable_bitmapscan"), answer("enable_seqscan"), cond)
				var plan string
				require.NoError(t, tx.QueryRow(ctx, "EXPLAIN (FORMAT json) SELECT k FROM g WHERE "+
					cond).Scan(&plan))
				if strings.Contains(plan, "Bitmap Index Scan") {
					byKeys++
				}
			}
			return nil
		}))
	}
	require.Greater(t, byKeys, 50)
	problems, err := db.Check(ctx)
	require.NoError(t, err)
	require.Empty(t, problems)
}

// Two serializable transactions each look for rows with a key, and each insert one: one of them
// must fail, whatever the operator is by which they look.
func TestPhantomsThroughGINKeysAreConflicts(t *testing.T) {
	db, ctx := open(t), context.Background()
	exec(t, db, "CREATE TABLE g (k int PRIMARY KEY, n int[], j jsonb); "+
		"CREATE INDEX ON g USING gin (n); CREATE INDEX ON g USING gin (j); "+
		"INSERT INTO g SELECT i, ARRAY[i], jsonb_build_object('i', i) "+
		"FROM generate_series(1, 200) i; ANALYZE g")
	for i, cond := range []string{"n @> '{7,8}'", "n && '{7,1000}'", "n <@ '{1000}'",
		"1000 = ANY (n)", `j @> '{"i": 1000}'`, "j ? 'new'", "j ?| '{new,newer}'"} {
		count := func(tx *minidb.Tx) (n int) {
			require.NoError(t, tx.QueryRow(ctx, "SELECT count(*) FROM g WHERE "+cond).Scan(&n))
			return n
		}
		insert := func(tx *minidb.Tx, k int) error {
			_, err := tx.Exec(ctx, fmt.Sprintf("INSERT INTO g VALUES (%d, '{7,8,1000}', "+
				`'{"i": 1000, "new": 1}'), (%d, '{1000}', NULL)`, 1000+10*i+k, 1005+10*i+k))
			return err
		}
		begin := func() *minidb.Tx {
			tx, err := db.Begin(ctx, minidb.Isolation("serializable"))
			require.NoError(t, err)
			return tx
		}
		a, b := begin(), begin()
		require.Equal(t, count(a), count(b))
		errA := insert(a, 0)
		errB := insert(b, 1)
		if errA == nil {
			errA = a.Commit(ctx)
		}
		if errB == nil {
			errB = b.Commit(ctx)
		}
		require.True(t, (errA == nil) != (errB == nil), "%s: %v, %v", cond, errA, errB)
		_ = a.Rollback(ctx)
		_ = b.Rollback(ctx)
		exec(t, db, "DELETE FROM g WHERE k >= 1000")
	}
}
