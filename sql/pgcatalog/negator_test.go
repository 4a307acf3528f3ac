package pgcatalog_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// TestNegatorsAreThoseOfTheCatalog compares the operators that take the place of NOT over another
// with pg_operator.
func TestNegatorsAreThoseOfTheCatalog(t *testing.T) {
	compared := 0
	for line := range strings.SplitSeq(run(t.Context(), newEngine(t)(), `
		SELECT o.oprleft, o.oprright, coalesce(n.oprname, ''), o.oprname FROM pg_operator o
		LEFT JOIN pg_operator n ON n.oid = o.oprnegate
		WHERE o.oprname !~ '[|]' AND o.oprkind = 'b' AND o.oprresult = 'bool'::regtype`), "\n") {
		fields := strings.Split(line, "|")
		if len(fields) < 4 {
			continue
		}
		fn := operatorOf(t, fields[3], fields[:2])
		if fn == nil {
			continue // is polymorphic, or an extension's
		}
		compared++
		opposite := ""
		if n := fn.Negator; n != nil {
			opposite = n.Name
		}
		assert.Equal(t, fields[2], opposite, line)
	}
	require.Greater(t, compared, 300)
}

// operatorOf returns the operator that takes two types, given by their OIDs.
func operatorOf(t *testing.T, name string, args []string) *expr.Func {
	for _, fn := range (builtin.Name{Name: name}).Operators(false) {
		same := len(fn.Args) == 2
		for i, arg := range args {
			oid, err := strconv.Atoi(arg)
			require.NoError(t, err)
			same = same && fn.Args[i] != nil && fn.Args[i].OID == types.OID(oid)
		}
		if same {
			return fn
		}
	}
	return nil
}
