package kvtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/minidb/minidb/kv"
)

// ErrInjected is the failure that Fault injects. It is not kv.ErrNotApplied: the caller cannot know
// whether the update was applied.
var ErrInjected = errors.New("injected failure")

// FaultPlan says which update fails, and how. Updates are counted from one, lazy ones included.
type FaultPlan struct {
	At int
	// Times is how many updates in a row fail from there on; 0 means one.
	Times int
	// Applied applies the update all the same: only its result is lost.
	Applied bool
	// Late applies it later: before the next update that names one of its rows, or when Land is
	// called. Reads do not show it until then.
	Late bool
	// Err is what they return; nil means ErrInjected.
	Err error
	// Then, if not nil, is called before one of them returns.
	Then func()
}

// Fault is an engine of which chosen updates fail with an unknown result.
type Fault struct {
	wrapped
	// order is held by an update from its look for what is late to its end, and by one that is late
	// alone: the others come before it or find it.
	order sync.RWMutex
	mu    struct {
		sync.Mutex
		plan FaultPlan
		n    int
		hit  int
		late []*lateUpdate // in the order in which they were sent
	}
}

// lateUpdate is a batch that is on its way.
type lateUpdate struct {
	rows  [][]byte
	batch kv.Batch
}

// NewFault wraps an engine; without a plan nothing fails.
func NewFault(e kv.Engine) *Fault { return &Fault{wrapped: wrapped{Engine: e}} }

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

// next returns the plan when it is for the next update, and that update's failure.
func (f *Fault) next() (p FaultPlan, fail error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.n++
	p = f.mu.plan
	if p.At == 0 || f.mu.n < p.At || f.mu.n >= p.At+p.Times {
		return FaultPlan{}, nil
	}
	f.mu.hit++
	if p.Err != nil {
		return p, p.Err
	}
	return p, ErrInjected
}

// Update implements kv.Engine.
func (f *Fault) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return f.run(ctx, rows, step, func() error { return f.Engine.Update(ctx, rows, step) })
}

// UpdateLazy implements kv.Lazy.
func (f *Fault) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return f.run(ctx, rows, step, func() error { return kv.UpdateLazy(ctx, f.Engine, rows, step) })
}

// UpdateEarly implements kv.Early. What fails after it was applied was visible.
func (f *Fault) UpdateEarly(ctx context.Context, rows [][]byte, step kv.Step,
	visible func()) error {
	return f.run(ctx, rows, step,
		func() error { return kv.UpdateEarly(ctx, f.Engine, rows, step, visible) })
}

// DeleteRange implements kv.RangeDeleter; it counts as an update. What is late lands before, and
// one that would be late itself is lost.
func (f *Fault) DeleteRange(ctx context.Context, span kv.Span) error {
	p, fail := f.next()
	f.order.RLock()
	defer f.order.RUnlock()
	if err := f.Land(); err != nil {
		return err
	}
	if fail == nil || p.Applied {
		return cmp.Or(f.wrapped.DeleteRange(ctx, span), fail)
	}
	return fail
}

// Ingest implements kv.Ingester; it counts as an update. One that fails was not applied: what is
// ingested is there when Ingest has returned nil, and with an error it is not.
func (f *Fault) Ingest(ctx context.Context, sources []kv.Source) error {
	if _, fail := f.next(); fail != nil {
		return fail
	}
	return f.wrapped.Ingest(ctx, sources)
}

func (f *Fault) run(ctx context.Context, rows [][]byte, step kv.Step, update func() error) error {
	p, fail := f.next()
	if p.Late {
		f.order.Lock()
		defer f.order.Unlock()
	} else {
		f.order.RLock()
		defer f.order.RUnlock()
	}
	if err := f.land(func(l *lateUpdate) bool { return l.names(rows) }); err != nil {
		return err
	}
	switch {
	case fail == nil:
		return update()
	case p.Late:
		if err := f.send(ctx, rows, step); err != nil {
			return err
		}
	case p.Applied:
		if err := update(); err != nil {
			return err
		}
	}
	if p.Then != nil {
		p.Then()
	}
	return fail
}

// send runs a step, and keeps its batch.
func (f *Fault) send(ctx context.Context, rows [][]byte, step kv.Step) error {
	l := &lateUpdate{rows: rows}
	err := f.Engine.Update(ctx, rows, func(r kv.Reader, _ *kv.Batch) error {
		l.batch = kv.Batch{}
		return step(r, &l.batch)
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.late = append(f.mu.late, l)
	return nil
}

// Land applies what is late.
func (f *Fault) Land() error { return f.land(func(*lateUpdate) bool { return true }) }

// land applies what is late, in its order, up to the last one for which the function holds.
func (f *Fault) land(which func(*lateUpdate) bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.mu.late)
	for n > 0 && !which(f.mu.late[n-1]) {
		n--
	}
	for _, l := range f.mu.late[:n] {
		err := f.Engine.Update(context.Background(), l.rows, func(_ kv.Reader, b *kv.Batch) error {
			for i := range l.batch.Len() {
				if key, value, deleted := l.batch.Op(i); deleted {
					b.Delete(key)
				} else {
					b.Set(key, value)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	f.mu.late = f.mu.late[n:]
	return nil
}

// names reports whether the update names one of the rows.
func (l *lateUpdate) names(rows [][]byte) bool {
	return slices.ContainsFunc(l.rows, func(a []byte) bool {
		return slices.ContainsFunc(rows, func(b []byte) bool { return bytes.Equal(a, b) })
	})
}
