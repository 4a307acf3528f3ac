package logical

import (
	"context"

	"github.com/minidb/minidb/internal/memory"
)

// stepsPerCheck is how many steps of planning pass between two checks of the context.
const stepsPerCheck = 1000

// Interrupt ends planning when the statement's context ends. Each phase of planning calls Step for
// every node, and in each turn of a loop over tables or conditions. An Interrupt belongs to one
// goroutine; the nil Interrupt never ends anything.
type Interrupt struct {
	ctx   context.Context
	steps int
	err   error
	work  *memory.Work // counts the memory of the nodes that are made; nil: not counted
}

// NewInterrupt returns an Interrupt that follows ctx.
func NewInterrupt(ctx context.Context) *Interrupt { return &Interrupt{ctx: ctx} }

// stepBytes is the approximate memory of a node in the trees of all phases.
const stepBytes = 1 << 10

// Counting makes the Interrupt count the memory of its phase's nodes in the work of the context
// (memory.With): planning ends with an error when there is no memory for more. It is for the first
// phase; later phases turn its nodes into others.
func (i *Interrupt) Counting() *Interrupt {
	i.work = memory.Working(i.ctx)
	return i
}

// Step counts one step. It returns the error of the context once a check has found it ended, or the
// error that no memory is left.
func (i *Interrupt) Step() error {
	if i == nil || i.err != nil {
		return i.Err()
	}
	if i.steps++; i.steps >= stepsPerCheck {
		i.steps = 0
		if i.err = i.ctx.Err(); i.err == nil {
			i.err = i.work.Grow(stepsPerCheck * stepBytes)
		}
	}
	return i.err
}

// Err returns the last error of Step, without counting a step.
func (i *Interrupt) Err() error {
	if i == nil {
		return nil
	}
	return i.err
}
