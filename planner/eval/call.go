package eval

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// callNode is a function or operator.
type callNode struct {
	fn     *expr.Func
	args   []arg
	types  []*types.Type
	datums int // scratch for the arguments of one row
	vecs   int // scratch for the argument vectors
	sel    int // scratch for the rows without NULL arguments
}

func (c *compiler) call(e *expr.Call) (node, error) {
	if e.Func.Scalar == nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"set-returning functions are not allowed here").At(e.Pos)
	}
	args, err := c.args(e.Args)
	if err != nil {
		return nil, err
	}
	c.code.effects = c.code.effects || e.Func.Volatility == expr.Volatile
	n := &callNode{fn: e.Func, args: args, types: typesOf(e.Args), sel: c.sel()}
	n.datums, n.vecs = c.datums(len(args)), c.code.vecArgs
	c.code.vecArgs += len(args)
	return n, nil
}

func (n *callNode) one(st *state, row []types.Datum) (types.Datum, error) {
	buf := st.datums[n.datums : n.datums+len(n.args)]
	for i := range n.args {
		d, err := n.args[i].n.one(st, row)
		if err != nil {
			return types.Null, err
		}
		if d.Null && !n.fn.NotStrict {
			return types.Null, n.rest(st, row, i+1)
		}
		buf[i] = d
	}
	st.rt.ArgTypes = n.types
	return n.scalar(st.rt, buf)
}

// scalar calls the function for a row.
func (n *callNode) scalar(rt *expr.Runtime, args []types.Datum) (types.Datum, error) {
	before := rt.Taken()
	parsed := int64(0)
	for i := range args {
		switch {
		case n.types[i].Family == types.JSON:
			parsed += parsedSize(args[i].S)
		case args[i].Arr != nil && isText(n.fn.Returns):
			parsed += spreadSize(args[i])
		}
	}
	if err := rt.Grow(parsed); err != nil {
		return types.Null, err
	}
	d, err := n.fn.Scalar(rt, args)
	if parsed > 0 {
		rt.Return(parsed)
	}
	if err != nil {
		return d, err
	}
	return d, countResult(rt, d, before)
}

// rest evaluates the arguments from i on only for their errors: as in PostgreSQL, a NULL argument
// does not hide a division by zero in a later one.
func (n *callNode) rest(st *state, row []types.Datum, i int) error {
	for ; i < len(n.args); i++ {
		if _, err := n.args[i].n.one(st, row); err != nil {
			return err
		}
	}
	return nil
}

func (n *callNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	vecs := st.vecArgs[n.vecs : n.vecs+len(n.args)]
	live := sel
	for i := range n.args {
		v, err := n.args[i].vec(st, b, sel)
		if err != nil {
			return err
		}
		vecs[i] = v
	}
	if !n.fn.NotStrict {
		live = n.strictRows(st, vecs, sel, out)
	}
	if len(live) == 0 {
		return nil
	}
	st.rt.ArgTypes = n.types
	if n.fn.Vector != nil {
		return n.fn.Vector(st.rt, vecs, live, out)
	}
	return n.rowwise(st, vecs, live, out)
}

// strictRows sets the rows with a NULL argument to NULL and returns the others.
func (n *callNode) strictRows(st *state, vecs []*types.Vec, sel []int32, out *types.Vec) []int32 {
	live := sel
	for _, v := range vecs {
		if !v.HasNull {
			continue
		}
		dst := live[:0]
		if len(live) == len(sel) { // may still be the caller's selection, which must not change
			dst = st.sel(n.sel, len(sel))
		}
		for _, i := range live {
			if v.Nulls[i] {
				out.SetNull(int(i))
			} else {
				dst = append(dst, i)
			}
		}
		live = dst
	}
	return live
}

func (n *callNode) rowwise(st *state, vecs []*types.Vec, sel []int32, out *types.Vec) error {
	buf := st.datums[n.datums : n.datums+len(n.args)]
	for _, i := range sel {
		for k, v := range vecs {
			buf[k] = v.Get(int(i))
		}
		d, err := n.scalar(st.rt, buf)
		if err != nil {
			return err
		}
		out.Set(int(i), d)
	}
	return nil
}

