package pgcatalog

import (
	_ "embed"
	"regexp"
	"strings"
)

// The system views that PostgreSQL, too, defines by SQL. A view in these files names its columns
// with their types, which the results of its query are cast to.
var (
	//go:embed views.sql
	catalogViews string
	//go:embed information_schema.sql
	informationSchema string
)

var viewPattern = regexp.MustCompile(`(?s)CREATE VIEW (\w+)\.(\w+) \(([^)]*)\) AS\s(.*?;)\n`)

func systemViews() []relation {
	var out []relation
	for _, m := range viewPattern.FindAllStringSubmatch(catalogViews+informationSchema, -1) {
		columns := strings.Join(strings.Fields(m[3]), " ")
		out = append(out, relation{schema: m[1], name: m[2], columns: columns, query: m[4]})
	}
	return out
}
