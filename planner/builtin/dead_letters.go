package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// deadLetterFunctions deal with the rows that observers have given up: all of an observer, or the
// one of which minidb_dead_letters shows the key. They return how many there were.
func deadLetterFunctions() []def {
	call := func(drop bool) func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			d, ok := rt.Session.(expr.DeadLetters)
			if !ok {
				return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
					"observers are not supported here")
			}
			var key *string
			if len(a) > 1 {
				key = &a[1].S
			}
			n, err := d.SettleDeadLetters(a[0].S, key, drop)
			return types.NewInt(n), err
		}
	}
	return []def{
		f("minidb_retry_dead_letters(text,text?) int8", call(false)).volatile(),
		f("minidb_drop_dead_letters(text,text?) int8", call(true)).volatile(),
	}
}
