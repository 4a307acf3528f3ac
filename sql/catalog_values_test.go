package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Values of the catalogs as PostgreSQL 15 has them.
func TestCatalogValues(t *testing.T) {
	s := newSession(t, newEngine(t))
	run := func(text string) string { return mustQuery(t, s, text) }
	run(`CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "zz" text, aa varchar(5),
		b bigint);
		CREATE SEQUENCE q; COMMENT ON TABLE t IS 'a table';
		INSERT INTO t (zz) SELECT 'x'
		FROM generate_series(1, 1000)`)
	for query, want := range map[string]string{
		// C8: columns in their order, whatever they are joined with
		`SELECT string_agg(column_name, ' ') FROM (SELECT c.column_name
			FROM information_schema.columns c
			JOIN pg_type p ON c.udt_name = p.typname WHERE table_name = 't') x`: "id zz aa b",
		// C9, C10
		"SELECT sequence_name FROM information_schema.sequences": "q",
		"SELECT obj_description('t'::regclass), " +
			"obj_description('t'::regclass, 'pg_class')": "a table|a table",
		// C11
		"SELECT typinput, typsend, typelem " +
			"FROM pg_type WHERE typname = '_text'": "array_in|array_send|25",
		"SELECT typname FROM pg_type WHERE typinput = 'namein'::regproc": "name",
		"SELECT typelem FROM pg_type WHERE typname = 'name'":             "18",
		"SELECT 'array_in(cstring,oid,integer)'::regprocedure::oid":      "750",
		"SELECT pg_typeof(sequence_schema), pg_typeof(data_type) " +
			"FROM information_schema.sequences": "name|character varying",
		// S31
		"SELECT pg_relation_size('t') > 20000, pg_indexes_size('t') > 0":                 "t|t",
		"SELECT pg_total_relation_size('t') = pg_table_size('t') + pg_indexes_size('t')": "t",
		"SELECT pg_database_size('postgres') = pg_total_relation_size('t')":              "t",
		"SELECT has_table_privilege('t', 'select, INSERT WITH GRANT OPTION')":            "t",
		"SELECT has_table_privilege('public', 't', 'select'), " +
			"has_type_privilege('public', 'int4', 'usage')": "f|t",
		"SELECT has_column_privilege('t', 'zz', 'select'), " +
			"has_table_privilege(99999999::oid, 'select')": "t|NULL",
	} {
		require.Equal(t, want, value(t, run, query), query)
	}
	require.Contains(t, run("PREPARE p AS SELECT 1; SELECT statement FROM pg_prepared_statements"),
		"PREPARE p AS SELECT 1")
	run("SET search_path = pg_catalog")
	require.Equal(t, "pg_catalog|{pg_catalog}|{pg_catalog}",
		value(t, run, "SELECT current_schema(), current_schemas(false), current_schemas(true)"))
	run("SET search_path = public")
	for query, code := range map[string]string{
		"SELECT has_table_privilege('nosuch', 't', 'select')": sqlerr.UndefinedObject,
		"SELECT has_table_privilege('nosuch', 'select')":      sqlerr.UndefinedTable,
		"SELECT has_table_privilege('t', 'nosuch')":           sqlerr.InvalidParameterValue,
		"SELECT has_schema_privilege('nosuch', 'usage')":      sqlerr.InvalidSchemaName,
		"SELECT has_database_privilege('nosuch', 'connect')":  sqlerr.InvalidCatalogName,
		"SELECT has_column_privilege('t', 'no', 'select')":    sqlerr.UndefinedColumn,
		"SELECT has_function_privilege('no(int)', 'execute')": sqlerr.UndefinedFunction,
		"SELECT pg_has_role('nosuch', 'usage')":               sqlerr.UndefinedObject,
		"SELECT pg_database_size('nosuch')":                   sqlerr.InvalidCatalogName,
	} {
		fails(t, s, query, code)
	}
}

// COPY may give an identity column its values that is GENERATED ALWAYS (C5).
func TestCopyGivesIdentityColumnsTheirValues(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, a int)")
	w := &transcript{s: s, input: []string{"7\t8\n"}}
	require.NoError(t, s.Query(t.Context(), "COPY t FROM STDIN", w))
	require.Contains(t, mustQuery(t, s, "SELECT * FROM t"), "\n7|8\n")
	fails(t, s, "INSERT INTO t VALUES (1, 2)", "428C9")
}
