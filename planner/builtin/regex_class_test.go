package builtin

import "testing"

// Without regard to case [:upper:] and [:lower:] are [:alpha:], as in PostgreSQL, so letters
// without case are in them. This depends on the locale there, so no script can hold it (S39).
func TestCaseClassesWithoutCaseAreAllLetters(t *testing.T) {
	for _, class := range []string{"[[:upper:]]", "[[:lower:]]"} {
		for text, want := range map[string]bool{"日本": true, "a": true, "A": true, "1": false} {
			re, err := compileRegex(class, regexFlags{fold: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := re.MatchString(text); got != want {
				t.Errorf("%q ~* %q is %v, want %v", text, class, got, want)
			}
		}
	}
}
