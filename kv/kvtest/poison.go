package kvtest

import (
	"context"

	"github.com/minidb/minidb/kv"
)

// Poison overwrites each key and value that an engine returned as soon as the contract ends its
// life: a value of Get at the next call on its Reader, those of an iterator when it moves. Code
// that keeps such a slice for longer reads rubbish in every run, and not only when an engine
// happens to reuse the memory.
type Poison struct{ wrapped }

// NewPoison wraps an engine.
func NewPoison(e kv.Engine) *Poison { return &Poison{wrapped{Engine: e}} }

// Unwrap returns the engine below.
func (p *Poison) Unwrap() kv.Engine { return p.Engine }

// Snapshot implements kv.Engine.
func (p *Poison) Snapshot() (kv.Snapshot, error) {
	s, err := p.Engine.Snapshot()
	if err != nil {
		return nil, err
	}
	return &poisonedSnapshot{poisonedReader{Reader: s}, s}, nil
}

// Update implements kv.Engine.
func (p *Poison) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return p.Engine.Update(ctx, rows, poisonedStep(step))
}

// UpdateLazy implements kv.Lazy.
func (p *Poison) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return kv.UpdateLazy(ctx, p.Engine, rows, poisonedStep(step))
}

// UpdateEarly implements kv.Early.
func (p *Poison) UpdateEarly(
	ctx context.Context, rows [][]byte, step kv.Step, visible func(),
) error {
	return kv.UpdateEarly(ctx, p.Engine, rows, poisonedStep(step), visible)
}

func poisonedStep(step kv.Step) kv.Step {
	return func(r kv.Reader, b *kv.Batch) error {
		poisoned := poisonedReader{Reader: r}
		defer poisoned.lent.end()
		return step(&poisoned, b)
	}
}

// lent is a slice that the engine's user may read for now.
type lent struct{ copied []byte }

// lend returns a copy of p that lives until the next call of lend or end.
func (l *lent) lend(p []byte) []byte {
	l.end()
	if p != nil {
		l.copied = append([]byte{}, p...)
	}
	return l.copied
}

func (l *lent) end() {
	for i := range l.copied {
		l.copied[i] = 0xdd
	}
	l.copied = nil
}

type poisonedReader struct {
	kv.Reader
	lent lent
}

func (r *poisonedReader) Get(ctx context.Context, key []byte) ([]byte, error) {
	value, err := r.Reader.Get(ctx, key)
	return r.lent.lend(value), err
}

func (r *poisonedReader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	r.lent.end()
	it, err := r.Reader.NewIter(ctx, span)
	if err != nil {
		return nil, err
	}
	return &poisonedIterator{Iterator: it}, nil
}

type poisonedSnapshot struct {
	poisonedReader
	s kv.Snapshot
}

func (s *poisonedSnapshot) Close() error {
	s.lent.end()
	return s.s.Close()
}

// poisonedIterator lends the key and the value at its position; called twice, it returns the same.
type poisonedIterator struct {
	kv.Iterator
	key, value lent
}

func (it *poisonedIterator) moved(ok bool) bool {
	it.key.end()
	it.value.end()
	return ok
}

func (it *poisonedIterator) SeekGE(key []byte) bool { return it.moved(it.Iterator.SeekGE(key)) }

func (it *poisonedIterator) SeekPrefixGE(key []byte) bool {
	return it.moved(it.Iterator.SeekPrefixGE(key))
}

func (it *poisonedIterator) SeekLT(key []byte) bool { return it.moved(it.Iterator.SeekLT(key)) }

func (it *poisonedIterator) First() bool { return it.moved(it.Iterator.First()) }

func (it *poisonedIterator) Last() bool { return it.moved(it.Iterator.Last()) }

func (it *poisonedIterator) Next() bool { return it.moved(it.Iterator.Next()) }

func (it *poisonedIterator) Prev() bool { return it.moved(it.Iterator.Prev()) }

func (it *poisonedIterator) NextPrefix() bool { return it.moved(it.Iterator.NextPrefix()) }

func (it *poisonedIterator) Key() []byte {
	if it.key.copied == nil {
		it.key.lend(it.Iterator.Key())
	}
	return it.key.copied
}

func (it *poisonedIterator) Value() ([]byte, error) {
	if it.value.copied == nil {
		value, err := it.Iterator.Value()
		if err != nil {
			return nil, err
		}
		it.value.lend(value)
	}
	return it.value.copied, nil
}

func (it *poisonedIterator) Close() error {
	it.moved(false)
	return it.Iterator.Close()
}