// castNode converts between types by types.Cast.
type castNode struct {
	arg      arg
	to       *types.Type
	explicit bool
	nulls    bool // a NULL is converted too
	pos      int  // of a literal that names an object; 0: none
}

func (c *compiler) cast(e *expr.Cast) (node, error) {
	from := e.Arg.Type()
	if sameForm(from.Base(), e.T) {
		return c.node(e.Arg)
	}
	a, err := c.arg(e.Arg)
	if err != nil {
		return nil, err
	}
	if from.Family == types.Int && e.T.OID == types.OIDFloat8 {
		return &intToFloatNode{arg: a}, nil
	}
	n := &castNode{arg: a, to: e.T, explicit: e.Explicit, nulls: e.T.IsDomain()}
	if c, ok := e.Arg.(*expr.Const); ok && e.T.IsReg() {
		n.pos = int(c.Pos)
	}
	return n, nil
}

// sameForm reports whether a value of a type is a value of the other without conversion.
func sameForm(from, to *types.Type) bool {
	if to.Mod != types.NoMod && (from.OID != to.OID || from.Mod != to.Mod) {
		return false
	}
	if from.OID == to.OID {
		return true
	}
	switch to.OID {
	case types.OIDInt8:
		return from.Family == types.Int
	case types.OIDInt4:
		return from.OID == types.OIDInt2
	case types.OIDOid:
		return from.IsReg()
	case types.OIDText, types.OIDVarchar:
		return from.OID == types.OIDText || from.OID == types.OIDVarchar ||
			from.OID == types.OIDName ||
			from.OID == types.OIDBPChar || to.OID == types.OIDText && from.OID == types.OIDJSON
	case types.OIDFloat8:
		return from.OID == types.OIDFloat4
	}
	return false
}

func (n *castNode) convert(st *state, d types.Datum) (types.Datum, error) {
	before, parsed := st.rt.Taken(), int64(0)
	switch n.to.Family {
	case types.Array, types.JSON, types.Record:
		parsed = parsedSize(d.S)
	case types.Geometric:
		parsed = pointsSize(d.S)
	case types.String:
		if d.Arr != nil {
			parsed = spreadSize(d)
		}
	}
	if err := st.rt.Grow(parsed); err != nil {
		return types.Null, err
	}
	out, err := types.Cast(d, n.arg.t, n.to, n.explicit, &st.rt.Format)
	if parsed > 0 {
		st.rt.Return(parsed)
	}
	if err != nil {
		return out, n.at(err)
	}
	return out, countResult(st.rt, out, before)
}

// at gives an error of the input function the position of its literal.
func (n *castNode) at(err error) error {
	if e, ok := err.(*sqlerr.Error); ok && n.pos > 0 {
		return e.At(n.pos)
	}
	return err
}

func (n *castNode) one(st *state, row []types.Datum) (types.Datum, error) {
	d, err := n.arg.n.one(st, row)
	if err != nil || d.Null && !n.nulls {
		return types.Null, err
	}
	return n.convert(st, d)
}

func (n *castNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	v, err := n.arg.vec(st, b, sel)
	if err != nil {
		return err
	}
	for _, i := range sel {
		if v.HasNull && v.Nulls[i] && !n.nulls {
			out.SetNull(int(i))
			continue
		}
		d, err := n.convert(st, v.Get(int(i)))
		if err != nil {
			return err
		}
		out.Set(int(i), d)
	}
	return nil
}

// intToFloatNode is the cast of mixed arithmetic, which is frequent enough for a loop of its own.
type intToFloatNode struct{ arg arg }

func (n *intToFloatNode) one(st *state, row []types.Datum) (types.Datum, error) {
	d, err := n.arg.n.one(st, row)
	if err != nil || d.Null {
		return types.Null, err
	}
	return types.NewFloat(float64(d.I)), nil
}

func (n *intToFloatNode) into(st *state, b *types.Batch, sel []int32, out *types.Vec) error {
	v, err := n.arg.vec(st, b, sel)
	if err != nil {
		return err
	}
	for _, i := range sel {
		if v.HasNull && v.Nulls[i] {
			out.SetNull(int(i))
			continue
		}
		out.F[i] = float64(v.I[i])
	}
	return nil
}
