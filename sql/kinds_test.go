package sql

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// A statement that the table of kinds does not name would run as a schema change that nothing
// knows.
func TestEveryStatementHasOneKind(t *testing.T) {
	table, err := os.ReadFile("kinds.go")
	require.NoError(t, err)
	cases := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\tcase \*ast\.(\w+):$`).FindAllSubmatch(table, -1) {
		cases[string(m[1])]++
	}
	nodes, err := filepath.Glob("../planner/ast/*.go")
	require.NoError(t, err)
	statements := 0
	for _, name := range nodes {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^func \(\*(\w+)\) statement\(\)`).FindAllSubmatch(
			text, -1) {
			statements++
			require.Equal(t, 1, cases[string(m[1])], "*ast.%s", m[1])
		}
	}
	require.Equal(t, statements, len(cases))
}
