package lint

import (
	"path"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	// definition is a line of a doc.go that states an invariant: "//   - I3 (one winner): …", or of
	// another package's numbers, "//   - mvcc I1: …".
	definition = regexp.MustCompile(`(?m)^//\s+(?:- )?(?:([a-z]+) )?(I\d+)\b`)
	// citation names invariants by their package: "txn: I7, I14", in a document also "`kv: I4`".
	citation = regexp.MustCompile("\\b([a-z]+): (I\\d+(?:`?,(?: |\\s*// ?)`?I\\d+)*)")
	number   = regexp.MustCompile(`I\d+`)
)

// TestCitedInvariantsAreDefined: each invariant that a Go file or a document cites by its package
// is stated in that package's doc.go, or with the package's name in one below it.
func TestCitedInvariantsAreDefined(t *testing.T) {
	defined := map[string]bool{}
	sources := files(t, ".go")
	for _, f := range sources {
		if path.Base(f.path) != "doc.go" {
			continue
		}
		for _, m := range definition.FindAllStringSubmatch(string(f.text), -1) {
			owner := m[1]
			if owner == "" {
				owner = filepath.Base(filepath.Dir(f.path))
			}
			defined[owner+": "+m[2]] = true
		}
	}
	cited := 0
	for _, f := range append(sources, files(t, ".md")...) {
		for _, m := range citation.FindAllStringSubmatch(string(f.text), -1) {
			for _, n := range number.FindAllString(m[2], -1) {
				cited++
				if !defined[m[1]+": "+n] {
					t.Errorf("%s cites %s: %s, which no doc.go defines", f.path, m[1], n)
				}
			}
		}
	}
	if cited < 50 {
		t.Errorf("only %d citations were found", cited)
	}
}
