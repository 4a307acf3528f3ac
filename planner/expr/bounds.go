package expr

import "github.com/minidb/minidb/table/types"

// Account counts a statement's memory. Grow fails with 53200 when the statement may not hold n more
// bytes.
type Account interface {
	Grow(n int64) error
	Shrink(n int64)
}

const (
	// checkEvery is the work between two checks of the statement's context, in bytes copied or
	// read.
	checkEvery = 1 << 20
	// stepCost and rowCost convert a step of a loop and a row to bytes of work: there are at most
	// 95,000 steps, or 4,096 rows, between two checks.
	stepCost = 11
	rowCost  = checkEvery / 4096
	// withoutAccount bounds the memory of functions where no statement runs, as in constant
	// folding.
	withoutAccount = 64 << 20
)

// Grow asks for n bytes before they are allocated. They belong to the current evaluation and are
// released when its result is replaced: see Hold.
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

// Hold starts an evaluation. It releases the bytes that the previous evaluation of the same
// expression asked for, which *held counts. After the evaluation the caller calls EndHold with the
// value that Hold returned. Evaluations nest: that of a subquery runs within that of its outer
// expression.
func (rt *Runtime) Hold(held *int64) (outer int64) {
	rt.Release(held)
	outer, rt.held = rt.held, 0
	return outer
}

// EndHold ends an evaluation that Hold started; *held becomes the number of bytes that it asked
// for.
func (rt *Runtime) EndHold(held *int64, outer int64) { *held, rt.held = *held+rt.held, outer }

// Abandon releases the bytes that the current evaluation has asked for so far.
func (rt *Runtime) Abandon() {
	held := rt.held
	rt.Release(&held)
	rt.held = 0
}

// Release releases *held bytes.
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

// Return releases n bytes before the evaluation that asked for them ends.
func (rt *Runtime) Return(n int64) {
	rt.held -= n
	rt.Release(&n)
}

// Taken returns the number of bytes that are asked for and not released.
func (rt *Runtime) Taken() int64 { return rt.taken }

// Tick counts n bytes of work, and returns the error of the statement's context when it has ended.
// It checks the context once per MiB. A caller therefore counts pieces of at most that size, each
// before or after the work on it.
func (rt *Runtime) Tick(n int) error {
	if rt.work += n; rt.work < checkEvery {
		return nil
	}
	rt.work = 0
	if rt.Ctx == nil {
		return nil
	}
	return rt.Ctx.Err()
}

// TickSteps is Tick for n steps of a loop whose work is not measured in bytes.
func (rt *Runtime) TickSteps(n int) error { return rt.Tick(n * stepCost) }

// TickRow is Tick for a row.
func (rt *Runtime) TickRow() error { return rt.Tick(rowCost) }
