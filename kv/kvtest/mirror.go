package kvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/minidb/minidb/kv"
)

// ErrDiverged means that the two engines of a Mirror returned different results.
var ErrDiverged = errors.New("mirrored engines disagree")

// Mirror runs every update on two engines and compares what their steps read and wrote; reads go to
// both. The engines start with equal content. Updates run one at a time, so that both see one
// order.
type Mirror struct {
	wrapped
	second kv.Engine
	mu     sync.RWMutex
}

// NewMirror wraps two engines with the same limits. The optional interfaces are the first one's.
func NewMirror(first, second kv.Engine) *Mirror {
	return &Mirror{wrapped: wrapped{Engine: first}, second: second}
}

// Snapshot implements kv.Engine.
func (m *Mirror) Snapshot() (kv.Snapshot, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	a, err := m.Engine.Snapshot()
	if err != nil {
		return nil, err
	}
	b, err := m.second.Snapshot()
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &mirrorSnapshot{mirrorReader{a, b}, a, b}, nil
}

// Update implements kv.Engine.
func (m *Mirror) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.both(m.Engine.Update(ctx, rows, step), m.second.Update(ctx, rows, step))
}

// UpdateLazy implements kv.Lazy.
func (m *Mirror) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.both(kv.UpdateLazy(ctx, m.Engine, rows, step),
		kv.UpdateLazy(ctx, m.second, rows, step))
}

// DeleteRange implements kv.RangeDeleter.
func (m *Mirror) DeleteRange(ctx context.Context, span kv.Span) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, second := kv.DeleteSpan(ctx, m.second, span, 0)
	return m.both(m.wrapped.DeleteRange(ctx, span), second)
}

// Ingest implements kv.Ingester.
func (m *Mirror) Ingest(ctx context.Context, sources []kv.Source) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.both(m.wrapped.Ingest(ctx, sources), kv.IngesterOf(m.second).Ingest(ctx, sources))
}

// Ingests implements kv.Ingester.
func (m *Mirror) Ingests() bool { return m.wrapped.Ingests() && kv.IngesterOf(m.second) != nil }

// both compares two results by what they say, for each engine made its own error value.
func (m *Mirror) both(a, b error) error {
	if (a == nil) != (b == nil) || a != nil && a.Error() != b.Error() {
		return fmt.Errorf("%w: %v and %v", ErrDiverged, a, b)
	}
	return a
}

// Close closes both.
func (m *Mirror) Close() error { return m.both(m.Engine.Close(), m.second.Close()) }

// mirrorReader reads from both and compares.
type mirrorReader struct{ a, b kv.Reader }

func (r mirrorReader) Get(ctx context.Context, key []byte) ([]byte, error) {
	va, errA := r.a.Get(ctx, key)
	vb, errB := r.b.Get(ctx, key)
	if (errA == nil) != (errB == nil) || !bytes.Equal(va, vb) || (va == nil) != (vb == nil) {
		return nil, fmt.Errorf("%w: get %x: %x, %v and %x, %v", ErrDiverged, key, va, errA, vb,
			errB)
	}
	return va, errA
}

func (r mirrorReader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	a, err := r.a.NewIter(ctx, span)
	if err != nil {
		return nil, err
	}
	b, err := r.b.NewIter(ctx, span)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &mirrorIter{a: a, b: b}, nil
}

type mirrorSnapshot struct {
	mirrorReader
	sa, sb kv.Snapshot
}

func (s *mirrorSnapshot) Close() error { return errors.Join(s.sa.Close(), s.sb.Close()) }

// mirrorIter moves two iterators in step.
type mirrorIter struct {
	a, b kv.Iterator
	err  error
}

func (i *mirrorIter) same(okA, okB bool) bool {
	switch {
	case i.err != nil:
		return false
	case okA != okB:
		i.err = fmt.Errorf("%w: one iterator ended", ErrDiverged)
	case okA && !bytes.Equal(i.a.Key(), i.b.Key()):
		i.err = fmt.Errorf("%w: iterators at %x and %x", ErrDiverged, i.a.Key(), i.b.Key())
	}
	return okA && i.err == nil
}

func (i *mirrorIter) SeekGE(key []byte) bool { return i.same(i.a.SeekGE(key), i.b.SeekGE(key)) }
func (i *mirrorIter) SeekPrefixGE(key []byte) bool {
	return i.same(i.a.SeekPrefixGE(key), i.b.SeekPrefixGE(key))
}
func (i *mirrorIter) SeekLT(key []byte) bool { return i.same(i.a.SeekLT(key), i.b.SeekLT(key)) }
func (i *mirrorIter) First() bool            { return i.same(i.a.First(), i.b.First()) }
func (i *mirrorIter) Last() bool             { return i.same(i.a.Last(), i.b.Last()) }
func (i *mirrorIter) Next() bool             { return i.same(i.a.Next(), i.b.Next()) }
func (i *mirrorIter) Prev() bool             { return i.same(i.a.Prev(), i.b.Prev()) }
func (i *mirrorIter) NextPrefix() bool       { return i.same(i.a.NextPrefix(), i.b.NextPrefix()) }
func (i *mirrorIter) Valid() bool            { return i.same(i.a.Valid(), i.b.Valid()) }
func (i *mirrorIter) Key() []byte            { return i.a.Key() }
func (i *mirrorIter) Close() error           { return errors.Join(i.a.Close(), i.b.Close()) }

func (i *mirrorIter) Value() ([]byte, error) {
	va, errA := i.a.Value()
	vb, errB := i.b.Value()
	if errA == nil && errB == nil && !bytes.Equal(va, vb) {
		return nil, fmt.Errorf("%w: values of %x", ErrDiverged, i.a.Key())
	}
	return va, errors.Join(errA, errB)
}

func (i *mirrorIter) Err() error { return errors.Join(i.err, i.a.Err(), i.b.Err()) }
