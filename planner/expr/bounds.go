package expr

import "github.com/minidb/minidb/table/types"

// Account is where a statement's memory is counted. Grow fails with 53200 when the statement may
// not hold n bytes more.
type Account interface {
	Grow(n int64) error
	Shrink(n int64)
}

const (
	// lookEvery is the work between two looks at the statement's context, in bytes copied or read.
	lookEvery = 1 << 20
	// stepCost and rowCost are what a step of a loop and a row count for: 95,000 steps, or 4,096
	// rows, are the most between two looks.
	stepCost = 11
	rowCost  = lookEvery / 4096
	// withoutAccount bounds what functions hold where no statement runs, as in the folding of
	// constants.
	withoutAccount = 64 << 20
)

// Grow asks for n bytes before they are allocated. They belong to the evaluation that is going on
// and are given back when its result is replaced: see Hold.
func (rt *Runtime) Grow(n int64) error {
	if n <= 0 {
		return nil
	}
	if rt.Memory != nil {
		if err := rt.Memory.Grow(n); err != nil {
			rt.Memory.Shrink(n)
			return err
		}
	} else if rt.taken+n > withoutAccount {
		return types.ErrOutOfMemory(n)
	}
	rt.taken += n
	rt.held += n
	return nil
}

// Hold starts an evaluation: it gives back the bytes that the previous one of the same expression
// asked for, of which *held keeps count. The caller calls EndHold behind the evaluation, with what
// Hold returned. Evaluations nest, as a subquery's does in that of its outer expression.
func (rt *Runtime) Hold(held *int64) (outer int64) {
	rt.Release(held)
	outer, rt.held = rt.held, 0
	return outer
}

// EndHold ends an evaluation that Hold started; *held becomes the bytes that it asked for.
func (rt *Runtime) EndHold(held *int64, outer int64) { *held, rt.held = *held+rt.held, outer }

// Abandon gives back what the evaluation that is going on has asked for so far.
func (rt *Runtime) Abandon() {
	held := rt.held
	rt.Release(&held)
	rt.held = 0
}

// Release gives back *held bytes.
func (rt *Runtime) Release(held *int64) {
	if *held == 0 {
		return
	}
	if rt.Memory != nil {
		rt.Memory.Shrink(*held)
	}
	rt.taken -= *held
	*held = 0
}

// Return gives n bytes back before the evaluation ends that asked for them.
func (rt *Runtime) Return(n int64) {
	rt.held -= n
	rt.Release(&n)
}

// Taken is how many bytes are asked for and not given back.
func (rt *Runtime) Taken() int64 { return rt.taken }

// Tick counts n bytes of work, and returns the error of the statement's context when it has ended.
// It looks at the context once per MiB, so a caller counts pieces of at most that size, each before
// or behind the work on it.
func (rt *Runtime) Tick(n int) error {
	if rt.work += n; rt.work < lookEvery {
		return nil
	}
	rt.work = 0
	if rt.Ctx == nil {
		return nil
	}
	return rt.Ctx.Err()
}

// TickSteps is Tick for n steps of a loop that are not a matter of bytes.
func (rt *Runtime) TickSteps(n int) error { return rt.Tick(n * stepCost) }

// TickRow is Tick for a row.
func (rt *Runtime) TickRow() error { return rt.Tick(rowCost) }
