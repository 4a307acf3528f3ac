package kv

import (
	"context"
	"errors"
)

// An Update that fails may be applied all the same: its result is unknown. It is known that nothing
// was written when the step itself failed, or the engine says so (ErrNotApplied).

// Attempt is Engine.Update, and reports whether its result is unknown.
func Attempt(ctx context.Context, e Engine, rows [][]byte, step Step) (unknown bool, err error) {
	a := attempt{step: step}
	err = e.Update(ctx, rows, a.run)
	return a.unknown(err), err
}

// AttemptLazy is UpdateLazy, and reports whether its result is unknown.
func AttemptLazy(ctx context.Context, e Engine, rows [][]byte, step Step) (unknown bool,
	err error) {
	a := attempt{step: step}
	err = UpdateLazy(ctx, e, rows, a.run)
	return a.unknown(err), err
}

// AttemptShown is AttemptLazy where the engine shows nothing afterwards, and otherwise UpdateShown.
func AttemptShown(ctx context.Context, e Engine, rows [][]byte, step Step) (shown Snapshot,
	unknown bool, err error) {
	s, ok := e.(Shower)
	if !ok {
		unknown, err = AttemptLazy(ctx, e, rows, step)
		return nil, unknown, err
	}
	a := attempt{step: step}
	shown, err = s.UpdateShown(ctx, rows, a.run)
	return shown, a.unknown(err), err
}

// AttemptEarly is UpdateEarly, and reports whether its result is unknown.
func AttemptEarly(ctx context.Context, e Engine, rows [][]byte, step Step,
	visible func()) (unknown bool, err error) {
	a := attempt{step: step}
	err = UpdateEarly(ctx, e, rows, a.run, visible)
	return a.unknown(err), err
}

// attempt remembers how the last run of its step has ended.
type attempt struct {
	step Step
	own  error
}

func (a *attempt) run(r Reader, b *Batch) error {
	a.own = a.step(r, b)
	return a.own
}

// unknown reports whether an update of the step that returned err may have been applied though it
// failed.
func (a *attempt) unknown(err error) bool {
	return err != nil && a.own == nil && !errors.Is(err, ErrNotApplied)
}
