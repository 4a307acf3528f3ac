package eval

import (
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// An expression is evaluated over a whole batch, so the values that its functions make for all rows
// are in memory at once: length(repeat(t, 1000000)) over a batch of 1,024 rows holds a gigabyte,
// where PostgreSQL holds a megabyte at a time. If the statement's memory is not sufficient, the
// batch is evaluated in halves, and these again in halves, down to one row.

// divisible reports whether an evaluation that ended with err may be repeated in pieces: there was
// not enough memory, the program has no effects, and the result itself takes none of the memory.
func (p *Program) divisible(err error) bool {
	return OutOfMemory(err) && !p.code.effects && p.code.root.t.Family.Storage().FixedSize()
}

// OutOfMemory reports whether err is the error that the statement has not enough memory.
func OutOfMemory(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && e.Code == sqlerr.OutOfMemory
}

// Repeatable reports whether the program calls no volatile function, so that rows may be evaluated
// twice.
func (p *Program) Repeatable() bool { return !p.code.effects }

// pieces calls f for the rows sel, or if there is not enough memory for parts of them, in order.
func (p *Program) pieces(st *state, sel []int32, f func(sel []int32) error) error {
	err := f(sel)
	if len(sel) < 2 || !p.divisible(err) {
		return err
	}
	st.release()
	if err := p.pieces(st, sel[:len(sel)/2], f); err != nil {
		return err
	}
	st.release()
	return p.pieces(st, sel[len(sel)/2:], f)
}

// release gives the memory of the current evaluation back to the account.
func (st *state) release() {
	st.rt.Abandon()
	for i, v := range st.vecs {
		if v != nil {
			clear(v.S)
			clear(v.Arr)
			st.filled[i] = 0
		}
	}
}

// evalBoolInPieces is EvalBool by means of a vector.
func (p *Program) evalBoolInPieces(ctx *Context, b *types.Batch, sel []int32) ([]int32, error) {
	v := types.NewVec(p.code.root.t, b.Len)
	if err := p.Eval(ctx, b, sel, v); err != nil {
		return nil, err
	}
	var out []int32
	for _, i := range rows(b, sel) {
		if v.I[i] != 0 && (!v.HasNull || !v.Nulls[i]) {
			out = append(out, i)
		}
	}
	return out, nil
}
