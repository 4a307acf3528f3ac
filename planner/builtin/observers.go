package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// observerFunctions register and drop the observers of the database.
func observerFunctions() []def {
	return []def{
		n("minidb_create_observer(text,text,int8,text[],bool) oid", createObserver).volatile(),
		f("minidb_drop_observer(text) void",
			func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				o, err := observers(rt)
				if err == nil {
					err = o.DropObserver(a[0].S)
				}
				return types.Datum{}, err
			}).volatile(),
	}
}

func observers(rt *expr.Runtime) (expr.Observers, error) {
	if o, ok := rt.Session.(expr.Observers); ok {
		return o, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "observers are not supported here")
}

// createObserver registers an observer: name, table, version, columns (NULL: all), backfill.
func createObserver(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	for i, name := range [...]string{"name", "table", "version", "", "backfill"} {
		if name != "" && a[i].Null {
			return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed,
				"the %s of an observer must not be null", name)
		}
	}
	o := expr.Observer{Name: a[0].S, Table: a[1].S, Version: a[2].I, Backfill: a[4].Bool()}
	if !a[3].Null {
		for _, c := range a[3].Arr.Elems {
			if c.Null {
				return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed,
					"the columns of an observer must not contain null")
			}
			o.Columns = append(o.Columns, c.S)
		}
	}
	s, err := observers(rt)
	if err != nil {
		return types.Null, err
	}
	id, err := s.CreateObserver(o)
	return types.NewInt(int64(id)), err
}
