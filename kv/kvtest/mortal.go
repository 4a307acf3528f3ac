package kvtest

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
)

// ErrDead is what a dead process hears from its store.
var ErrDead = fmt.Errorf("the process is dead: %w", kv.ErrClosed)

// Mortal is a process's own way to an engine that others share: from its death on nothing goes
// through, and no answer comes back. What it has read stays readable.
type Mortal struct {
	kv.Wrapped
	dead    atomic.Bool
	updates atomic.Int64 // that may still be sent, if it dies at one of them
	applied atomic.Bool  // the last of them is applied
	onDeath func()
}

// NewMortal wraps an engine for a process that lives until Kill.
func NewMortal(e kv.Engine) *Mortal {
	m := &Mortal{Wrapped: kv.Wrapped{Engine: e}}
	m.updates.Store(-1)
	return m
}

// Kill ends the process, and reports whether it was alive.
func (m *Mortal) Kill() bool { return m.dead.CompareAndSwap(false, true) }

// KillAt lets the process die at its n-th update from now, counted from one: before it is sent, or
// when it is applied and its answer is on the way.
func (m *Mortal) KillAt(n int, applied bool) {
	m.applied.Store(applied)
	m.updates.Store(int64(n))
}

// OnDeath sets a function that is called once if the process dies at an update. It must be set
// before the engine is used.
func (m *Mortal) OnDeath(f func()) { m.onDeath = f }

// Dead reports whether the process has died.
func (m *Mortal) Dead() bool { return m.dead.Load() }

func (m *Mortal) death() error {
	if m.dead.Load() {
		return ErrDead
	}
	return nil
}

// Snapshot implements kv.Engine.
func (m *Mortal) Snapshot() (kv.Snapshot, error) {
	if err := m.death(); err != nil {
		return nil, err
	}
	return m.Wrapped.Snapshot()
}

// Update implements kv.Engine.
func (m *Mortal) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return m.send(func() error { return m.Wrapped.Update(ctx, rows, step) })
}

// UpdateLazy implements kv.Lazy.
func (m *Mortal) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return m.send(func() error { return m.Wrapped.UpdateLazy(ctx, rows, step) })
}

// send makes an update, unless the process dies before, and forgets its result if it dies then.
func (m *Mortal) send(update func() error) error {
	if m.updates.Load() > 0 && m.updates.Add(-1) == 0 {
		if m.applied.Load() {
			_ = update()
		}
		if m.Kill() && m.onDeath != nil {
			m.onDeath()
		}
	}
	if err := m.death(); err != nil {
		return err
	}
	err := update()
	if dead := m.death(); dead != nil {
		return dead
	}
	return err
}

// DeleteRange implements kv.RangeDeleter.
func (m *Mortal) DeleteRange(ctx context.Context, span kv.Span) error {
	if err := m.death(); err != nil {
		return err
	}
	return m.Wrapped.DeleteRange(ctx, span)
}
