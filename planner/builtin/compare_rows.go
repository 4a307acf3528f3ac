package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// recordComparisons are the operators of records as values. NULLs in them are equal to each other
// and above everything else; unlike CompareRows they are never NULL.
func recordComparisons() []def {
	out := compareBy("(record,record)", expr.Immutable,
		func(_ *expr.Runtime, a, b types.Datum) (int, error) {
			return compareRecords(a.Arr, b.Arr, comparisonFunction)
		})
	equality := compareBy("(record,record)", expr.Immutable,
		func(_ *expr.Runtime, a, b types.Datum) (int, error) {
			return compareRecords(a.Arr, b.Arr, equalityOperator)
		})
	return append(equality[:2], out[2:]...)
}

// compareRecords compares field by field, up to the first that differs. Fields at one place must
// have one type, and that must have what by names.
func compareRecords(a, b *types.ArrayValue, by string) (int, error) {
	for i := 0; i < len(a.Elems) && i < len(b.Elems); i++ {
		l, r := a.Types[i], b.Types[i]
		if l.OID != r.OID {
			return 0, errDissimilar(l, r, i)
		}
		if l.Unordered() {
			return 0, errNotComparable(by, l)
		}
		if l.Family == types.Record && !a.Elems[i].Null && !b.Elems[i].Null {
			c, err := compareRecords(a.Elems[i].Arr, b.Elems[i].Arr, by)
			if c != 0 || err != nil {
				return c, err
			}
			continue
		}
		if c := types.Compare(l, a.Elems[i], b.Elems[i]); c != 0 {
			return c, nil
		}
	}
	if len(a.Elems) != len(b.Elems) {
		return 0, errDifferentColumns()
	}
	return 0, nil
}

// errDissimilar is for two records whose fields i have different types.
func errDissimilar(l, r *types.Type, i int) error {
	return sqlerr.New(sqlerr.DatatypeMismatch,
		"cannot compare dissimilar column types %s and %s at record column %d", l.String(),
		r.String(), i+1)
}

func errDifferentColumns() error {
	return sqlerr.New(sqlerr.DatatypeMismatch,
		"cannot compare record types with different numbers of columns")
}

// CompareRows returns the function of (a, b) op (c, d) in SQL's three-valued logic, over two
// records. Fields has the operator op of each pair of fields, same their equality.
func CompareRows(op string, fields, same []*expr.Func) *expr.Func {
	c := &rowComparison{op: op, fields: fields, same: same}
	return &expr.Func{Name: op, Args: []*types.Type{types.TRecord, types.TRecord},
		Returns: types.TBool, NotStrict: true, Volatility: expr.Stable, Scalar: c.compare}
}

type rowComparison struct {
	op           string
	fields, same []*expr.Func
}

func (c *rowComparison) compare(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	l, r := a[0].Arr, a[1].Arr
	switch c.op {
	case "=":
		return c.each(rt, l, r, false)
	case "<>":
		return c.each(rt, l, r, true)
	}
	for i := range c.fields {
		same, err := callField(rt, c.same[i], l, r, i)
		if err != nil || same.Null {
			return types.Null, err
		}
		if !same.Bool() || i == len(c.fields)-1 {
			return callField(rt, c.fields[i], l, r, i)
		}
	}
	return types.Null, nil
}

// each looks for a pair of fields for which the operator is decisive: it decides the comparison,
// which is else NULL if one of the results is NULL.
func (c *rowComparison) each(rt *expr.Runtime, l, r *types.ArrayValue,
	decisive bool) (types.Datum, error) {
	null := false
	for i := range c.fields {
		d, err := callField(rt, c.fields[i], l, r, i)
		switch {
		case err != nil:
			return types.Null, err
		case d.Null:
			null = true
		case d.Bool() == decisive:
			return d, nil
		}
	}
	if null {
		return types.Null, nil
	}
	return types.NewBool(!decisive), nil
}

// callField applies an operator to field i of two records.
func callField(rt *expr.Runtime, fn *expr.Func, l, r *types.ArrayValue,
	i int) (types.Datum, error) {
	if (l.Elems[i].Null || r.Elems[i].Null) && !fn.NotStrict {
		return types.Null, nil
	}
	outer := rt.ArgTypes
	rt.ArgTypes = []*types.Type{l.Types[i], r.Types[i]}
	d, err := fn.Scalar(rt, []types.Datum{l.Elems[i], r.Elems[i]})
	rt.ArgTypes = outer
	return d, err
}
