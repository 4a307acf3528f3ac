package sql_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlname"
)

// value is the one value of a query's result, lines and all.
func value(t *testing.T, run func(string) string, text string) string {
	t.Helper()
	out := run(text)
	_, out, _ = strings.Cut(out, "\n")
	at := strings.LastIndex(strings.TrimSuffix(out, "\n"), "\n")
	require.Positive(t, at, text)
	return out[:at]
}

// TestKeyWordsAsNames gives every key word that needs quotes to a table, a column, an index, a
// sequence, a schema and a constraint, by name and by rename. Views, checks, generated columns,
// defaults and foreign keys follow, and each text that the catalogs print of them is read back.
func TestKeyWordsAsNames(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	s := newSession(t, newEngine(t))
	run := func(text string) string { return mustQuery(t, s, text) }
	for _, word := range slices.Sorted(maps.Keys(sqlname.Keywords)) {
		if sqlname.Keywords[word].Category == sqlname.Unreserved {
			continue
		}
		q := `"` + word + `"`
		run(`CREATE TABLE t (a int UNIQUE CHECK (a > 0),
			g int GENERATED ALWAYS AS (a * 2) STORED, d int DEFAULT 7);
			CREATE VIEW v AS SELECT a, g FROM t WHERE a IS NOT NULL;
			CREATE SEQUENCE s; CREATE SCHEMA ` + q + `;
			CREATE TABLE c (r int REFERENCES t (a) ON UPDATE CASCADE,
				n int DEFAULT nextval('s') + 10)`)
		run(`ALTER TABLE t RENAME a TO ` + q + `; ALTER TABLE t RENAME TO ` + q)
		run(`ALTER TABLE c RENAME r TO ` + q + `; ALTER SEQUENCE s SET SCHEMA ` + q)
		run(`CREATE UNIQUE INDEX i ON ` + q + ` (` + q + `); ALTER INDEX i RENAME TO "i ` + word +
			`"`)
		run(`INSERT INTO ` + q + ` VALUES (1)`)
		run(`INSERT INTO c VALUES (1)`)
		run(`UPDATE ` + q + ` SET ` + q + ` = 2`)
		require.Equal(t, "2|11", value(t, run, `SELECT * FROM c`))
		run(`ALTER SEQUENCE ` + q + `.s RENAME TO ` + q)
		run(`INSERT INTO c VALUES (2)`)
		require.Equal(t, "2|11\n2|12", value(t, run, `SELECT * FROM c ORDER BY n`))
		require.Equal(t, "2|4", value(t, run, `SELECT * FROM v`))
		require.Equal(t, q, value(t, run, `SELECT '`+q+`'::regclass::text`))
		require.Equal(t, q, value(t, run, `SELECT quote_ident('`+word+`')`))
		require.Equal(t, q, value(t, run, `SELECT format('%I', '`+word+`')`))

		check := value(t, run,
			`SELECT pg_get_constraintdef(oid) FROM pg_constraint
				WHERE contype = 'c' AND conrelid <> 0`)
		require.Equal(t, `CHECK ((`+q+` > 0))`, check)
		run(`ALTER TABLE ` + q + ` ADD CONSTRAINT ` + q + ` ` + check)
		generated := value(t, run,
			`SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = '`+q+
				`'::regclass AND adnum = 2`)
		require.Equal(t, `(`+q+` * 2)`, generated)
		index := value(t, run, `SELECT pg_get_indexdef('"i `+word+`"'::regclass)`)
		run(`DROP INDEX "i ` + word + `"; ` + index)
		view := value(t, run, `SELECT pg_get_viewdef('v'::regclass)`)
		run(`CREATE VIEW "v ` + word + `" AS ` + view)
		require.Equal(t, "2|4", value(t, run, `SELECT * FROM "v `+word+`"`))
		key := value(t, run, `SELECT pg_get_constraintdef(oid) FROM pg_constraint
			WHERE contype = 'f'`)
		require.Equal(t, `FOREIGN KEY (`+q+`) REFERENCES `+q+`(`+q+`) ON UPDATE CASCADE`, key)
		run(`ALTER TABLE c ADD CONSTRAINT ` + q + ` ` + key)
		run(`DROP TABLE ` + q + ` CASCADE; DROP TABLE c; DROP SCHEMA ` + q + ` CASCADE`)
	}
}

// TestKeysNamedByKeyWords: definitions of keys and of foreign keys are valid SQL.
func TestKeysNamedByKeyWords(t *testing.T) {
	s := newSession(t, newEngine(t))
	run := func(text string) string { return mustQuery(t, s, text) }
	run(`CREATE TABLE "table" ("primary" int PRIMARY KEY, "unique" int UNIQUE,
		"user" int REFERENCES "table")`)
	require.Equal(t, "FOREIGN KEY (\"user\") REFERENCES \"table\"(\"primary\")\nPRIMARY KEY "+
		"(\"primary\")\nUNIQUE (\"unique\")",
		value(t, run, `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid <> 0
			ORDER BY 1`))
}
