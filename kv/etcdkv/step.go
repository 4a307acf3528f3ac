package etcdkv

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/paged"
)

// stepReader is the reader of a step. Its failures are those of the engine, whatever the step makes
// of them.
type stepReader struct {
	reader
	rows   map[string]*[256]bool // the named ones, with the families in which they were read
	failed error
}

func (s *stepReader) note(err error) error {
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return err
}

// reads notes that a key is read, or what follows it in its prefix.
func (s *stepReader) reads(key []byte) {
	if read := s.rows[string(kv.Row(key))]; read != nil && len(key) > 0 {
		read[key[0]] = true
	} else if read == nil {
		s.noted.add(key, s.known.of(key))
	}
}

// noteStep takes in what a step has read.
func (e *Engine) noteStep(r *stepReader) {
	for row, read := range r.rows {
		e.ofSteps.note(read)
		if _, known := e.memory.Get(row); known {
			// The snapshot that has read the row before might have read all that the step needs.
			e.ofSnapshots.habits.note(read)
		}
	}
	e.ofSteps.favourites.note(r.noted)
}

func (s *stepReader) Get(ctx context.Context, key []byte) ([]byte, error) {
	s.reads(key)
	value, err := s.reader.Get(ctx, key)
	return value, s.note(err)
}

func (s *stepReader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	failed := func(err error) { _ = s.note(err) }
	it := &stepIterator{paged.New(ctx, source{&s.reader}, span, failed), s, span}
	return it, s.note(ctx.Err())
}

// stepIterator is an iterator of a step.
type stepIterator struct {
	*paged.Iterator
	s    *stepReader
	span kv.Span
}

func (i *stepIterator) SeekPrefixGE(key []byte) bool {
	i.s.reads(key)
	return i.Iterator.SeekPrefixGE(key)
}

func (i *stepIterator) First() bool {
	if paged.OnePrefix(i.span) {
		i.s.reads(i.span.Start)
	}
	return i.Iterator.First()
}
