package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/stretchr/testify/require"
)

// TestGolden runs the scripts of testdata:
//
//	parse [pos]   statements to trees, with positions as @n when asked for
//	expr [pos]    one expression
//	type          one type name
//
// An error prints its code, its position and its message.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			show := sprint
			if d.HasArg("pos") {
				show = sprintPositions
			}
			switch d.Cmd {
			case "parse":
				parsed, err := Parse(t.Context(), d.Input)
				if err != nil {
					return describe(err)
				}
				var sb strings.Builder
				for _, s := range parsed {
					sb.WriteString(show(s.Stmt) + "\n")
				}
				return sb.String()
			case "expr":
				e, err := ParseExpr(d.Input)
				if err != nil {
					return describe(err)
				}
				return show(e) + "\n"
			case "type":
				n, err := ParseTypeName(d.Input)
				if err != nil {
					return describe(err)
				}
				return show(n) + "\n"
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// describe prints what a client would see of err.
func describe(err error) string {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err.Error() + "\n"
	}
	s := fmt.Sprintf("%s at %d: %s\n", e.Code, e.Position, e.Message)
	if e.Hint != "" {
		s += "hint: " + e.Hint + "\n"
	}
	return s
}

func TestStatementsKnowTheirText(t *testing.T) {
	parsed, err := Parse(t.Context(), "  select $2 ; ;\n-- c\ninsert into t values ($1); /* end "+
		"*/ ")
	require.NoError(t, err)
	require.Len(t, parsed, 2)
	require.Equal(t, "select $2", parsed[0].Text)
	require.Equal(t, 2, parsed[0].Offset)
	require.Equal(t, 2, parsed[0].Params)
	require.Equal(t, "insert into t values ($1)", parsed[1].Text)
	require.Equal(t, 1, parsed[1].Params)
}

func TestEmptyTextsHaveNoStatements(t *testing.T) {
	for _, text := range []string{"", " ", ";", " ; ;\n", "-- ping", "/* ping */;"} {
		parsed, err := Parse(t.Context(), text)
		require.NoError(t, err, text)
		require.Empty(t, parsed, text)
		one, err := ParseOne(t.Context(), text)
		require.NoError(t, err, text)
		require.Nil(t, one.Stmt, text)
	}
}

func TestParseOneRefusesTwoStatements(t *testing.T) {
	one, err := ParseOne(t.Context(), "select 1;")
	require.NoError(t, err)
	require.NotNil(t, one.Stmt)
	_, err = ParseOne(t.Context(), "select 1; select 2")
	require.EqualError(t, err, "cannot insert multiple commands into a prepared statement")
}
