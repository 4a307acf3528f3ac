package eval

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// logicNode is AND, or if or is set OR. A row is decided by the first argument that is FALSE (OR:
// TRUE); later arguments are evaluated only for undecided rows.
type logicNode struct {
	args []arg
	or   bool
	sel  int
}

func (c *compiler) logic(es []expr.Expr, or bool) (node, error) {
	args, err := c.args(es)
	return &logicNode{args: args, or: or, sel: c.sel()}, err
}

func (n *logicNode) one(st *state, row []types.Datum) (types.Datum, error) {
	null := false
	for i := range n.args {
		d, err := n.args[i].n.one(st, row)
		switch {
		case err != nil:
			return types.Null, err
		case d.Null:
			null = true
		case (d.I != 0) == n.or:
			return types.NewBool(n.or), nil
		}
	}
	if null {
		return types.Null, nil
	}
	return types.NewBool(!n.or), nil
}

func (n *logicNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	open, decided := int64(1), int64(0)
	if n.or {
		open, decided = 0, 1
	}
	for _, i := range sel {
		out.I[i] = open
	}
	live := sel
	buf := st.sel(n.sel, len(sel))
	for k := range n.args {
		v, err := n.args[k].vec(st, b, live)
		if err != nil {
			return err
		}
		next := buf[:0]
		for _, i := range live {
			switch {
			case v.HasNull && v.Nulls[i]:
				out.SetNull(int(i))
				next = append(next, i)
			case v.I[i] == decided:
				out.I[i], out.Nulls[i] = decided, false
			default:
				next = append(next, i)
			}
		}
		if live = next; len(live) == 0 {
			break
		}
	}
	return nil
}

// notNode is NOT.
type notNode struct{ arg arg }

func (n *notNode) one(st *state, row []types.Datum) (types.Datum, error) {
	d, err := n.arg.n.one(st, row)
	if err != nil || d.Null {
		return types.Null, err
	}
	return types.NewBool(d.I == 0), nil
}

func (n *notNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	v, err := n.arg.vec(st, b, sel)
	if err != nil {
		return err
	}
	for _, i := range sel {
		if v.HasNull && v.Nulls[i] {
			out.SetNull(int(i))
			continue
		}
		out.I[i] = v.I[i] ^ 1
	}
	return nil
}

// isNullNode is IS [NOT] NULL. For a record, IS NULL is whether all fields are NULL, and IS NOT
// NULL whether none is. Neither may be true.
type isNullNode struct {
	arg arg
	not bool
}

func (n *isNullNode) test(d types.Datum) bool {
	if d.Null || n.arg.t.Family != types.Record {
		return d.Null != n.not
	}
	for _, f := range d.Arr.Elems {
		if f.Null == n.not {
			return false
		}
	}
	return true
}

func (n *isNullNode) one(st *state, row []types.Datum) (types.Datum, error) {
	d, err := n.arg.n.one(st, row)
	return types.NewBool(n.test(d)), err
}

func (n *isNullNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	v, err := n.arg.vec(st, b, sel)
	if err != nil {
		return err
	}
	if n.arg.t.Family == types.Record {
		for _, i := range sel {
			out.Set(int(i), types.NewBool(n.test(v.Get(int(i)))))
		}
		return nil
	}
	for _, i := range sel {
		out.I[i] = truth((v.HasNull && v.Nulls[i]) != n.not)
	}
	return nil
}

// isBoolNode is IS [NOT] TRUE or FALSE.
type isBoolNode struct {
	arg       arg
	want, not bool
}

func (n *isBoolNode) one(st *state, row []types.Datum) (types.Datum, error) {
	d, err := n.arg.n.one(st, row)
	is := !d.Null && (d.I != 0) == n.want
	return types.NewBool(is != n.not), err
}

func (n *isBoolNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	v, err := n.arg.vec(st, b, sel)
	if err != nil {
		return err
	}
	for _, i := range sel {
		is := !(v.HasNull && v.Nulls[i]) && (v.I[i] != 0) == n.want
		out.I[i] = truth(is != n.not)
	}
	return nil
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
