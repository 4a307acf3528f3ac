package sqlname

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdentifiers(t *testing.T) {
	for in, want := range map[string][]string{
		`a,  B , "C d", "e""f"`: {"a", "b", "C d", `e"f`}, "": nil, " ": nil,
	} {
		got, ok := SplitList(in)
		require.True(t, ok, in)
		require.Equal(t, want, got)
	}
	for _, in := range []string{"a,", ",", "a b", `"a`, `"a"b`} {
		_, ok := SplitList(in)
		require.False(t, ok, in)
	}
	for in, want := range map[string][]string{`s."T".c`: {"s", "T", "c"}, " Plain ": {"plain"}} {
		got, ok := SplitQualified(in)
		require.True(t, ok, in)
		require.Equal(t, want, got)
	}
	for _, in := range []string{"", ".", "a.", `"`, "a b", `""`} {
		_, ok := SplitQualified(in)
		require.False(t, ok, in)
	}
}
