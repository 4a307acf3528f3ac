package kvtest

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/tidwall/btree"
)

// Steps counts the keys that iterators pass, with those that were deleted: an engine that appends
// marks a deleted key, and steps over the marks until it has rewritten the files. Here the marks
// stay until the key is set again.
type Steps struct {
	wrapped
	steps atomic.Int64

	mu     sync.Mutex
	graves btree.Set[string]
}

// NewSteps wraps an engine.
func NewSteps(e kv.Engine) *Steps { return &Steps{wrapped: wrapped{Engine: e}} }

// Steps returns how many keys have been passed.
func (s *Steps) Steps() int64 { return s.steps.Load() }

// Snapshot implements kv.Engine.
func (s *Steps) Snapshot() (kv.Snapshot, error) {
	snap, err := s.Engine.Snapshot()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &steppedSnapshot{stepped{snap, s, s.graves.Copy()}, snap}, nil
}

// Update implements kv.Engine.
func (s *Steps) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return s.Engine.Update(ctx, rows, s.step(step))
}

// UpdateLazy implements kv.Lazy.
func (s *Steps) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return kv.UpdateLazy(ctx, s.Engine, rows, s.step(step))
}

// DeleteRange implements kv.RangeDeleter. A range needs no mark for each key.
func (s *Steps) DeleteRange(ctx context.Context, span kv.Span) error {
	s.forget(span)
	return s.wrapped.DeleteRange(ctx, span)
}

func (s *Steps) forget(span kv.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []string
	s.graves.Ascend(string(span.Start), func(key string) bool {
		if span.End != nil && key >= string(span.End) {
			return false
		}
		gone = append(gone, key)
		return true
	})
	for _, key := range gone {
		s.graves.Delete(key)
	}
}

// CompactRange implements kv.RangeCompacter: the marks in the span are gone.
func (s *Steps) CompactRange(ctx context.Context, span kv.Span) error {
	s.forget(span)
	return s.wrapped.CompactRange(ctx, span)
}

func (s *Steps) step(step kv.Step) kv.Step {
	return func(r kv.Reader, b *kv.Batch) error {
		s.mu.Lock()
		graves := s.graves.Copy()
		s.mu.Unlock()
		err := step(stepped{r, s, graves}, b)
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range b.Len() {
			if key, _, deleted := b.Op(i); deleted {
				s.graves.Insert(string(key))
			} else {
				s.graves.Delete(string(key))
			}
		}
		return err
	}
}

type stepped struct {
	kv.Reader
	s      *Steps
	graves *btree.Set[string]
}

func (r stepped) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	it, err := r.Reader.NewIter(ctx, span)
	if err != nil {
		return nil, err
	}
	return &steppedIterator{Iterator: it, r: r, span: span}, nil
}

type steppedSnapshot struct {
	stepped
	s kv.Snapshot
}

func (s *steppedSnapshot) Close() error { return s.s.Close() }

type steppedIterator struct {
	kv.Iterator
	r    stepped
	span kv.Span
	at   []byte // the iterator's position
}

// passed counts what lies between two keys, in either direction, and the one that was found.
func (i *steppedIterator) passed(from, to []byte, found bool) bool {
	if found {
		i.r.s.steps.Add(1)
		i.at = append(i.at[:0], i.Iterator.Key()...)
	}
	if to != nil && bytes.Compare(from, to) > 0 {
		from, to = to, from
	}
	i.r.graves.Ascend(string(from), func(key string) bool {
		if to != nil && key >= string(to) {
			return false
		}
		i.r.s.steps.Add(1)
		return true
	})
	return found
}

func (i *steppedIterator) forward(from []byte, found bool) bool {
	to := i.span.End
	if found {
		to = i.Iterator.Key()
	}
	return i.passed(bytes.Clone(from), to, found)
}

func (i *steppedIterator) backward(from []byte, found bool) bool {
	to := i.span.Start
	if found {
		to = i.Iterator.Key()
	}
	if to == nil {
		to = []byte{}
	}
	return i.passed(bytes.Clone(from), to, found)
}

func (i *steppedIterator) First() bool { return i.forward(i.span.Start, i.Iterator.First()) }
func (i *steppedIterator) Next() bool  { return i.forward(i.at, i.Iterator.Next()) }
func (i *steppedIterator) Last() bool  { return i.backward(i.span.End, i.Iterator.Last()) }
func (i *steppedIterator) Prev() bool  { return i.backward(i.at, i.Iterator.Prev()) }

func (i *steppedIterator) NextPrefix() bool { return i.forward(i.at, i.Iterator.NextPrefix()) }

func (i *steppedIterator) SeekGE(key []byte) bool { return i.forward(key, i.Iterator.SeekGE(key)) }
func (i *steppedIterator) SeekLT(key []byte) bool { return i.backward(key, i.Iterator.SeekLT(key)) }

func (i *steppedIterator) SeekPrefixGE(key []byte) bool {
	found := i.Iterator.SeekPrefixGE(key)
	return i.passed(bytes.Clone(key), kv.PrefixEnd(kv.Prefix(key)), found)
}
