package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// sequenceFunctions call the session, which keeps the values that it has drawn.
func sequenceFunctions() []def {
	return []def{
		f("nextval(regclass) int8", sequenceValue(expr.Session.NextVal)).volatile(),
		f("currval(regclass) int8", sequenceValue(expr.Session.CurrVal)).volatile(),
		f("lastval() int8", answer(expr.Session.LastVal)).volatile(),
		f("setval(regclass,int8,bool?) int8", asking(setVal)).volatile(),
	}
}

// sequenceValue makes a function from a method that returns a value of a sequence.
func sequenceValue(of func(expr.Session, types.OID) (int64, error)) scalar {
	return asking(func(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		v, err := of(s, types.OID(a[0].I))
		return types.NewInt(v), err
	})
}

// setVal sets a sequence. Its third argument is whether the value counts as given out, which is the
// default.
func setVal(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	called := len(a) < 3 || a[2].Bool()
	return a[1], s.SetVal(types.OID(a[0].I), a[1].I, called)
}
