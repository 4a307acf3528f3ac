package eval

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// compiler assigns scratch slots while it converts the tree of expressions to one of nodes.
type compiler struct {
	code    *code
	operand []*caseNode // enclosing simple CASEs, innermost last
}

// node is one step of a program.
type node interface {
	// into computes rows sel of out. Requires: these entries of out are not NULL.
	into(st *state, b *types.Batch, sel []int32, out *types.Vec) error
	// one computes one row.
	one(st *state, row []types.Datum) (types.Datum, error)
}

// arg is the use of a node's result by its parent: slot is the scratch vector that holds it.
type arg struct {
	n    node
	t    *types.Type
	slot int
}

// vec computes rows sel and returns the vector that holds them: a column, or scratch memory that is
// valid until this use of the node is computed again.
func (a *arg) vec(st *state, b *types.Batch, sel []int32) (*types.Vec, error) {
	switch n := a.n.(type) {
	case *colNode:
		return b.Cols[n.index], nil
	case *constNode:
		return a.constant(st, n, b.Len), nil
	case *caseOperandNode:
		return st.vecArgs[n.owner.vecArg], nil
	}
	v := st.scratch(a.slot, a.t, b.Len)
	return v, a.n.into(st, b, sel, v)
}

// constant returns a vector of at least size equal values. It is filled once and extended when
// needed.
func (a *arg) constant(st *state, n *constNode, size int) *types.Vec {
	v := st.vecs[a.slot]
	if v == nil {
		v = types.NewVec(a.t, size)
		st.vecs[a.slot] = v
	}
	if filled := st.filled[a.slot]; filled < size {
		v.Resize(max(size, filled))
		for i := filled; i < size; i++ {
			v.Set(i, n.value)
		}
		st.filled[a.slot] = size
	}
	return v
}

func (c *compiler) arg(e expr.Expr) (arg, error) {
	n, err := c.node(e)
	if err != nil {
		return arg{}, err
	}
	t := e.Type()
	c.code.vecs = append(c.code.vecs, t)
	return arg{n: n, t: t, slot: len(c.code.vecs) - 1}, nil
}

func (c *compiler) args(es []expr.Expr) ([]arg, error) {
	out := make([]arg, len(es))
	for i, e := range es {
		a, err := c.arg(e)
		if err != nil {
			return nil, err
		}
		out[i] = a
	}
	return out, nil
}

// datums reserves n scratch datums and returns the index of the first.
func (c *compiler) datums(n int) int {
	c.code.datums += n
	return c.code.datums - n
}

// sel reserves a scratch selection.
func (c *compiler) sel() int {
	c.code.sels++
	return c.code.sels - 1
}

func typesOf(es []expr.Expr) []*types.Type {
	out := make([]*types.Type, len(es))
	for i, e := range es {
		out[i] = e.Type()
	}
	return out
}

func (c *compiler) node(e expr.Expr) (node, error) {
	switch e := e.(type) {
	case *expr.Const:
		return &constNode{value: e.Value}, nil
	case *expr.Col:
		return &colNode{index: e.Index}, nil
	case *expr.Param:
		return &paramNode{index: e.N - 1}, nil
	case *expr.Var:
		return &varNode{slot: e.Slot}, nil
	case *expr.Call:
		return c.call(e)
	case *expr.And:
		return c.logic(e.Args, false)
	case *expr.Or:
		return c.logic(e.Args, true)
	case *expr.Not:
		a, err := c.arg(e.Arg)
		return &notNode{arg: a}, err
	case *expr.IsNull:
		a, err := c.arg(e.Arg)
		return &isNullNode{arg: a, not: e.Not}, err
	case *expr.IsBool:
		a, err := c.arg(e.Arg)
		return &isBoolNode{arg: a, want: e.Want, not: e.Not}, err
	case *expr.Case:
		return c.caseExpr(e)
	case *expr.CaseOperand:
		if len(c.operand) == 0 {
			return nil, sqlerr.New(sqlerr.InternalError, "CASE operand outside of CASE")
		}
		return &caseOperandNode{owner: c.operand[len(c.operand)-1]}, nil
	case *expr.Coalesce:
		args, err := c.args(e.Args)
		return &coalesceNode{args: args, sel: c.sel()}, err
	case *expr.InList:
		return c.inList(e)
	case *expr.Cast:
		return c.cast(e)
	case *expr.ArrayExpr:
		args, err := c.args(e.Elems)
		return &arrayNode{rowValue: rowValue{args: args, types: typesOf(e.Elems)}}, err
	case *expr.RowExpr:
		args, err := c.args(e.Elems)
		return &recordNode{rowValue: rowValue{args: args, types: typesOf(e.Elems)},
			names: fieldNames(e)}, err
	case *expr.Quantified:
		return c.quantified(e)
	case *expr.Subquery:
		return c.subquery(e)
	}
	return nil, sqlerr.New(sqlerr.InternalError, "expression %T cannot be evaluated", e)
}

// colNode is a column of the input.
type colNode struct{ index int }

func (n *colNode) into(_ *state, b *types.Batch, sel []int32, out *types.Vec) error {
	out.CopyRows(b.Cols[n.index], sel)
	return nil
}

func (n *colNode) one(_ *state, row []types.Datum) (types.Datum, error) { return row[n.index], nil }

// constNode is a constant.
type constNode struct{ value types.Datum }

func (n *constNode) into(_ *state, _ *types.Batch, sel []int32, out *types.Vec) error {
	out.Fill(n.value, sel)
	return nil
}

func (n *constNode) one(*state, []types.Datum) (types.Datum, error) { return n.value, nil }

// paramNode is $N.
type paramNode struct{ index int }

func (n *paramNode) into(st *state, _ *types.Batch, sel []int32, out *types.Vec) error {
	d, err := n.one(st, nil)
	out.Fill(d, sel)
	return err
}

func (n *paramNode) one(st *state, _ []types.Datum) (types.Datum, error) {
	if n.index >= len(st.ctx.Params) {
		return types.Null, sqlerr.New(sqlerr.UndefinedParameter, "no value found for parameter %d",
			n.index+1)
	}
	return st.ctx.Params[n.index], nil
}

// varNode is a value of the outer row.
type varNode struct{ slot int }

func (n *varNode) into(st *state, _ *types.Batch, sel []int32, out *types.Vec) error {
	out.Fill(st.ctx.Vars[n.slot], sel)
	return nil
}

func (n *varNode) one(st *state, _ []types.Datum) (types.Datum, error) {
	return st.ctx.Vars[n.slot], nil
}
