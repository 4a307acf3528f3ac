package pgcatalog_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/table/extension"
)

// memberSources are the catalogs with rows of members of extensions, in the order in which the
// members get object IDs. What a source depends on is before it.
var memberSources = []source{
	{catalog: "pg_type", order: "oid", where: "oid IN (SELECT id FROM members WHERE class = " +
		"'pg_type'::regclass)"},
	{catalog: "pg_proc", order: "oid", where: "oid IN (SELECT id FROM members WHERE class = " +
		"'pg_proc'::regclass)", instead: map[string]string{
		"proargdefaults": "pg_get_expr(proargdefaults, 0)",
		"prosqlbody":     "pg_get_function_sqlbody(oid)"}},
	{catalog: "pg_operator", order: "oid", where: "oid IN (SELECT id FROM members WHERE class = " +
		"'pg_operator'::regclass)"},
	{catalog: "pg_cast", order: "oid", where: "oid IN (SELECT id FROM members WHERE class = " +
		"'pg_cast'::regclass)"},
	{catalog: "pg_opfamily", order: "oid", where: "oid IN (SELECT id FROM members WHERE class = " +
		"'pg_opfamily'::regclass)"},
	{catalog: "pg_opclass", order: "oid", where: "oid IN (SELECT id FROM members WHERE class = " +
		"'pg_opclass'::regclass)"},
	{catalog: "pg_amop", order: "oid", where: "amopfamily IN (SELECT id FROM members)"},
	{catalog: "pg_amproc", order: "oid", where: "amprocfamily IN (SELECT id FROM members)"},
	{catalog: "pg_ts_template", order: "oid", where: "oid IN (SELECT id FROM members WHERE class" +
		" = 'pg_ts_template'::regclass)"},
	{catalog: "pg_ts_dict", order: "oid", where: "oid IN (SELECT id FROM members WHERE class = " +
		"'pg_ts_dict'::regclass)"},
	{catalog: "pg_aggregate", order: "aggfnoid",
		where: "aggfnoid::oid IN (SELECT id FROM members WHERE class = 'pg_proc'::regclass)"},
}

// TestMembersArePostgreSQLs compares the files of extensions' members with PostgreSQL's catalogs,
// object IDs aside; with -rewrite it writes them.
func TestMembersArePostgreSQLs(t *testing.T) {
	conn := pgtest.Connect(t)
	rows := map[string]*strings.Builder{}
	for _, e := range extension.All() {
		if e.Schema == "" {
			readMembers(t, conn, e, rows)
		}
	}
	for _, s := range memberSources {
		file := filepath.Join("data", "extensions", s.catalog+".tsv")
		want := rows[s.catalog].String()
		if flag.Lookup("rewrite").Value.String() == "true" {
			require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(got), s.catalog)
	}
}

// readMembers appends the rows of one extension's members, under the object IDs that they have
// here.
func readMembers(t *testing.T, conn *pgconn.PgConn, e extension.Extension,
	rows map[string]*strings.Builder) {
	run := func(text string, args ...any) {
		_, err := conn.Exec(t.Context(), fmt.Sprintf(text, args...)).ReadAll()
		require.NoError(t, err, text)
	}
	run(`BEGIN; CREATE SCHEMA members_of; SET LOCAL search_path = members_of, pg_catalog`)
	defer run(`ROLLBACK`)
	run(`CREATE EXTENSION "%s" SCHEMA members_of`, e.Name)
	run(`CREATE TEMP TABLE members AS SELECT classid AS class, objid AS id, 0::oid AS here
		FROM pg_depend JOIN pg_extension e ON refobjid = e.oid
		WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND extname = '%s'`, e.Name)
	run(`INSERT INTO members SELECT 'pg_type'::regclass, oid, 0 FROM pg_type
		WHERE typcategory = 'A' AND typelem IN (SELECT id FROM members)`)
	for _, c := range []string{"amop", "amproc"} {
		run(`INSERT INTO members SELECT 'pg_%s'::regclass, oid, 0 FROM pg_%[1]s
			WHERE %[1]sfamily IN (SELECT id FROM members)`, c)
	}
	var order []string
	for _, s := range memberSources[:10] {
		order = append(order, "'"+s.catalog+"'::regclass")
	}
	run(`UPDATE members m SET here = %d + n FROM (SELECT class, id, row_number() OVER (ORDER BY
		array_position(ARRAY[%s], class::regclass), id) - 1 AS n FROM members) o
		WHERE o.class = m.class AND o.id = m.id`, e.First, strings.Join(order, ", "))
	last := query(t, conn, "SELECT max(here) <= "+fmt.Sprint(e.Last)+" FROM members")[0][0]
	require.Equal(t, "t", string(last), "the range of %s is too small", e.Name)
	for _, s := range memberSources {
		s.appendMembers(t, conn, rows)
	}
}

// appendMembers appends the rows of one catalog, after its columns if these are the first.
func (s source) appendMembers(t *testing.T, conn *pgconn.PgConn,
	rows map[string]*strings.Builder) {
	names, types := s.attributes(t, conn)
	var header, exprs []string
	for i, name := range names {
		expr := name
		switch {
		case s.instead[name] != "":
			expr = s.instead[name]
		case strings.HasSuffix(name, "namespace"):
			header = append(header, name+"=0")
			continue
		case strings.HasSuffix(name, "owner"):
			header = append(header, name+"=10")
			continue
		case types[i] == "oid" || types[i] == "regproc":
			expr = fmt.Sprintf(`coalesce((SELECT here FROM members WHERE id = %s::oid),
				%[1]s::oid)`, name)
		case types[i] == "oidvector":
			expr = mappedList(name, " ", "")
		case types[i] == "oid[]":
			expr = mappedList(name, ",", "{}")
		}
		header, exprs = append(header, name), append(exprs, expr)
	}
	b := rows[s.catalog]
	if b == nil {
		b = &strings.Builder{}
		b.WriteString(strings.Join(header, "\t") + "\n")
		rows[s.catalog] = b
	}
	_, err := conn.CopyTo(t.Context(), b, fmt.Sprintf("COPY (SELECT %s FROM %s t WHERE %s "+
		"ORDER BY %s) TO STDOUT", strings.Join(exprs, ", "), s.catalog, s.where, s.order))
	require.NoError(t, err)
}

// mappedList is SQL for a list of object IDs, with those of members as they are here.
func mappedList(column, separator, brackets string) string {
	begin, end := "", ""
	if brackets != "" {
		begin, end = "'"+brackets[:1]+"' || ", " || '"+brackets[1:]+"'"
	}
	return fmt.Sprintf(`CASE WHEN %[2]s IS NOT NULL THEN %[1]sarray_to_string(ARRAY(
		SELECT coalesce((SELECT here FROM members
		WHERE id = u.x), u.x) FROM unnest(%[2]s::oid[]) WITH ORDINALITY u(x, n) ORDER BY n),
		'%[3]s')%[4]s END`, begin, column, separator, end)
}
