package logical

import "context"

// stepsPerLook is how many steps of planning pass between two looks at the context.
const stepsPerLook = 1000

// Interrupt ends planning when the statement's context ends. Each phase of planning calls Step for
// every node and every turn of a loop over tables or conditions. It is for one goroutine; the nil
// Interrupt never ends anything.
type Interrupt struct {
	ctx   context.Context
	steps int
	err   error
}

// NewInterrupt returns an Interrupt that follows ctx.
func NewInterrupt(ctx context.Context) *Interrupt { return &Interrupt{ctx: ctx} }

// Step counts one step. It returns the error of the context once a look has found it ended.
func (i *Interrupt) Step() error {
	if i == nil || i.err != nil {
		return i.Err()
	}
	if i.steps++; i.steps >= stepsPerLook {
		i.steps = 0
		i.err = i.ctx.Err()
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
