package minidb_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheAdditionsAreDocumented: every view and setting of minidb's own is in docs/additions.md
// with what it has, and nothing else does. Functions are compared in planner/builtin, which can
// list them.
func TestTheAdditionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/additions.md")
	require.NoError(t, err)
	db := open(t)
	require.Equal(t, scalar[string](t, db, `
		SELECT string_agg(line, E'\n' ORDER BY line) FROM (SELECT c.relname || ': ' ||
		string_agg(a.attname || ' ' || format_type(a.atttypid, NULL), ', ' ORDER BY a.attnum)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
		WHERE c.relname LIKE 'minidb%' GROUP BY c.relname)
		AS views(line)`), documentedViews(string(page)))

	var documented []string
	for _, m := range regexp.MustCompile(
		"(?m)^\\| `(minidb\\.[a-z_]+)` \\| `([^`]*)` \\| .").FindAllStringSubmatch(string(page),
		-1) {
		documented = append(documented, m[1]+" = "+m[2])
	}
	require.Equal(t, scalar[string](t, db, `
		SELECT string_agg(name || ' = ' ||
			CASE name WHEN 'minidb.memory' THEN 'half of the memory'
				ELSE current_setting(name) END, E'\n' ORDER BY name) FROM pg_settings
		WHERE name LIKE 'minidb%'`), strings.Join(documented, "\n"))
}

// documentedViews lists the views that the page describes, with their columns, as the query does.
func documentedViews(page string) string {
	var views []string
	parts := strings.Split(page, "\n### ")
	for _, part := range parts[1:] {
		name, body, _ := strings.Cut(part, "\n")
		body, _, _ = strings.Cut(body, "\n## ")
		var columns []string
		for _, m := range regexp.MustCompile(
			"(?m)^\\| `([a-z_]+)` \\| `([a-z \\[\\]]+)` \\| .").FindAllStringSubmatch(body, -1) {
			columns = append(columns, m[1]+" "+m[2])
		}
		views = append(views, name+": "+strings.Join(columns, ", "))
	}
	slices.Sort(views)
	return strings.Join(views, "\n")
}
