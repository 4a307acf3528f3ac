package pgcatalog_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
)

// source is where the rows of one file of data come from.
type source struct {
	catalog, order, where string
	// columns that the file has in another form: those of node trees as SQL
	instead map[string]string
}

// sources are the catalogs whose rows are data. Objects with a user's OID are left out, and so are
// collations that initdb finds on the machine.
var sources = []source{
	{catalog: "pg_proc", order: "oid", instead: map[string]string{
		"proargdefaults": "pg_get_expr(proargdefaults, 0)",
		"prosqlbody":     "pg_get_function_sqlbody(oid)"}},
	{catalog: "pg_type", order: "oid", where: "typrelid = 0 AND oid < 12000 AND (typelem = 0 OR " +
		"NOT EXISTS (SELECT FROM pg_type e WHERE e.oid = t.typelem AND e.typrelid <> 0))"},
	{catalog: "pg_operator", order: "oid"},
	{catalog: "pg_cast", order: "oid"},
	{catalog: "pg_aggregate", order: "aggfnoid"},
	{catalog: "pg_am", order: "oid"},
	{catalog: "pg_opclass", order: "ctid"},
	{catalog: "pg_opfamily", order: "oid"},
	{catalog: "pg_amop", order: "oid"},
	{catalog: "pg_amproc", order: "oid"},
	{catalog: "pg_collation", order: "oid", where: "oid < 12000"},
	{catalog: "pg_conversion", order: "oid"},
	{catalog: "pg_language", order: "oid"},
	{catalog: "pg_range", order: "rngtypid"},
	{catalog: "pg_ts_config", order: "oid"},
	{catalog: "pg_ts_config_map", order: "mapcfg, maptokentype, mapseqno"},
	{catalog: "pg_ts_dict", order: "oid"},
	{catalog: "pg_ts_parser", order: "oid"},
	{catalog: "pg_ts_template", order: "oid"},
	{catalog: "pg_description", order: "classoid, objoid, objsubid",
		where: "classoid NOT IN ('pg_extension'::regclass, 'pg_namespace'::regclass) AND " +
			"NOT (classoid = 'pg_collation'::regclass AND objoid >= 12000)"},
}

// TestDataIsPostgreSQLs compares the files of data with PostgreSQL's catalogs; with -rewrite it
// writes them.
func TestDataIsPostgreSQLs(t *testing.T) {
	conn := pgtest.Connect(t)
	for _, s := range sources {
		t.Run(s.catalog, func(t *testing.T) {
			want := s.read(t, conn)
			file := filepath.Join("data", s.catalog+".tsv")
			if flag.Lookup("rewrite").Value.String() == "true" {
				require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
			}
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, want, string(got))
		})
	}
}

// read returns the file: a line of the columns' names, then PostgreSQL's COPY of the rows. A column
// with the same value in all rows is name=value in the first line instead.
func (s source) read(t *testing.T, conn *pgconn.PgConn) string {
	where := ""
	if s.where != "" {
		where = " WHERE " + s.where
	}
	names, types := s.attributes(t, conn)
	var header, exprs []string
	for i, name := range names {
		expr := name
		switch {
		case s.instead[name] != "":
			expr = s.instead[name]
		case types[i] == "regproc":
			expr += "::oid"
		}
		same := "SELECT CASE WHEN count(DISTINCT v) = 1 AND count(*) = count(v) THEN min(v) WHEN " +
			`count(v) = 0 THEN '\N' END FROM (SELECT (` + expr + ")::text v FROM " + s.catalog +
			" t" + where + ") x"
		if v := query(t, conn, same)[0][0]; v != nil {
			header = append(header, name+"="+string(v))
			continue
		}
		header, exprs = append(header, name), append(exprs, expr)
	}
	var b strings.Builder
	_, err := conn.CopyTo(t.Context(), &b, fmt.Sprintf("COPY (SELECT %s FROM %s t%s ORDER BY %s) "+
		"TO STDOUT", strings.Join(exprs, ", "), s.catalog, where, s.order))
	require.NoError(t, err)
	return strings.Join(header, "\t") + "\n" + b.String()
}

func (s source) attributes(t *testing.T, conn *pgconn.PgConn) (names, types []string) {
	for _, row := range query(t, conn, "SELECT attname, atttypid::regtype FROM pg_attribute WHERE "+
		"attrelid = '"+s.catalog+"'::regclass AND attnum > 0 ORDER BY attnum") {
		names, types = append(names, string(row[0])), append(types, string(row[1]))
	}
	return names, types
}

func query(t *testing.T, conn *pgconn.PgConn, text string) [][][]byte {
	r := conn.ExecParams(t.Context(), text, nil, nil, nil, nil).Read()
	require.NoError(t, r.Err, text)
	return slices.Clip(r.Rows)
}
