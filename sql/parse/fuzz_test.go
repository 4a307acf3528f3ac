package parse

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// addSeeds gives the fuzzer every input of the golden scripts.
func addSeeds(f *testing.F) {
	paths, err := filepath.Glob("testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // the fuzzer's own folder
		}
		for _, script := range strings.Split(string(b), "\n\n") {
			if _, input, ok := strings.Cut(script, "\n"); ok {
				input, _, _ = strings.Cut(input, "\n----")
				f.Add(input)
			}
		}
	}
}

// FuzzLex: the scanner never panics, and its tokens and the white space between them cover the
// text.
func FuzzLex(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		var l lexer
		l.lex(t.Context(), text)
		end := int32(0)
		for i := range l.toks {
			tok := &l.toks[i]
			if tok.pos < end || tok.end < tok.pos || int(tok.end) > len(text) {
				t.Fatalf("token %d of %q: [%d, %d) after %d", i, text, tok.pos, tok.end, end)
			}
			gap := text[end:tok.pos]
			if i > 0 && text[l.toks[i-1].pos] == ';' { // a run of semicolons is one token
				gap = strings.ReplaceAll(gap, ";", " ")
			}
			if tok.kind != tokError && !blank(gap) {
				t.Fatalf("%q between tokens of %q", gap, text)
			}
			end = tok.end
		}
		last := l.toks[len(l.toks)-1].kind
		if (last == tokError) != (l.err != nil) || last != tokError && last != tokEOF {
			t.Fatalf("%q ends with token kind %d, error %v", text, last, l.err)
		}
	})
}

// blank reports whether s is white space and comments only.
func blank(s string) bool {
	l := lexer{src: s}
	return !l.skipSpace() && l.err == nil
}

// FuzzParse: the parser never panics, its errors are PostgreSQL's, and its positions lie in the
// text.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := Parse(t.Context(), text)
		if err != nil {
			var e *sqlerr.Error
			if !errors.As(err, &e) {
				t.Fatalf("%q: %v is no *sqlerr.Error", text, err)
			}
			if e.Code == sqlerr.InternalError || e.Position < 0 || e.Position > len(text)+1 {
				t.Fatalf("%q: %s at %d: %s", text, e.Code, e.Position, e.Message)
			}
			return
		}
		for _, s := range parsed {
			if text[s.Offset:s.Offset+len(s.Text)] != s.Text {
				t.Fatalf("%q: %q does not stand at %d", text, s.Text, s.Offset)
			}
			checkTree(t, text, reflect.ValueOf(s.Stmt))
		}
	})
}

var exprType = reflect.TypeFor[ast.Expr]()

// checkTree walks v: positions lie in the text, and lists hold no nil expression.
func checkTree(t *testing.T, text string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			checkTree(t, text, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if e := v.Index(i); e.Type() == exprType && e.IsNil() {
				t.Fatalf("%q: nil expression in a list", text)
			}
			checkTree(t, text, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if pos, ok := v.Field(i).Interface().(ast.Pos); ok {
				if pos < 0 || int(pos) > len(text)+1 {
					t.Fatalf("%q: %s at %d", text, v.Type().Name(), pos)
				}
				continue
			}
			checkTree(t, text, v.Field(i))
		}
	}
}
