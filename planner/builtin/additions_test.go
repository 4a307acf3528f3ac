package builtin

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheAdditionsAreDocumented: docs/additions.md has each function that only minidb has, with its
// result, and no other function.
func TestTheAdditionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/additions.md")
	require.NoError(t, err)
	var want, got []string
	for name, overloads := range load().functions {
		if !strings.HasPrefix(name, "minidb") {
			continue
		}
		for _, fn := range overloads {
			want = append(want, Signature(name, fn.Args)+" "+displayName(fn.Returns))
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(minidb_[a-z_]+\\(.*\\))` \\| `([a-z ]+)` "+
		"\\| .").FindAllStringSubmatch(string(page), -1) {
		got = append(got, m[1]+" "+m[2])
	}
	slices.Sort(want)
	slices.Sort(got)
	require.NotEmpty(t, want)
	require.Equal(t, want, got)
}
