package pebblekv

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
)

// failure is why an engine has ended: the first write that the store depends on and that did not
// succeed. The engine checks it before each call, and again after each sync: the file system under
// Pebble pretends success from then on (failStopFS), so a sync that returns proves nothing.
type failure struct {
	once     sync.Once
	happened atomic.Bool // set after err
	err      error
	cause    error
	notify   func(error)
}

// set ends the engine. Only the first reason counts. It returns when the callback has.
func (f *failure) set(cause error) {
	f.once.Do(func() {
		f.cause = cause
		f.err = fmt.Errorf("%w: %w; open it again to recover what was acknowledged", kv.ErrFailed,
			cause)
		f.happened.Store(true)
		if f.notify != nil {
			f.notify(f.err)
		}
	})
}

// get returns the error that every call on a failed engine returns, and nil for one that works.
func (f *failure) get() error {
	if f.happened.Load() {
		return f.err
	}
	return nil
}
