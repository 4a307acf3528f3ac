package eval

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// Context is what an expression reads besides its input rows. It may change between calls.
type Context struct {
	Runtime *expr.Runtime
	Params  []types.Datum // $1 is Params[0]
	Vars    []types.Datum // the statement's slots for expr.Var
	// Subquery runs the plans of subqueries; nil if there are none.
	Subquery SubqueryRunner
}

// SubqueryRunner runs a subquery for one outer row. args are the values of sq.Args, left those of
// sq.Left (for Any and All). Both belong to the caller and are valid only during the call. The
// runner caches results if sq has no Args.
type SubqueryRunner interface {
	RunSubquery(ctx *Context, sq *expr.Subquery, args, left []types.Datum) (types.Datum, error)
}

// Program is a compiled expression with its scratch memory. It belongs to one goroutine at a time.
type Program struct {
	code *code
	st   *state
}

// code is the immutable part of a program.
type code struct {
	root    arg
	vecs    []*types.Type // types of the scratch vectors
	datums  int           // scratch datums, for arguments of one()
	vecArgs int           // scratch pointers to argument vectors
	sels    int           // scratch selections
	effects bool          // a volatile function is called
}

// state is the scratch memory of one program.
type state struct {
	ctx     *Context
	rt      *expr.Runtime
	vecs    []*types.Vec
	filled  []int // for vectors of constants: the number of entries that are set
	datums  []types.Datum
	vecArgs []*types.Vec
	sels    [][]int32
	held    int64 // bytes that the last evaluation asked the statement's account for
}

// Compile compiles an expression. It fails on nodes that are not bound for execution.
func Compile(e expr.Expr) (*Program, error) {
	c := &compiler{code: &code{}}
	root, err := c.arg(e)
	if err != nil {
		return nil, err
	}
	c.code.root = root
	return &Program{code: c.code}, nil
}

// Clone returns a program with the same code and scratch memory of its own.
func (p *Program) Clone() *Program { return &Program{code: p.code} }

// Type returns the type of the expression.
func (p *Program) Type() *types.Type { return p.code.root.t }

// Column returns the input column that the program copies; false if it computes anything.
func (p *Program) Column() (int, bool) {
	c, ok := p.code.root.n.(*colNode)
	if !ok {
		return 0, false
	}
	return c.index, true
}

// Constant returns the value of a program that is a constant; false if it is not.
func (p *Program) Constant() (types.Datum, bool) {
	c, ok := p.code.root.n.(*constNode)
	if !ok {
		return types.Datum{}, false
	}
	return c.value, true
}

// Eval computes the expression for the rows sel of b (nil: the rows of b.Sel, or all) into the
// entries of out with the same indexes. out is reset to the expression's type and b.Len entries.
func (p *Program) Eval(ctx *Context, b *types.Batch, sel []int32, out *types.Vec) error {
	st := p.state(ctx)
	out.Reset(p.code.root.t)
	out.Resize(b.Len)
	outer := st.rt.Hold(&st.held)
	err := p.pieces(st, rows(b, sel),
		func(sel []int32) error { return p.code.root.n.into(st, b, sel, out) })
	st.rt.EndHold(&st.held, outer)
	return err
}

// EvalVec is Eval without an output vector: it returns the column of b, or scratch memory that is
// valid until the program's next call. The vector must not be changed.
func (p *Program) EvalVec(ctx *Context, b *types.Batch, sel []int32) (*types.Vec, error) {
	st := p.state(ctx)
	outer := st.rt.Hold(&st.held)
	v, err := p.code.root.vec(st, b, rows(b, sel))
	st.rt.EndHold(&st.held, outer)
	if p.divisible(err) {
		v = types.NewVec(p.code.root.t, b.Len)
		err = p.Eval(ctx, b, sel, v)
	}
	return v, err
}

// EvalBool appends to dst[:0] those of the rows sel (nil: the rows of b.Sel, or all) for which the
// expression is TRUE. dst may share memory with sel.
func (p *Program) EvalBool(ctx *Context, b *types.Batch, sel, dst []int32) ([]int32, error) {
	st := p.state(ctx)
	outer := st.rt.Hold(&st.held)
	dst, err := filter(&p.code.root, st, b, rows(b, sel), dst[:0])
	st.rt.EndHold(&st.held, outer)
	if p.divisible(err) {
		return p.evalBoolInPieces(ctx, b, sel)
	}
	return dst, err
}

// EvalRow computes the expression for one row. It allocates nothing of its own.
func (p *Program) EvalRow(ctx *Context, row []types.Datum) (types.Datum, error) {
	st := p.state(ctx)
	outer := st.rt.Hold(&st.held)
	d, err := p.code.root.n.one(st, row)
	st.rt.EndHold(&st.held, outer)
	return d, err
}

func (p *Program) state(ctx *Context) *state {
	if p.st == nil {
		c := p.code
		p.st = &state{datums: make([]types.Datum, c.datums)}
	}
	if ctx == nil {
		ctx = &Context{}
	}
	p.st.ctx = ctx
	switch {
	case ctx.Runtime != nil && p.st.rt != ctx.Runtime:
		p.st.rt, p.st.held = ctx.Runtime, 0
	case p.st.rt == nil:
		p.st.rt = &expr.Runtime{Format: types.DefaultFormat}
	}
	if p.st.vecs == nil {
		c := p.code
		p.st.vecs = make([]*types.Vec, len(c.vecs))
		p.st.filled = make([]int, len(c.vecs))
		p.st.vecArgs = make([]*types.Vec, c.vecArgs)
		p.st.sels = make([][]int32, c.sels)
	}
	return p.st
}

// identity is 0, 1, 2, …: the selection of all rows of a batch of usual size.
var identity = func() []int32 {
	s := make([]int32, 4*types.BatchSize)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}()

// rows returns the selection to evaluate.
func rows(b *types.Batch, sel []int32) []int32 {
	switch {
	case sel != nil:
		return sel
	case b.Sel != nil:
		return b.Sel
	case b.Len <= len(identity):
		return identity[:b.Len]
	}
	s := make([]int32, b.Len)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// scratch returns the scratch vector of a slot, with n entries that are not NULL.
func (st *state) scratch(slot int, t *types.Type, n int) *types.Vec {
	v := st.vecs[slot]
	if v == nil {
		v = types.NewVec(t, n)
		st.vecs[slot] = v
	}
	if v.HasNull {
		clear(v.Nulls[:cap(v.Nulls)])
		v.HasNull = false
	}
	if v.Len < n {
		v.Resize(n)
	}
	return v
}

// sel returns the empty scratch selection of a slot with room for n rows.
func (st *state) sel(slot, n int) []int32 {
	if cap(st.sels[slot]) < n {
		st.sels[slot] = make([]int32, 0, max(n, types.BatchSize))
	}
	return st.sels[slot][:0]
}
