package pgcatalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/builtin"
)

// TestEveryFunctionIsListed: functions that PostgreSQL has are found among its rows by name, the
// others have an object ID in own_functions.tsv. Left are those that SQL calls without parentheses,
// and two of information_schema that take rows of catalogs there and any records here.
func TestEveryFunctionIsListed(t *testing.T) {
	own := map[string]bool{}
	for _, o := range ownFunctions() {
		own[builtin.Signature(o.fn.Name, o.fn.Args)] = true
	}
	var missing []string
	for _, name := range builtin.FunctionNames() {
		listed := false
		for _, i := range functions().byName[name] {
			listed = listed || builtinObjects().function(functions().byID[i].id)
		}
		for _, f := range builtin.Functions(name) {
			if sig := builtin.Signature(name, f.Args); !listed && !own[sig] {
				missing = append(missing, sig)
			}
		}
	}
	require.Equal(t, "_pg_truetypid(record, record) _pg_truetypmod(record, record) "+
		"current_catalog() current_date() current_role() current_time() "+
		"current_time(integer) current_timestamp() current_timestamp(integer) localtime() "+
		"localtime(integer) localtimestamp() localtimestamp(integer) user()",
		strings.Join(missing, " "))
}
