package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// enumFunctions are those of all enums. Their arguments may be NULL where only the type counts.
var enumFunctions = []def{
	n("enum_first(anyenum) anyenum", enumEnd(func([]types.Label) int { return 0 })).stable(),
	n("enum_last(anyenum) anyenum",
		enumEnd(func(labels []types.Label) int { return len(labels) - 1 })).stable(),
	n("enum_range(anyenum,anyenum?) anyarray", enumRange).stable(),
	f("enum_smaller(anyenum,anyenum) anyenum", enumChoice(-1)),
	f("enum_larger(anyenum,anyenum) anyenum", enumChoice(1)),
	f("enum_cmp(anyenum,anyenum) int4",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return types.NewInt(int64(types.Compare(rt.ArgTypes[0], a[0], a[1]))), nil
		}),
}

// enumEnd returns the label at one end of the argument's type.
func enumEnd(at func([]types.Label) int) scalar {
	return func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		t := rt.ArgTypes[0].Base()
		if len(t.Def.Labels) == 0 {
			return types.Null, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
				"enum %s contains no values", t)
		}
		return labelValue(rt, t, &t.Def.Labels[at(t.Def.Labels)])
	}
}

func labelValue(rt *expr.Runtime, t *types.Type, l *types.Label) (types.Datum, error) {
	if l.Unsafe {
		return types.Null, types.UnsafeLabel(t, l, &rt.Format)
	}
	return types.Datum{S: l.Key}, nil
}

// enumRange lists the labels between two, both included. A NULL is the end of the type.
func enumRange(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	t := rt.ArgTypes[0].Base()
	low, high := types.Null, types.Null
	if len(a) == 2 {
		low, high = a[0], a[1]
	}
	var elems []types.Datum
	for i := range t.Def.Labels {
		l := &t.Def.Labels[i]
		if !low.Null && l.Key < low.S || !high.Null && l.Key > high.S {
			continue
		}
		d, err := labelValue(rt, t, l)
		if err != nil {
			return types.Null, err
		}
		elems = append(elems, d)
	}
	return types.NewArray(elems), nil
}

func enumChoice(sign int) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if types.Compare(rt.ArgTypes[0], a[0], a[1])*sign >= 0 {
			return a[0], nil
		}
		return a[1], nil
	}
}
