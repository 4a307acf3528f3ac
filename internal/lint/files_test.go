package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// file is one of the module's files, with its path from the root.
type file struct {
	path string
	text []byte
}

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// files reads all files of the repository whose names end so, but for generated code.
func files(t *testing.T, ext string) (out []*file) {
	t.Helper()
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" ||
			strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ext:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(text, []byte("// Code generated ")) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		out = append(out, &file{path: filepath.ToSlash(rel), text: text})
		return err
	}))
	require.NotEmpty(t, out)
	return out
}

// eachDecl parses all Go files and visits what they declare.
func eachDecl(t *testing.T, visit func(f *file, fset *token.FileSet, d ast.Decl)) {
	t.Helper()
	fset := token.NewFileSet()
	for _, f := range files(t, ".go") {
		tree, err := parser.ParseFile(fset, f.path, f.text,
			parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range tree.Decls {
			visit(f, fset, d)
		}
	}
}

func TestFilesStayBelow800Lines(t *testing.T) {
	for _, f := range files(t, ".go") {
		if n := bytes.Count(f.text, []byte{'\n'}); n > 800 {
			t.Errorf("%s has %d lines: look for its second idea", f.path, n)
		}
	}
}

// TestLinesStayWithin100Columns counts a tab as four columns. Documents are held to it but for
// tables, pasted sessions and links; golden files (testdata) are not.
func TestLinesStayWithin100Columns(t *testing.T) {
	for _, f := range files(t, ".go") {
		for i, line := range bytes.Split(f.text, []byte{'\n'}) {
			n := utf8.RuneCount(line) + 3*bytes.Count(line, []byte{'\t'})
			if n > 100 {
				t.Errorf("%s:%d has %d columns", f.path, i+1, n)
			}
		}
	}
	for _, f := range files(t, ".md") {
		fenced := false
		for i, line := range strings.Split(string(f.text), "\n") {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if fenced || strings.HasPrefix(line, "|") || !strings.Contains(line, " ") {
				continue // a session, a table, a link by itself
			}
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("%s:%d has %d columns", f.path, i+1, n)
			}
		}
	}
}

// functionLinesMax is for all: a flat switch or a table may need more than the 70 that a function
// should have. Tests may be a list of cases.
const functionLinesMax = 90

func TestFunctionsStayShort(t *testing.T) {
	eachDecl(t, func(f *file, fset *token.FileSet, d ast.Decl) {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || f.isTest() {
			return
		}
		from, to := fset.Position(fn.Pos()), fset.Position(fn.End())
		if n := to.Line - from.Line + 1; n > functionLinesMax {
			t.Errorf("%s: %s has %d lines", from, fn.Name.Name, n)
		}
	})
}

func TestExportedNamesAreDocumented(t *testing.T) {
	eachDecl(t, func(f *file, fset *token.FileSet, d ast.Decl) {
		if f.isTest() {
			return
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && !explained(fset, d) {
				t.Errorf("%s: %s has no comment", fset.Position(d.Pos()), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				ts, ok := spec.(*ast.TypeSpec)
				if ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil &&
					ts.Comment == nil {
					t.Errorf("%s: type %s has no comment", fset.Position(ts.Pos()), ts.Name.Name)
				}
			}
		}
	})
}

// explained reports that a method needs no comment: its type is not exported, its name is common,
// or it is one line that says what it does.
func explained(fset *token.FileSet, d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return false
	}
	recv := d.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	if generic, ok := recv.(*ast.IndexExpr); ok {
		recv = generic.X
	}
	if name, ok := recv.(*ast.Ident); ok && !name.IsExported() {
		return true
	}
	switch d.Name.Name {
	case "Error", "String":
		return true
	}
	return fset.Position(d.Pos()).Line == fset.Position(d.End()).Line
}

// initsAllowed lists where init may do something: what the standard library and the TiDB parser ask
// for.
var initsAllowed = map[string]bool{"driver.go": true, "sql/parse/driver.go": true}

func TestInitDoesNothing(t *testing.T) {
	eachDecl(t, func(f *file, fset *token.FileSet, d ast.Decl) {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" &&
			!initsAllowed[f.path] {
			t.Errorf("%s: a package does nothing when it is imported", fset.Position(d.Pos()))
		}
	})
}

// TestNoTestWaitsForTheClock: how long something takes depends on the machine. A test waits for a
// fact, as long as it takes.
func TestNoTestWaitsForTheClock(t *testing.T) {
	clock := regexp.MustCompile(
		`\btime\.Sleep\(|\b(require|assert)\.(Eventually|EventuallyWithT|Never|WithinDuration)\(`)
	for _, f := range files(t, ".go") {
		if at := clock.FindIndex(f.text); f.isTest() && at != nil {
			t.Errorf("%s:%d: %s", f.path, 1+bytes.Count(f.text[:at[0]], []byte{'\n'}),
				f.text[at[0]:at[1]])
		}
	}
}

// TestAtomicsAreTyped: a plain word can be read past the atomic functions.
func TestAtomicsAreTyped(t *testing.T) {
	untyped := regexp.MustCompile(
		`\batomic\.(Add|And|CompareAndSwap|Load|Or|Store|Swap)(Int|Uint|Pointer)`)
	for _, f := range files(t, ".go") {
		if at := untyped.FindIndex(f.text); at != nil {
			t.Errorf("%s:%d: use atomic.Int64 and its like", f.path,
				1+bytes.Count(f.text[:at[0]], []byte{'\n'}))
		}
	}
}

// TestDocumentsNameWhatExists: the Go files that documents and package comments name, and the files
// to which documents link.
func TestDocumentsNameWhatExists(t *testing.T) {
	known := map[string]bool{}
	var documents []*file
	for _, f := range files(t, ".go") {
		known[filepath.Base(f.path)] = true
		if filepath.Base(f.path) == "doc.go" {
			documents = append(documents, f)
		}
	}
	pages := files(t, ".md")
	for _, f := range append(documents, pages...) {
		for _, name := range regexp.MustCompile(`\b[a-z0-9_]+\.go\b`).FindAllString(string(f.text),
			-1) {
			if !known[name] {
				t.Errorf("%s names %s, which does not exist", f.path, name)
			}
		}
	}
	for _, f := range pages {
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(
			string(f.text), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", "..", filepath.Dir(f.path),
				link[1])); err != nil {
				t.Errorf("%s links to %s: %v", f.path, link[1], err)
			}
		}
	}
}
