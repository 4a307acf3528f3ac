package pgwire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
)

// Rows are inserted in batches, and yet an error names the line of its row, whether a value cannot
// be computed, a constraint is violated or a key is there already.
func TestErrorsOfCopyNameTheLineInABatch(t *testing.T) {
	c := start(t, sql.Options{}).login(t, nil)
	c.send(&pgproto3.Query{String: "CREATE TABLE t (a int PRIMARY KEY CHECK (a <> -1), g int " +
		"GENERATED ALWAYS AS (10 / a) STORED)"})
	c.until("ReadyForQuery")
	for _, line := range []int{1, 2, 100, 128, 129, 512, 999, 1000, 1001, 1500} {
		for value, context := range map[string]string{
			"0":  `COPY t, line %d: \"0\"`,
			"-1": `COPY t, line %d: \"-1\"`,
			"7":  `COPY t, line %d"`,
			"x":  `COPY t, line %d, column a: \"x\"`,
		} {
			var data strings.Builder
			for i := 1; i <= 1600; i++ {
				switch {
				case i == line:
					fmt.Fprintln(&data, value)
				case i == 1600 && value == "7":
					fmt.Fprintln(&data, "-1") // comes too late to matter
				default:
					fmt.Fprintln(&data, 2000+i)
				}
			}
			first := ""
			if value == "7" {
				first = "7\n"
				context = strings.Replace(context, "%d", fmt.Sprint(line+1), 1)
			} else {
				context = fmt.Sprintf(context, line)
			}
			c.send(&pgproto3.Query{String: "COPY t FROM STDIN"},
				&pgproto3.CopyData{Data: []byte(first + data.String())}, &pgproto3.CopyDone{})
			require.Contains(t, c.until("ReadyForQuery"), context)
		}
	}
}
