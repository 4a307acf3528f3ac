package builtin

import (
	"time"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// takeFunctions hand changes of observers to the transaction that calls them, and ask for runs.
func takeFunctions() []def {
	const cols = "key jsonb,row jsonb,before jsonb,origin int8,generation int4"
	return []def{
		s("minidb_take(text,int8) record", cols, take).volatile(),
		s("minidb_take(text,int8,interval) record", cols, take).volatile(),
		f("minidb_notify(text,jsonb) void",
			asking(func(s expr.Takes, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
				return types.Datum{}, s.NotifyObserver(a[0].S, a[1].S)
			})).volatile(),
	}
}

// take passes pending changes of an observer: its name, how many at most, and how long to wait for
// the first.
func take(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	session, err := session[expr.Takes](rt)
	if err != nil {
		return err
	}
	var wait *time.Duration
	if len(a) > 2 {
		d := types.IntervalDuration(a[2].Iv)
		wait = &d
	}
	return session.Take(a[0].S, a[1].I, wait, func(c *expr.TakenChange) error {
		row := []types.Datum{types.Null, types.Null, types.Null, types.NewInt(c.Origin),
			types.NewInt(c.Generation)}
		for i, of := range []*expr.NamedValues{c.Key, c.Row, c.Before} {
			if of == nil {
				continue
			}
			if row[i], err = jsonbRow(rt, of); err != nil {
				return err
			}
		}
		return emit(row)
	})
}

// jsonbRow is to_jsonb of a row.
func jsonbRow(rt *expr.Runtime, of *expr.NamedValues) (types.Datum, error) {
	w := jsonForm{binary: true}.writer(rt)
	w.open('{')
	for i, c := range of.Columns {
		w.key(c.Name)
		w.b = appendJSON(w.b, rt, c.Type, of.Values[i])
	}
	w.close('}')
	return w.datum()
}
