// Package ctxtest has a context with which tests show that work ends soon after its context, by the
// number of checks and without a clock.
package ctxtest

import "context"

// Ending is a context that ends at its N-th check, a call of Err; N 0: never. It belongs to one
// goroutine.
type Ending struct {
	context.Context

	N      int
	Checks int // so far
}

// Err counts a check and returns context.Canceled from the N-th one on.
func (c *Ending) Err() error {
	if c.Checks++; c.N > 0 && c.Checks >= c.N {
		return context.Canceled
	}
	return nil
}
