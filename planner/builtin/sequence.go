package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// sequenceFunctions call the session, which keeps the values that it has drawn.
func sequenceFunctions() []def {
	return []def{
		f("nextval(regclass) int8", answer1(func(s expr.Session, seq int64) (int64, error) {
			if g, ok := s.(expr.SequenceGuard); ok {
				if err := g.MayAdvance(types.OID(seq)); err != nil {
					return 0, err
				}
			}
			return s.NextVal(types.OID(seq))
		})).volatile(),
		f("currval(regclass) int8", answer1(func(s expr.Session, seq int64) (int64, error) {
			return s.CurrVal(types.OID(seq))
		})).volatile(),
		f("lastval() int8", answer(expr.Session.LastVal)).volatile(),
		f("setval(regclass,int8,bool?) int8", asking(setVal)).volatile(),
	}
}

// setVal sets a sequence. Its third argument is whether the value counts as given out, which is the
// default.
func setVal(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	called := len(a) < 3 || a[2].Bool()
	return a[1], s.SetVal(types.OID(a[0].I), a[1].I, called)
}

// NextIdentity is nextval as the default of an identity column: the privilege to insert into the
// table is enough for it.
var NextIdentity = &expr.Func{Name: "nextval", Args: []*types.Type{types.TRegClass},
	Returns: types.TInt8, Volatility: expr.Volatile,
	Scalar: answer1(func(s expr.Session, seq int64) (int64, error) {
		return s.NextVal(types.OID(seq))
	})}
