package shell

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestTablesAreAlignedAsPsqlAlignsThem(t *testing.T) {
	tab := newTable([]pgconn.FieldDescription{{Name: "id", DataTypeOID: 23},
		{Name: "a name", DataTypeOID: 25}})
	tab.add([][]byte{[]byte("1"), []byte("é")})
	tab.add([][]byte{[]byte("1000"), nil})
	tab.add([][]byte{[]byte("2"), []byte("two\nlines")})
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	tab.print(w, false)
	w.Flush()
	require.Equal(t, "  id  | a name \n"+
		"------+--------\n"+
		"    1 | é\n"+
		" 1000 | \n"+
		"    2 | two   +\n"+
		"      | lines\n"+
		"(3 rows)\n\n", out.String())
	out.Reset()
	tab.print(w, true)
	w.Flush()
	require.Contains(t, out.String(), "-[ RECORD 1 ]")
	require.Contains(t, out.String(), "a name | é\n")
}

func TestErrorsPointAtTheirLine(t *testing.T) {
	number, line, column := locate("select 1,\n é nope\nfrom t", 14)
	require.Equal(t, 2, number)
	require.Equal(t, " é nope", line)
	require.Equal(t, 3, column)
	var out bytes.Buffer
	s := New(nil, &out, &out)
	s.report(&pgconn.PgError{Severity: "ERROR", Code: "42703", Message: "no", Position: 8,
		Hint: "h"}, "select nope")
	require.Equal(t, "ERROR:  42703: no\nLINE 1: select nope\n               ^\nHINT:  h\n",
		out.String())
}
