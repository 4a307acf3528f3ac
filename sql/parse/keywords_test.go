package parse

import (
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlname"
)

// TestKeywordConstantsFollowTheList: the constants are numbered by their order, so each must stand
// where its word stands in the list.
func TestKeywordConstantsFollowTheList(t *testing.T) {
	f, err := goparser.ParseFile(gotoken.NewFileSet(), "keywords.go", nil, 0)
	require.NoError(t, err)
	var names []string
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == gotoken.CONST {
			for _, s := range g.Specs {
				names = append(names, s.(*ast.ValueSpec).Names[0].Name)
			}
		}
	}
	require.Equal(t, "notKeyword", names[0])
	names = names[1:]
	require.Len(t, names, len(sqlname.Keywords))
	for i, name := range names {
		require.Equal(t, "kw"+strings.ReplaceAll(sqlname.Keywords[i].Word, "_", ""), "kw"+strings.ToLower(name[2:]))
	}
}
