package eval

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// caseNode is CASE. Each arm is evaluated only for the rows that no earlier arm has taken.
type caseNode struct {
	operand *arg // of a simple CASE
	datum   int  // its value for one row
	vecArg  int  // its value for a batch
	whens   []whenArm
	els     *arg
	hits    int // scratch selections: rows of an arm,
	rest    int // and rows left over
}

type whenArm struct{ cond, result arg }

func (c *compiler) caseExpr(e *expr.Case) (node, error) {
	n := &caseNode{hits: c.sel(), rest: c.sel(), datum: c.datums(1), vecArg: c.code.vecArgs}
	c.code.vecArgs++
	if e.Operand != nil {
		a, err := c.arg(e.Operand)
		if err != nil {
			return nil, err
		}
		n.operand = &a
	}
	for _, w := range e.Whens {
		if n.operand != nil {
			c.operand = append(c.operand, n)
		}
		cond, err := c.arg(w.Cond)
		if n.operand != nil {
			c.operand = c.operand[:len(c.operand)-1]
		}
		if err != nil {
			return nil, err
		}
		result, err := c.arg(w.Result)
		if err != nil {
			return nil, err
		}
		n.whens = append(n.whens, whenArm{cond: cond, result: result})
	}
	if e.Else != nil {
		a, err := c.arg(e.Else)
		if err != nil {
			return nil, err
		}
		n.els = &a
	}
	return n, nil
}

func (n *caseNode) one(st *state, row []types.Datum) (types.Datum, error) {
	if n.operand != nil {
		d, err := n.operand.n.one(st, row)
		if err != nil {
			return types.Null, err
		}
		st.datums[n.datum] = d
	}
	for i := range n.whens {
		d, err := n.whens[i].cond.n.one(st, row)
		if err != nil {
			return types.Null, err
		}
		if d.Bool() {
			return n.whens[i].result.n.one(st, row)
		}
	}
	if n.els == nil {
		return types.Null, nil
	}
	return n.els.n.one(st, row)
}

func (n *caseNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	if n.operand != nil {
		v, err := n.operand.vec(st, b, sel)
		if err != nil {
			return err
		}
		st.vecArgs[n.vecArg] = v
	}
	hits, rest := st.sel(n.hits, len(sel)), st.sel(n.rest, len(sel))
	live := sel
	for k := range n.whens {
		w := &n.whens[k]
		v, err := w.cond.vec(st, b, live)
		if err != nil {
			return err
		}
		hits, next := hits[:0], rest[:0]
		for _, i := range live {
			if v.I[i] != 0 && !(v.HasNull && v.Nulls[i]) {
				hits = append(hits, i)
			} else {
				next = append(next, i)
			}
		}
		if len(hits) > 0 {
			if err := w.result.n.into(st, b, hits, out); err != nil {
				return err
			}
		}
		if live = next; len(live) == 0 {
			return nil
		}
	}
	if n.els == nil {
		out.Fill(types.Null, live)
		return nil
	}
	return n.els.n.into(st, b, live, out)
}

// caseOperandNode is the operand of the enclosing simple CASE, computed once.
type caseOperandNode struct{ owner *caseNode }

func (n *caseOperandNode) one(st *state, _ []types.Datum) (types.Datum, error) {
	return st.datums[n.owner.datum], nil
}

func (n *caseOperandNode) into(st *state, _ *types.Batch, sel []int32, out *types.Vec) error {
	out.CopyRows(st.vecArgs[n.owner.vecArg], sel)
	return nil
}

// coalesceNode is COALESCE: an argument is evaluated only for the rows in which all earlier ones
// were NULL.
type coalesceNode struct {
	args []arg
	sel  int
}

func (n *coalesceNode) one(st *state, row []types.Datum) (types.Datum, error) {
	for i := range n.args {
		d, err := n.args[i].n.one(st, row)
		if err != nil || !d.Null {
			return d, err
		}
	}
	return types.Null, nil
}

func (n *coalesceNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	live := sel
	rest := st.sel(n.sel, len(sel))
	for k := range n.args {
		// The argument writes into out itself. Rows that are NULL are passed to the next argument.
		if err := n.args[k].n.into(st, b, live, out); err != nil {
			return err
		}
		if !out.HasNull {
			return nil
		}
		next := rest[:0]
		for _, i := range live {
			if out.Nulls[i] {
				next = append(next, i)
			}
		}
		if live = next; len(live) == 0 {
			return nil
		}
		if k < len(n.args)-1 {
			for _, i := range live {
				out.Nulls[i] = false
			}
		}
	}
	return nil
}
