package parse

import (
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlname"
)

// TestWordsOfTheGrammarAreKeyWords reads this package's sources: a misspelt word in a call such as
// p.accept("alter", "tabel"), in a switch over a token's key word, or in a comparison with it would
// never match.
func TestWordsOfTheGrammarAreKeyWords(t *testing.T) {
	words := 0
	check := func(file string, exprs ...ast.Expr) {
		for _, e := range exprs {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == gotoken.STRING {
				word, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				if word != "" {
					require.Contains(t, sqlname.Keywords, word, file)
					words++
				}
			}
		}
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := goparser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && takesKeywords[s.Sel.Name] {
					check(file, n.Args...)
				}
			case *ast.BinaryExpr:
				if isKeyword(n.X) {
					check(file, n.Y)
				}
			case *ast.SwitchStmt:
				for _, c := range n.Body.List {
					if n.Tag != nil && isKeyword(n.Tag) {
						check(file, c.(*ast.CaseClause).List...)
					}
				}
			}
			return true
		})
	}
	require.Greater(t, words, 700)
}

var takesKeywords = map[string]bool{"at": true, "accept": true, "acceptAny": true, "want": true}

// isKeyword reports whether e is a token's key word, by its name.
func isKeyword(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name == "kw"
	case *ast.Ident:
		return e.Name == "kw"
	}
	return false
}
