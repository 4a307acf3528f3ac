package pgcatalog

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table/types"
)

// TestOperatorFunctionsAreThoseOfTheCatalog compares the list by which operators are called as
// functions with pg_operator; with -rewrite it writes the list.
func TestOperatorFunctionsAreThoseOfTheCatalog(t *testing.T) {
	const file = "../../planner/builtin/operator_functions.txt"
	typeNames, functions := map[types.OID]string{}, map[types.OID]string{}
	for r := range tuples("pg_type") {
		typeNames[r.oid("oid")] = r.text("typname")
	}
	for r := range tuples("pg_proc") {
		functions[r.oid("oid")] = r.text("proname")
	}
	var want strings.Builder
	for r := range tuples("pg_operator") {
		if extensionOf(r.oid("oid")) != "" {
			continue
		}
		fmt.Fprintf(&want, "%s %s", functions[r.oid("oprcode")], r.text("oprname"))
		for _, side := range []string{"oprleft", "oprright"} {
			if operand := r.oid(side); operand != 0 {
				want.WriteString(" " + typeNames[operand])
			}
		}
		want.WriteString("\n")
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		require.NoError(t, os.WriteFile(file, []byte(want.String()), 0o644))
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want.String(), string(got))
}
