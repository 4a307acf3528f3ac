package parse

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplitCutsAtSemicolonsThatEndStatements(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		rest string
	}{
		{"", nil, ""},
		{"select 1; select 2;", []string{"select 1;", " select 2;"}, ""},
		{"select ';' ; select $$;$$", []string{"select ';' ;"}, " select $$;$$"},
		{"select 'open; still", nil, "select 'open; still"},
		{"select 1 -- ;\n", nil, "select 1 -- ;\n"},
		{"/* ; */ select (1;2);", []string{"/* ; */ select (1;2);"}, ""},
		{"select 1; select 2x; select 3", []string{"select 1;", " select 2x; select 3"}, ""},
		{";;  -- nothing\n", nil, ""},
	} {
		got, rest := Split(c.text)
		require.Equal(t, c.want, got, c.text)
		require.Equal(t, c.rest, rest, c.text)
	}
}
