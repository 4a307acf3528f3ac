package eval

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// rowValue collects the arguments of a node that computes row by row.
type rowValue struct {
	args   []arg
	types  []*types.Type
	datums int
}

func (r *rowValue) gather(st *state, row []types.Datum, dst []types.Datum) error {
	for i := range r.args {
		d, err := r.args[i].n.one(st, row)
		if err != nil {
			return err
		}
		dst[i] = d
	}
	return nil
}

// each computes the argument vectors and calls visit with the arguments of each row.
func (r *rowValue) each(st *state, b *types.Batch, sel []int32,
	visit func(i int, args []types.Datum) error) error {
	vecs := make([]*types.Vec, len(r.args))
	for k := range r.args {
		v, err := r.args[k].vec(st, b, sel)
		if err != nil {
			return err
		}
		vecs[k] = v
	}
	args := make([]types.Datum, len(vecs))
	for _, i := range sel {
		for k, v := range vecs {
			args[k] = v.Get(int(i))
		}
		if err := visit(int(i), args); err != nil {
			return err
		}
	}
	return nil
}

// arrayNode is ARRAY[…].
type arrayNode struct{ rowValue }

func (n *arrayNode) one(st *state, row []types.Datum) (types.Datum, error) {
	elems := make([]types.Datum, len(n.args))
	if err := n.gather(st, row, elems); err != nil {
		return types.Null, err
	}
	return n.build(elems)
}

func (n *arrayNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	return n.each(st, b, sel, func(i int, args []types.Datum) error {
		d, err := n.build(append([]types.Datum(nil), args...))
		out.Set(i, d)
		return err
	})
}

// build makes an array of elements, or of arrays one dimension up.
func (n *arrayNode) build(elems []types.Datum) (types.Datum, error) {
	if len(elems) == 0 || !n.types[0].Nests() {
		return types.NewArray(elems), nil
	}
	mismatch := sqlerr.New(sqlerr.ArraySubscriptError,
		"multidimensional arrays must have array expressions with matching dimensions")
	a := &types.ArrayValue{}
	for i, e := range elems {
		if e.Null {
			e.Arr = &types.ArrayValue{}
		}
		if i == 0 {
			a.Dims = append([]int{len(elems)}, e.Arr.Dims...)
			a.Lower = append([]int{1}, e.Arr.Lower...)
		} else if !slices.Equal(a.Dims[1:], e.Arr.Dims) || !slices.Equal(a.Lower[1:], e.Arr.Lower) {
			return types.Null, mismatch
		}
		a.Elems = append(a.Elems, e.Arr.Elems...)
	}
	if len(a.Elems) == 0 {
		a.Dims, a.Lower = nil, nil
	}
	return types.Datum{Arr: a}, nil
}

// recordNode is ROW(…).
type recordNode struct {
	rowValue
	names []string
}

// fieldNames returns the names of a row's fields; nil: f1, f2, ….
func fieldNames(e *expr.RowExpr) []string {
	if !e.T.IsComposite() {
		return e.Names
	}
	names := make([]string, len(e.Elems))
	for i, a := range e.T.Fields() {
		names[i] = a.Name
	}
	return names
}

func (n *recordNode) one(st *state, row []types.Datum) (types.Datum, error) {
	elems := make([]types.Datum, len(n.args))
	err := n.gather(st, row, elems)
	return types.Datum{Arr: &types.ArrayValue{Elems: elems, Types: n.types, Names: n.names}}, err
}

func (n *recordNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	return n.each(st, b, sel, func(i int, args []types.Datum) error {
		elems := append([]types.Datum(nil), args...)
		out.Set(i, types.Datum{Arr: &types.ArrayValue{Elems: elems, Types: n.types,
			Names: n.names}})
		return nil
	})
}

// quantifiedNode is Left op ANY|ALL (array).
type quantifiedNode struct {
	left, array arg
	op          *expr.Func
	types       []*types.Type
	all         bool
	buf         int
}

func (c *compiler) quantified(e *expr.Quantified) (node, error) {
	left, err := c.arg(e.Left)
	if err != nil {
		return nil, err
	}
	array, err := c.arg(e.Array)
	if err != nil {
		return nil, err
	}
	return &quantifiedNode{left: left, array: array, op: e.Op, all: e.All,
		types: []*types.Type{left.t, array.t.Elem}, buf: c.datums(2)}, nil
}

func (n *quantifiedNode) one(st *state, row []types.Datum) (types.Datum, error) {
	l, err := n.left.n.one(st, row)
	if err != nil {
		return types.Null, err
	}
	a, err := n.array.n.one(st, row)
	if err != nil {
		return types.Null, err
	}
	return n.compare(st, l, a)
}

func (n *quantifiedNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	l, err := n.left.vec(st, b, sel)
	if err != nil {
		return err
	}
	a, err := n.array.vec(st, b, sel)
	if err != nil {
		return err
	}
	for _, i := range sel {
		d, err := n.compare(st, l.Get(int(i)), a.Get(int(i)))
		if err != nil {
			return err
		}
		out.Set(int(i), d)
	}
	return nil
}

// compare has three-valued logic: ANY is TRUE if a comparison is TRUE, else NULL if one is NULL,
// else FALSE; ALL is FALSE if a comparison is FALSE, else NULL if one is NULL, else TRUE.
func (n *quantifiedNode) compare(st *state, l, array types.Datum) (types.Datum, error) {
	if array.Null {
		return types.Null, nil
	}
	if len(array.Arr.Elems) > 0 && l.Null && !n.op.NotStrict {
		return types.Null, nil
	}
	buf := st.datums[n.buf : n.buf+2]
	null := false
	st.rt.ArgTypes = n.types
	for _, e := range array.Arr.Elems {
		if e.Null && !n.op.NotStrict {
			null = true
			continue
		}
		buf[0], buf[1] = l, e
		d, err := n.op.Scalar(st.rt, buf)
		switch {
		case err != nil:
			return types.Null, err
		case d.Null:
			null = true
		case (d.I != 0) != n.all:
			return types.NewBool(!n.all), nil
		}
	}
	if null {
		return types.Null, nil
	}
	return types.NewBool(n.all), nil
}

// subqueryNode runs a plan with the context's runner.
type subqueryNode struct {
	rowValue // Args, then Left
	sq       *expr.Subquery
}

func (c *compiler) subquery(e *expr.Subquery) (node, error) {
	all := append(append([]expr.Expr(nil), e.Args...), e.Left...)
	args, err := c.args(all)
	if err != nil {
		return nil, err
	}
	n := &subqueryNode{rowValue: rowValue{args: args, types: typesOf(all)}, sq: e}
	n.datums = c.datums(len(args))
	return n, nil
}

func (n *subqueryNode) run(st *state, values []types.Datum) (types.Datum, error) {
	if st.ctx.Subquery == nil {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot use subquery here").At(n.sq.Pos)
	}
	k := len(n.sq.Args)
	return st.ctx.Subquery.RunSubquery(st.ctx, n.sq, values[:k:k], values[k:])
}

func (n *subqueryNode) one(st *state, row []types.Datum) (types.Datum, error) {
	buf := st.datums[n.datums : n.datums+len(n.args)]
	if err := n.gather(st, row, buf); err != nil {
		return types.Null, err
	}
	return n.run(st, buf)
}

func (n *subqueryNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	return n.each(st, b, sel, func(i int, args []types.Datum) error {
		d, err := n.run(st, args)
		if err != nil {
			return err
		}
		out.Set(i, d)
		return nil
	})
}
