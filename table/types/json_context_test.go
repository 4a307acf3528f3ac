package types

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// TestJSONErrorsShowWhere: what PostgreSQL 15 shows as CONTEXT.
func TestJSONErrorsShowWhere(t *testing.T) {
	long := `{"` + strings.Repeat("k", 60) + `": nope}`
	for text, want := range map[string]string{
		`{"a":}`: `line 1: {"a":}`, `{"a":1`: `line 1: {"a":1`, `[1,2`: `line 1: [1,2`,
		`{"a" 1}`: `line 1: {"a" 1...`,
		`{1:2}`:   `line 1: {1...`, `"\u12"`: `line 1: "\u12"`, `"\ud800"`: `line 1: "\ud800"`,
		`"abc`: `line 1: "abc`,
		`tru`:  `line 1: tru`, ``: `line 1: `, `{"a":1}}`: `line 1: {"a":1}}`, `01`: `line 1: 01`,
		`"\x"`:     `line 1: "\x...`,
		"\"a\nb\"": `line 1: "a`, "{\"a\":1,\n\"b\": nope,\n\"c\": 3}": `line 2: "b": nope...`,
		`"\u0000"`: `line 1: "\u0000...`,
		long:       `line 1: ...` + strings.Repeat("k", 42) + `": nope...`,
	} {
		_, err := ParseJSON(text, nil)
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e, text)
		require.Equal(t, "JSON data, "+want, e.Context, text)
	}
}
