package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/mutants"
)

// TestMutantsApply: a change of a function that a mutant changes also changes the mutant. That it
// compiles and is caught, `MINIDB_MUTANTS=all go test -run TestMutants ./internal/mutants` shows.
func TestMutantsApply(t *testing.T) {
	all, err := mutants.Load("../..")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	_, failed := mutants.NewOverlay("../..", all)
	for _, err := range failed {
		t.Errorf("%v", err)
	}
}

// TestTheProductHoldsNoMutants: their place is testdata/mutants.
func TestTheProductHoldsNoMutants(t *testing.T) {
	named := regexp.MustCompile(`(?i)mutant|planted`)
	eachDecl(t, func(f *file, fset *token.FileSet, d ast.Decl) {
		if f.isTest() || strings.HasPrefix(f.path, "internal/mutants/") {
			return
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && named.MatchString(id.Name) {
				t.Errorf("%s: %s", fset.Position(id.Pos()), id.Name)
			}
			return true
		})
	})
}
