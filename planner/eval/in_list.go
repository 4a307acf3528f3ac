package eval

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// inListNode is Arg [NOT] IN (list). Constants of the list are in a set if their type has a
// comparable form; other members are compared one by one by eq.
type inListNode struct {
	arg     arg
	rest    []arg // members that are not in a set
	eq      *expr.Func
	types   []*types.Type
	ints    map[int64]struct{}
	strings map[string]struct{}
	hasNull bool // a constant NULL is in the list
	not     bool
	buf     int
	live    int // scratch selection: rows that are not decided
}

func (c *compiler) inList(e *expr.InList) (node, error) {
	a, err := c.arg(e.Arg)
	if err != nil {
		return nil, err
	}
	n := &inListNode{arg: a, eq: e.Eq, not: e.Not, buf: c.datums(2), live: c.sel(),
		types: []*types.Type{a.t, a.t}}
	for _, m := range e.List {
		if k, ok := m.(*expr.Const); ok && n.addConstant(k.Value) {
			continue
		}
		r, err := c.arg(m)
		if err != nil {
			return nil, err
		}
		n.rest = append(n.rest, r)
	}
	return n, nil
}

// addConstant adds a constant to a set. It returns false if the type's values cannot be in a set.
func (n *inListNode) addConstant(d types.Datum) bool {
	if d.Null {
		n.hasNull = true
		return true
	}
	switch n.arg.t.Family.Order() {
	case types.I64:
		if n.ints == nil {
			n.ints = map[int64]struct{}{}
		}
		n.ints[d.I] = struct{}{}
		return true
	case types.Str:
		if n.strings == nil {
			n.strings = map[string]struct{}{}
		}
		n.strings[d.S] = struct{}{}
		return true
	}
	return false
}

// contains reports whether a value is in the sets.
func (n *inListNode) contains(d types.Datum) bool {
	if n.ints != nil {
		_, ok := n.ints[d.I]
		return ok
	}
	_, ok := n.strings[d.S]
	return ok
}

func (n *inListNode) one(st *state, row []types.Datum) (types.Datum, error) {
	d, err := n.arg.n.one(st, row)
	if err != nil || d.Null {
		return types.Null, err
	}
	if n.contains(d) {
		return types.NewBool(!n.not), nil
	}
	null := n.hasNull
	for i := range n.rest {
		m, err := n.rest[i].n.one(st, row)
		if err != nil {
			return types.Null, err
		}
		if m.Null {
			null = true
			continue
		}
		hit, err := n.equal(st, d, m)
		if err != nil || hit {
			return types.NewBool(!n.not), err
		}
	}
	if null {
		return types.Null, nil
	}
	return types.NewBool(n.not), nil
}

func (n *inListNode) equal(st *state, a, b types.Datum) (bool, error) {
	buf := st.datums[n.buf : n.buf+2]
	buf[0], buf[1] = a, b
	st.rt.ArgTypes = n.types
	d, err := n.eq.Scalar(st.rt, buf)
	return d.Bool(), err
}

func (n *inListNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	v, err := n.arg.vec(st, b, sel)
	if err != nil {
		return err
	}
	hit, miss := truth(!n.not), truth(n.not)
	live := st.sel(n.live, len(sel))
	for _, i := range sel {
		switch {
		case v.HasNull && v.Nulls[i]:
			out.SetNull(int(i))
		case n.inSet(v, i):
			out.I[i] = hit
		case len(n.rest) == 0 && n.hasNull:
			out.SetNull(int(i))
		default:
			out.I[i] = miss
			live = append(live, i)
		}
	}
	for k := range n.rest {
		if live, err = n.compareMember(st, b, v, &n.rest[k], live, out); err != nil ||
			len(live) == 0 {
			return err
		}
	}
	if n.hasNull && len(n.rest) > 0 {
		out.Fill(types.Null, live)
	}
	return nil
}

func (n *inListNode) inSet(v *types.Vec, i int32) bool {
	var ok bool
	if n.ints != nil {
		_, ok = n.ints[v.I[i]]
	} else if n.strings != nil {
		_, ok = n.strings[v.S[i]]
	}
	return ok
}

// compareMember compares the undecided rows with a member of the list and returns those that are
// still undecided. A row that was compared with a NULL member is NULL unless a later member is
// equal.
func (n *inListNode) compareMember(st *state, b *types.Batch, v *types.Vec, m *arg, live []int32,
	out *types.Vec) ([]int32, error) {
	w, err := m.vec(st, b, live)
	if err != nil {
		return nil, err
	}
	next := live[:0]
	for _, i := range live {
		if w.HasNull && w.Nulls[i] {
			out.SetNull(int(i))
			next = append(next, i)
			continue
		}
		equal, err := n.equal(st, v.Get(int(i)), w.Get(int(i)))
		switch {
		case err != nil:
			return nil, err
		case equal:
			out.I[i], out.Nulls[i] = truth(!n.not), false
		default:
			next = append(next, i)
		}
	}
	return next, nil
}
