package builtin

import (
	"testing"

	"github.com/minidb/minidb/internal/are"
)

// If case is ignored, [:upper:] and [:lower:] are [:alpha:], as in PostgreSQL, and include letters
// without case. In PostgreSQL this depends on the locale, so no script can test it (S39).
func TestCaseClassesWithoutCaseAreAllLetters(t *testing.T) {
	for _, class := range []string{"[[:upper:]]", "[[:lower:]]"} {
		for text, want := range map[string]bool{"日本": true, "a": true, "A": true, "1": false} {
			re, err := compileRegex(class, are.Flags{Fold: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := re.MatchString(text); got != want {
				t.Errorf("%q ~* %q is %v, want %v", text, class, got, want)
			}
		}
	}
}
