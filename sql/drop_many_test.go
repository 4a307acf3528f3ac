package sql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
)

// TestStatementsOverManyRelations: what a statement reads that locks all relations of a schema
// grows as they do, and not as their square: it begins again once for all of the locks.
func TestStatementsOverManyRelations(t *testing.T) {
	engine := record.New(memkv.New(memkv.Options{}))
	engine.Stepping = true
	s := newSession(t, newEngineOn(t, engine, txn.Options{}))
	steps := func(n int) map[string]float64 {
		var b, names strings.Builder
		b.WriteString("BEGIN; CREATE SCHEMA many; CREATE SEQUENCE many.s;")
		for i := range n {
			fmt.Fprintf(&b, `CREATE TABLE many.t%d (a int DEFAULT nextval('many.s'),
				CHECK (a > 0)); CREATE VIEW many.v%d AS SELECT a FROM many.t%d;`, i, i, i)
			fmt.Fprintf(&names, ", many.t%d", i)
		}
		mustQuery(t, s, b.String()+"COMMIT")
		counts := map[string]float64{}
		for _, text := range []string{
			"GRANT SELECT ON ALL TABLES IN SCHEMA many TO public",
			"TRUNCATE" + names.String()[1:],
			"ALTER SCHEMA many RENAME TO more",
			"DROP SCHEMA more CASCADE",
		} {
			before := engine.Counts()
			mustQuery(t, s, text)
			counts[text[:5]] = float64(engine.Since(before).Steps)
		}
		return counts
	}
	steps(10)
	few, many := steps(20), steps(160)
	for name := range few {
		require.Less(t, many[name], 16*few[name], "%s: %v", name, few[name])
	}
}
