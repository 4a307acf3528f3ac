package observer_test

import (
	"context"
	"errors"
	"sync"

	"github.com/minidb/minidb/kv"
)

// slowEngine is an engine of this process's own on which a chosen update waits between its step,
// which has drawn commit_ts, and its effect.
type slowEngine struct {
	kv.Engine

	mu    sync.Mutex
	drawn chan struct{}
	land  chan struct{}
	snap  func()
}

func (e *slowEngine) Exclusive() bool { return true }

// hold makes the next update wait until land is called. drawn is closed when its step has run.
func (e *slowEngine) hold() (drawn <-chan struct{}, land func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	landed := make(chan struct{})
	e.drawn, e.land = make(chan struct{}), landed
	return e.drawn, sync.OnceFunc(func() { close(landed) })
}

// onSnapshot calls f after the next snapshot is taken.
func (e *slowEngine) onSnapshot(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.snap = f
}

func (e *slowEngine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
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

func (e *slowEngine) Snapshot() (kv.Snapshot, error) {
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

// brittleEngine is an engine of this process's own of which a chosen snapshot fails.
type brittleEngine struct {
	kv.Engine

	mu sync.Mutex
	at int // counts down to the one that fails
}

var errBrittle = errors.New("no snapshot")

func (e *brittleEngine) Exclusive() bool { return true }

// failAt makes the snapshot with a number fail, counted from one on, or none. It reports whether
// the last one chosen has failed.
func (e *brittleEngine) failAt(n int) (failed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	failed = e.at <= 0
	e.at = n
	return failed
}

func (e *brittleEngine) Snapshot() (kv.Snapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.at--; e.at == 0 {
		return nil, errBrittle
	}
	return e.Engine.Snapshot()
}
