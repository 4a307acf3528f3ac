package lint

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const architecture = "docs/ARCHITECTURE.md"

var (
	// walked is a line of a statement's way through the code: "  Session.run   sql/run.go".
	walked = regexp.MustCompile(`(?m)^ {4}[ \d]*((?:\w+\.)?\w+) +([a-z_]+/[\w/]+\.go)\b`)
	// pathNamed is a file in backticks, perhaps with what it declares: "`txn/read.go` (`Get`)".
	pathNamed = regexp.MustCompile("`([a-z_]+/[\\w/]+\\.(?:go|sql))`" +
		"(?: \\(((?:`\\w+`(?:, )?)+)\\))?")
)

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	require.NoError(t, err)
	return string(text)
}

// declaredIn returns what each Go file declares: "rowKey" and, of a method, "layout.rowKey".
func declaredIn(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	eachDecl(t, func(f *file, _ *token.FileSet, decl ast.Decl) {
		if out[f.path] == nil {
			out[f.path] = map[string]bool{}
		}
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			out[f.path][decl.Name.Name] = true
			if decl.Recv != nil {
				out[f.path][receiver(decl)+"."+decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						out[f.path][name.Name] = true
					}
				case *ast.TypeSpec:
					out[f.path][spec.Name.Name] = true
				}
			}
		}
	})
	return out
}

// TestTheWayThroughTheCodeIsThere: each function of the walk through one INSERT is in its file.
func TestTheWayThroughTheCodeIsThere(t *testing.T) {
	declared := declaredIn(t)
	lines := walked.FindAllStringSubmatch(document(t, architecture), -1)
	for _, m := range lines {
		if !declared[m[2]][m[1]] {
			t.Errorf("%s: %s is not in %s", architecture, m[1], m[2])
		}
	}
	require.Greater(t, len(lines), 25)
}

// TestPlacesExist: the files to which the architecture and the recipes send a reader, with what is
// said to be in them.
func TestPlacesExist(t *testing.T) {
	declared := declaredIn(t)
	for _, page := range []string{architecture, "docs/recipes.md"} {
		places := pathNamed.FindAllStringSubmatch(document(t, page), -1)
		require.Greater(t, len(places), 30)
		for _, m := range places {
			if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			for _, name := range strings.FieldsFunc(m[2], func(r rune) bool {
				return strings.ContainsRune("`, ", r)
			}) {
				if !declared[m[1]][name] {
					t.Errorf("%s: %s is not in %s", page, name, m[1])
				}
			}
		}
	}
}

// TestPathsOfDocumentsExist: every path that a document names, from the module's root or from where
// the document is.
func TestPathsOfDocumentsExist(t *testing.T) {
	path := regexp.MustCompile(`\b[a-z_]+(?:/[a-z0-9_-]+)+\.(?:go|md|sql|svg)\b`)
	checked := 0
	for _, f := range files(t, ".md") {
		if strings.HasPrefix(f.path, "CHANGELOG") {
			continue // history, which may name what is gone
		}
		for _, name := range path.FindAllString(string(f.text), -1) {
			checked++
			_, err := os.Stat(filepath.Join("..", "..", name))
			_, beside := os.Stat(filepath.Join("..", "..", filepath.Dir(f.path), name))
			if err != nil && beside != nil {
				t.Errorf("%s names %s, which does not exist", f.path, name)
			}
		}
	}
	require.Greater(t, checked, 100)
}

// TestTheArchitectureListsAllPackages: tests/… and examples are there as a whole.
func TestTheArchitectureListsAllPackages(t *testing.T) {
	_, list, _ := strings.Cut(document(t, architecture), "## Packages")
	list, _, _ = strings.Cut(list, "\n## ")
	for _, p := range packages(t) {
		rel := p.rel()
		name, internal := strings.CutPrefix(rel, "internal/")
		if under(rel, []string{"tests", "examples"}) {
			continue
		}
		if !internal && rel == "." {
			name = "minidb (root)"
		}
		if !regexp.MustCompile(`(?m)(^|[ (])` + regexp.QuoteMeta(name) + `([ ,]|$)`).MatchString(
			list) {
			t.Errorf("%s does not list package %s", architecture, rel)
		}
	}
}
