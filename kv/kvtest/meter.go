package kvtest

import (
	"context"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
)

// Meter counts what is done with an engine for a watched context and for those made of it: a key
// that an iterator passes or that is looked up, and a row of an update, each count one. It calls a
// hook at a chosen count. So a test ends a context in the middle of some work, and counts what is
// done after that.
type Meter struct {
	wrapped
	done, after, at atomic.Int64
	hook            atomic.Pointer[func()]
}

// watched is the key of the value that marks a watched context.
type watched struct{}

// NewMeter wraps an engine.
func NewMeter(e kv.Engine) *Meter { return &Meter{wrapped: wrapped{Engine: e}} }

// Watch returns a context whose work is counted from zero, with a hook that is called when so many
// keys are done.
func (m *Meter) Watch(ctx context.Context, at int64, hook func()) context.Context {
	m.at.Store(at)
	m.hook.Store(&hook)
	m.done.Store(0)
	m.after.Store(0)
	return context.WithValue(ctx, watched{}, m)
}

// After returns how many keys were done after the hook was called.
func (m *Meter) After() int64 { return m.after.Load() }

func (m *Meter) count(ctx context.Context, n int) {
	if ctx.Value(watched{}) != m {
		return
	}
	done, at := m.done.Add(int64(n)), m.at.Load()
	switch {
	case done-int64(n) >= at:
		m.after.Add(int64(n))
	case done >= at:
		(*m.hook.Load())()
	}
}

// Snapshot implements kv.Engine.
func (m *Meter) Snapshot() (kv.Snapshot, error) {
	s, err := m.Engine.Snapshot()
	if err != nil {
		return nil, err
	}
	return &meteredSnapshot{metered{s, m}, s}, nil
}

// Update implements kv.Engine.
func (m *Meter) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return m.Engine.Update(ctx, rows, m.step(ctx, rows, step))
}

// UpdateLazy implements kv.Lazy.
func (m *Meter) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return kv.UpdateLazy(ctx, m.Engine, rows, m.step(ctx, rows, step))
}

// UpdateEarly implements kv.Early.
func (m *Meter) UpdateEarly(ctx context.Context, rows [][]byte, step kv.Step,
	visible func()) error {
	return kv.UpdateEarly(ctx, m.Engine, rows, m.step(ctx, rows, step), visible)
}

func (m *Meter) step(ctx context.Context, rows [][]byte, step kv.Step) kv.Step {
	return func(r kv.Reader, b *kv.Batch) error {
		err := step(metered{r, m}, b)
		if err == nil {
			m.count(ctx, len(rows))
		}
		return err
	}
}

type metered struct {
	kv.Reader
	m *Meter
}

func (r metered) Get(ctx context.Context, key []byte) ([]byte, error) {
	r.m.count(ctx, 1)
	return r.Reader.Get(ctx, key)
}

func (r metered) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	it, err := r.Reader.NewIter(ctx, span)
	if err != nil {
		return nil, err
	}
	return &meteredIterator{it, ctx, r.m}, nil
}

type meteredSnapshot struct {
	metered
	s kv.Snapshot
}

func (s *meteredSnapshot) Close() error { return s.s.Close() }

// meteredIterator counts what an iterator passes for the context with which it was opened.
type meteredIterator struct {
	kv.Iterator
	ctx context.Context
	m   *Meter
}

func (i *meteredIterator) passed(found bool) bool {
	i.m.count(i.ctx, 1)
	return found
}

func (i *meteredIterator) First() bool            { return i.passed(i.Iterator.First()) }
func (i *meteredIterator) Last() bool             { return i.passed(i.Iterator.Last()) }
func (i *meteredIterator) Next() bool             { return i.passed(i.Iterator.Next()) }
func (i *meteredIterator) Prev() bool             { return i.passed(i.Iterator.Prev()) }
func (i *meteredIterator) NextPrefix() bool       { return i.passed(i.Iterator.NextPrefix()) }
func (i *meteredIterator) SeekGE(key []byte) bool { return i.passed(i.Iterator.SeekGE(key)) }
func (i *meteredIterator) SeekLT(key []byte) bool { return i.passed(i.Iterator.SeekLT(key)) }
func (i *meteredIterator) SeekPrefixGE(k []byte) bool {
	return i.passed(i.Iterator.SeekPrefixGE(k))
}
