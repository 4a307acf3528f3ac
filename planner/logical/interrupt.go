package logical

import (
	"context"

	"github.com/minidb/minidb/internal/memory"
)

// stepsPerLook is how many steps of planning pass between two looks at the context.
const stepsPerLook = 1000

// Interrupt ends planning when the statement's context ends. Each phase of planning calls Step for
// every node and every turn of a loop over tables or conditions. It is for one goroutine; the nil
// Interrupt never ends anything.
type Interrupt struct {
	ctx   context.Context
	steps int
	err   error
	work  *memory.Work // counts the nodes that are made; nil: they are not counted here
}

// NewInterrupt returns an Interrupt that follows ctx.
func NewInterrupt(ctx context.Context) *Interrupt { return &Interrupt{ctx: ctx} }

// stepBytes is about what a node takes in the trees of all phases.
const stepBytes = 1 << 10

// Counting makes the Interrupt count the nodes that its phase makes in the work of the context
// (memory.With): planning ends with an error when there is no memory for more. It is for the first
// phase; those behind it turn its nodes into others.
func (i *Interrupt) Counting() *Interrupt {
	i.work = memory.Working(i.ctx)
	return i
}

// Step counts one step. It returns the error of the context once a look has found it ended, or of
// the memory that is missing.
func (i *Interrupt) Step() error {
	if i == nil || i.err != nil {
		return i.Err()
	}
	if i.steps++; i.steps >= stepsPerLook {
		i.steps = 0
		if i.err = i.ctx.Err(); i.err == nil {
			i.err = i.work.Grow(stepsPerLook * stepBytes)
		}
	}
	return i.err
}

// Err returns what Step found, without a step.
func (i *Interrupt) Err() error {
	if i == nil {
		return nil
	}
	return i.err
}
