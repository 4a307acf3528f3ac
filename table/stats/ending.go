package stats

import (
	"context"
	"slices"
)

// stepsPerLook is how many values are compared or passed between two looks at the context.
const stepsPerLook = 4096

// ending counts the steps of work on a sample, which may be millions of values, and looks at the
// context now and then. Once that has ended the work goes through the motions only, and its result
// is worth nothing.
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

// sortStable sorts by compare. Once the context has ended all values count as equal, so that the
// sort comes to its end soon.
func sortStable[T any](e *ending, s []T, compare func(a, b T) int) {
	slices.SortStableFunc(s, func(a, b T) int {
		if e.step() {
			return 0
		}
		return compare(a, b)
	})
}
