package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forbidden lists words that comments do not use, each with what to write instead. There is one
// word per thing, a function reports or returns, and a process, a lock or a transaction is not a
// person.
var forbidden = []struct {
	words   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(says?|tells?) (whether|if)\b`), "reports whether"},
	{regexp.MustCompile(`(?i)\b(tells?|told)\b`), "reports, returns, sends, is called with"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "the transaction that, the caller that"},
	{regexp.MustCompile(`(?i)\b(who|whom)\b`), "that, with the noun it belongs to"},
	{regexp.MustCompile(`(?i)\b(he|him|his|himself)\b`), "it, its, or the noun"},
	{regexp.MustCompile(`(?i)\b(some|any|every|no)body('s)?\b`),
		"the transaction, session or caller"},
	{regexp.MustCompile(`(?i)\bstrangers?\b`), "another transaction"},
	{regexp.MustCompile(`(?i)\bcircles?\b`), "cycle"},
	{regexp.MustCompile(`(?i)\b(second|first) looks?\b`), "recheck"},
	{regexp.MustCompile(`(?i)\bstands\b`), "is, is at, occurs"},
	{regexp.MustCompile(`\b(answers|answered) (Err|calls|every call|an Update)`),
		"returns, is returned by"},
	{regexp.MustCompile(`(?i)\b(house|cellar)\b`), "architecture, lowest layer"},
	{regexp.MustCompile(`(?i)\bfloors? (above|below)\b`), "layers"},
}

// wordsAllowed lists phrases that contain a forbidden word and may be used.
var wordsAllowed = []string{
	"type circle", // PostgreSQL's geometric type
	"stands for",  // as an abbreviation does
}

// forbiddenNames matches identifiers that no code uses.
var forbiddenNames = regexp.MustCompile(
	`(?i)stranger|whoever|circle|cellar|secondLook|^told$|^tells?[A-Z]|^tell$`)

// namesAllowed are names that forbiddenNames matches and that mean PostgreSQL's type circle.
var namesAllowed = []string{"OIDCircle", "TCircle"}

// isShape reports whether a forbidden word means a shape, as it does in the files about the
// geometric types.
func isShape(file, word string) bool {
	return strings.Contains(file, "geometry") && strings.Contains(strings.ToLower(word), "circle")
}

// TestWordsOfCodeAndComments: comments of tests are held to the same words.
func TestWordsOfCodeAndComments(t *testing.T) {
	fset := token.NewFileSet()
	for _, f := range files(t, ".go") {
		dir := path.Dir(f.path)
		if dir == "internal/lint" {
			continue
		}
		tree, err := parser.ParseFile(fset, f.path, f.text,
			parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		complain := func(pos token.Pos, found, instead string) {
			if !isShape(f.path, found) {
				t.Errorf("%s: %q; say: %s", fset.Position(pos), found, instead)
			}
		}
		for _, group := range tree.Comments {
			for _, c := range group.List {
				wordsOf(c, complain)
			}
		}
		if f.isTest() {
			continue // names of tests are sentences
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && forbiddenNames.MatchString(id.Name) &&
				!slices.Contains(namesAllowed, id.Name) {
				complain(id.Pos(), id.Name, "the word of the style table")
			}
			return true
		})
	}
}

// TestWordsOfDocuments: what comments do not say documents do not say either.
func TestWordsOfDocuments(t *testing.T) {
	for _, f := range files(t, ".md") {
		for i, line := range strings.Split(string(f.text), "\n") {
			wordsOfLine(line, func(found, instead string) {
				t.Errorf("%s:%d: %q; say: %s", f.path, i+1, found, instead)
			})
		}
	}
}

// wordsOf finds the forbidden words of a comment.
func wordsOf(c *ast.Comment, complain func(pos token.Pos, found, instead string)) {
	for _, line := range strings.Split(c.Text, "\n") {
		wordsOfLine(line, func(found, instead string) { complain(c.Pos(), found, instead) })
	}
}

func wordsOfLine(line string, complain func(found, instead string)) {
	for _, allowed := range wordsAllowed {
		line = strings.ReplaceAll(line, allowed, "")
	}
	for _, w := range forbidden {
		if found := w.words.FindString(line); found != "" {
			complain(found, w.instead)
		}
	}
}
