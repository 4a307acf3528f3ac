package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func recipes(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "recipes.md"))
	require.NoError(t, err)
	return string(text)
}

func TestRecipesNamePathsThatExist(t *testing.T) {
	path := regexp.MustCompile("`([a-z_][a-z0-9_/]*/[a-z0-9_]+(?:\\.go|\\.md)?|[a-z]+\\.go)`")
	for _, name := range path.FindAllStringSubmatch(recipes(t), -1) {
		_, err := os.Stat(filepath.Join("..", "..", name[1]))
		require.NoError(t, err)
	}
}

// maxTypeFiles is in how many files a type that has a family of its own may be named. What needs
// more switches on a family where its storage class would do.
const maxTypeFiles = 12

// TestATypeIsNamedWhereTheRecipeSays takes uuid for the model of a type.
func TestATypeIsNamedWhereTheRecipeSays(t *testing.T) {
	_, recipe, _ := strings.Cut(recipes(t), "## A type\n")
	recipe, _, _ = strings.Cut(recipe, "\nVectors, hashes")
	var want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(recipe, -1) {
		want = append(want, row[1])
	}
	named := regexp.MustCompile(`\b(UUID|TUUID|OIDUUID|uuid)\b`)
	comment := regexp.MustCompile(`//.*`)
	var got []string
	for _, f := range files(t, ".go") {
		text := bytes.ReplaceAll(f.text, []byte("uuid-ossp"), nil) // an extension
		if !strings.HasSuffix(f.path, "/doc.go") {
			text = comment.ReplaceAll(text, nil)
		}
		if !f.isTest() && !strings.HasPrefix(f.path, "tests/") && named.Match(text) {
			got = append(got, f.path)
		}
	}
	require.ElementsMatch(t, want, got)
	require.LessOrEqual(t, len(got), maxTypeFiles)
}
