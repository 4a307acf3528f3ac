package stats

import (
	"context"
	"slices"
)

// stepsPerLook is how many values are compared or passed between two checks of the context.
const stepsPerLook = 4096

// ending counts the steps of work on a sample, which may have millions of values, and checks the
// context from time to time. Once the context has ended, the work runs to its end as fast as it
// can, and its result is meaningless.
type ending struct {
	ctx   context.Context
	steps int
	err   error // of the context
}

// step counts one, and reports whether the context has ended.
func (e *ending) step() bool {
	if e.steps++; e.steps%stepsPerLook == 0 && e.err == nil {
		e.err = e.ctx.Err()
	}
	return e.err != nil
}

// sortStable sorts by compare. Once the context has ended all values compare as equal, so that the
// sort ends soon.
func sortStable[T any](e *ending, s []T, compare func(a, b T) int) {
	slices.SortStableFunc(s, func(a, b T) int {
		if e.step() {
			return 0
		}
		return compare(a, b)
	})
}
