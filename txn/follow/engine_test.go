package follow_test

import (
	"context"
	"sync"

	"github.com/minidb/minidb/kv"
)

// engine is one of this process's own on which a chosen update waits between its step, which has
// drawn commit_ts, and its effect.
type engine struct {
	kv.Engine

	mu    sync.Mutex
	drawn chan struct{}
	land  chan struct{}
	snap  func()
}

func (e *engine) Exclusive() bool { return kv.IsExclusive(e.Engine) }

// hold makes the next update wait until land is called. drawn is closed when its step has run.
func (e *engine) hold() (drawn <-chan struct{}, land func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	landed := make(chan struct{})
	e.drawn, e.land = make(chan struct{}), landed
	return e.drawn, sync.OnceFunc(func() { close(landed) })
}

// onSnapshot calls f after the next snapshot is taken.
func (e *engine) onSnapshot(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.snap = f
}

func (e *engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	e.mu.Lock()
	drawn, land := e.drawn, e.land
	e.drawn, e.land = nil, nil
	e.mu.Unlock()
	if drawn == nil {
		return e.Engine.Update(ctx, rows, step)
	}
	return e.Engine.Update(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		err := step(r, b)
		close(drawn)
		<-land
		return err
	})
}

func (e *engine) Snapshot() (kv.Snapshot, error) {
	s, err := e.Engine.Snapshot()
	e.mu.Lock()
	f := e.snap
	e.snap = nil
	e.mu.Unlock()
	if f != nil {
		f()
	}
	return s, err
}
