package kvtest

import (
	"context"
	"errors"
	"sync"

	"github.com/minidb/minidb/kv"
)

// ErrInjected is the failure that Fault makes up. It is not kv.ErrNotApplied: who gets it cannot
// know whether the update was applied.
var ErrInjected = errors.New("injected failure")

// FaultPlan says which update fails, and how. Updates are counted from one, lazy ones included.
type FaultPlan struct {
	At int
	// Times is how many updates in a row fail from there on; 0 means one.
	Times int
	// Applied applies the update all the same: only its answer is lost.
	Applied bool
	// Err is what they answer; nil means ErrInjected.
	Err error
}

// Fault is an engine of which chosen updates fail with an unknown result.
type Fault struct {
	wrapped
	mu struct {
		sync.Mutex
		plan FaultPlan
		n    int
		hit  int
	}
}

// NewFault wraps an engine; without a plan nothing fails.
func NewFault(e kv.Engine) *Fault { return &Fault{wrapped: wrapped{e}} }

// Plan sets the plan and starts counting anew.
func (f *Fault) Plan(p FaultPlan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.Times = max(p.Times, 1)
	f.mu.plan, f.mu.n, f.mu.hit = p, 0, 0
}

// Hits returns how many updates have failed since the plan was set.
func (f *Fault) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.hit
}

// Seen returns how many updates came since the plan was set.
func (f *Fault) Seen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.n
}

func (f *Fault) next() (fail error, applied bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.n++
	p := f.mu.plan
	if p.At == 0 || f.mu.n < p.At || f.mu.n >= p.At+p.Times {
		return nil, false
	}
	f.mu.hit++
	if p.Err != nil {
		return p.Err, p.Applied
	}
	return ErrInjected, p.Applied
}

// Update implements kv.Engine.
func (f *Fault) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return f.run(func() error { return f.Engine.Update(ctx, rows, step) })
}

// UpdateLazy implements kv.Lazy.
func (f *Fault) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return f.run(func() error { return kv.UpdateLazy(ctx, f.Engine, rows, step) })
}

// UpdateEarly implements kv.Early. What fails after it was applied was visible.
func (f *Fault) UpdateEarly(ctx context.Context, rows [][]byte, step kv.Step, visible func()) error {
	return f.run(func() error { return kv.UpdateEarly(ctx, f.Engine, rows, step, visible) })
}

// DeleteRange implements kv.RangeDeleter; it counts as an update.
func (f *Fault) DeleteRange(ctx context.Context, span kv.Span) error {
	return f.run(func() error { return f.wrapped.DeleteRange(ctx, span) })
}

func (f *Fault) run(update func() error) error {
	fail, applied := f.next()
	if fail == nil {
		return update()
	}
	if applied {
		if err := update(); err != nil {
			return err
		}
	}
	return fail
}
