package compare

import "fmt"

// statement is a work that is one statement, timed by itself.
type statement struct {
	name string
	// reach is how many times as fast as PostgreSQL it is to be.
	reach float64
	// before runs untimed before each turn, in transactions of their own.
	before []string
	sql    string
	// copies, if not nil, gives the data of a COPY FROM STDIN.
	copies func(rows int) []byte
}

const remake = `DROP TABLE IF EXISTS u; CREATE TABLE u AS SELECT * FROM t;
	ALTER TABLE u ADD PRIMARY KEY (id)`

// statements are the works on a table t of n rows: id 1 to n, a and b integers, c a text.
func statements(n int) []statement {
	return []statement{
		{name: "COPY in, table with primary key", reach: 2, copies: copyRows,
			before: []string{"DROP TABLE IF EXISTS w", createT("w")}, sql: "COPY w FROM STDIN"},
		{name: "COPY in, table of the same transaction", reach: 2, copies: copyRows,
			before: []string{"DROP TABLE IF EXISTS w", "BEGIN", createT("w")},
			sql:    "COPY w FROM STDIN"},
		{name: "CREATE INDEX", reach: 1.2, before: []string{"COMMIT", "DROP INDEX IF EXISTS tc"},
			sql: "CREATE INDEX tc ON t (b, a)"},
		{name: "ANALYZE", reach: 1, sql: "ANALYZE t"},
		{name: "VACUUM", reach: 1,
			before: []string{remake, "DELETE FROM u WHERE id % 10 = 3"}, sql: "VACUUM u"},
		{name: "count(*)", reach: 1.1, sql: "SELECT count(*) FROM t"},
		{name: "filtered sum", reach: 1.5, sql: "SELECT sum(a) FROM t WHERE b % 3 = 1"},
		{name: "GROUP BY 1000", reach: 1.5, sql: "SELECT a, count(*), sum(b) FROM t GROUP BY a " +
			"ORDER BY a"},
		{name: "join with 1000 rows", reach: 1.3,
			sql: "SELECT k.name, count(*) FROM t JOIN k ON t.a = k.id GROUP BY k.name ORDER BY 1"},
		{name: "top 10", reach: 1.3, sql: "SELECT id, b FROM t ORDER BY b + a DESC, id LIMIT 10"},
		{name: "range of 1000 rows by index", reach: 1.3, sql: fmt.Sprintf(
			"SELECT count(c), min(c) FROM t WHERE b BETWEEN %d AND %d", n/2, n/2+999)},
		{name: "UPDATE 10 %", reach: 1, before: []string{remake},
			sql: "UPDATE u SET a = a + 1 WHERE id % 10 = 4"},
		{name: "DELETE 10 %", reach: 1, before: []string{remake},
			sql: "DELETE FROM u WHERE id % 10 = 3"},
		{name: "CREATE TABLE AS", reach: 1, before: []string{"DROP TABLE IF EXISTS x"},
			sql: "CREATE TABLE x AS SELECT * FROM t"},
	}
}

func createT(name string) string {
	return "CREATE TABLE " + name + " (id int PRIMARY KEY, a int, b int, c text)"
}

// tables makes what the works read.
func tables(n int) []string {
	return []string{
		createT("t"),
		fmt.Sprintf(`INSERT INTO t SELECT i, i %% 1000, (i * 7919::bigint) %% %d, 'text ' || i
			FROM generate_series(1, %d) AS s (i)`, n, n),
		"CREATE INDEX tb ON t (b)",
		"CREATE TABLE k (id int PRIMARY KEY, name text)",
		"INSERT INTO k SELECT i, 'name ' || i FROM generate_series(0, 999) AS s (i)",
		"CREATE TABLE branches (bid int PRIMARY KEY, bbalance int, filler char(88))",
		"CREATE TABLE tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84))",
		"CREATE TABLE accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
		"CREATE TABLE history (tid int, bid int, aid int, delta int, mtime timestamp)",
		"INSERT INTO branches SELECT i, 0 FROM generate_series(1, 10) AS s (i)",
		"INSERT INTO tellers SELECT i, (i - 1) / 10 + 1, 0 FROM generate_series(1, 100) AS s (i)",
		fmt.Sprintf(`INSERT INTO accounts SELECT i, (i - 1) / 10000 + 1, 0, ''
			FROM generate_series(1, %d) AS s (i)`, accounts),
		"CREATE TABLE sb (id int PRIMARY KEY, k int, c char(120), pad char(60))",
		fmt.Sprintf(`INSERT INTO sb SELECT i, (i * 7919::bigint) %% %d, 'c' || i, 'pad' || i
			FROM generate_series(1, %d) AS s (i)`, accounts, accounts),
		"CREATE INDEX sbk ON sb (k)",
		"CREATE SEQUENCE sbs START 1000001",
		"VACUUM ANALYZE",
	}
}

// accounts is how many rows the tables of transactions have.
const accounts = 100_000

// copyRows are n rows of a table as t, in COPY's text format.
func copyRows(n int) []byte {
	out := make([]byte, 0, 32*n)
	for i := 1; i <= n; i++ {
		out = fmt.Appendf(out, "%d\t%d\t%d\ttext %d\n", i, i%1000, i*7919%n, i)
	}
	return out
}
