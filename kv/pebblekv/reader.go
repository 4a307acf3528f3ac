package pebblekv

import (
	"context"
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"
	"github.com/minidb/minidb/kv"
)

// reader is what a step reads through: the store's newest state. The rows that the update named
// cannot change while it is used.
type reader struct {
	src    *pebble.DB
	closer io.Closer // of the last value that Get returned
	failed error
}

func (r *reader) Get(_ context.Context, key []byte) ([]byte, error) {
	r.drop()
	value, closer, err := r.src.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, mark(err)
	}
	r.closer = closer
	if value == nil {
		value = []byte{}
	}
	return value, nil
}

func (r *reader) drop() {
	if r.closer != nil {
		r.failed = errors.Join(r.failed, r.closer.Close())
		r.closer = nil
	}
}

func (r *reader) close() error {
	r.drop()
	return mark(r.failed)
}

func (r *reader) NewIter(_ context.Context, span kv.Span) (kv.Iterator, error) {
	opts := iterOptions(span)
	if opts == nil {
		opts = &stepOptions
	}
	it, err := r.src.NewIter(opts)
	if err != nil {
		return nil, mark(err)
	}
	return (*iterator)(it), nil
}

// stepOptions are for iterators of steps, which mostly look for rows that are not there: the last
// level's filters are worth a look.
var stepOptions = pebble.IterOptions{UseL6Filters: true}

func iterOptions(span kv.Span) *pebble.IterOptions {
	if span.Start == nil && span.End == nil {
		return nil
	}
	return &pebble.IterOptions{LowerBound: span.Start, UpperBound: span.End}
}

// snapshot pins the state of its first iterator; every other is a clone of it. The first one is
// lent to the first caller that wants an iterator over everything: a transaction that reads one key
// makes one Pebble iterator and no more. A clone over a span is kept when it is closed, for the
// next span: making one, and opening its files, takes longer than a short scan does.
type snapshot struct {
	base   *pebble.Iterator
	get    *pebble.Iterator // of Get; made when first needed
	lent   lentIter
	inUse  bool      // lent is out
	spare  *spanIter // over no span; nil: none
	closed bool
}

// spanIter is a clone over a span.
type spanIter struct {
	*iterator
	s *snapshot
}

// Close keeps the iterator for the snapshot's next span, unless it failed.
func (i *spanIter) Close() error {
	if err := i.Err(); err != nil || i.s.closed || i.s.spare != nil {
		return errors.Join(err, i.iterator.Close())
	}
	i.p().SetContext(context.Background())
	i.s.spare = i
	return nil
}

// lentIter is the snapshot's own iterator in the hands of a caller. Closing it gives it back.
type lentIter struct {
	*iterator
	s *snapshot
}

func (l *lentIter) Close() error {
	l.s.inUse = false
	return l.Err()
}

// Snapshot implements kv.Engine.
func (e *Engine) Snapshot() (kv.Snapshot, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.gate.RUnlock()
	base, err := e.db.NewIter(nil)
	if err != nil {
		return nil, mark(err)
	}
	s := &snapshot{base: base}
	s.lent = lentIter{(*iterator)(base), s}
	return s, nil
}

func (s *snapshot) Get(_ context.Context, key []byte) ([]byte, error) {
	if s.closed {
		return nil, kv.ErrClosed
	}
	if s.get == nil {
		it, err := s.base.Clone(pebble.CloneOptions{IterOptions: &pebble.IterOptions{}})
		if err != nil {
			return nil, mark(err)
		}
		s.get = it
	}
	// The prefix seek consults the filters; the key found must be this one and not a later
	// qualifier of the same prefix.
	if !s.get.SeekPrefixGE(key) || string(s.get.Key()) != string(key) {
		return nil, mark(s.get.Error())
	}
	value, err := s.get.ValueAndErr()
	if value == nil && err == nil {
		value = []byte{}
	}
	return value, mark(err)
}

func (s *snapshot) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	if s.closed {
		return nil, kv.ErrClosed
	}
	if span.Start == nil && span.End == nil && !s.inUse {
		s.inUse = true
		return &s.lent, nil
	}
	if i := s.spare; i != nil {
		s.spare = nil
		i.p().SetContext(ctx)
		i.p().SetBounds(span.Start, span.End)
		return i, nil
	}
	opts := &pebble.IterOptions{LowerBound: span.Start, UpperBound: span.End}
	it, err := s.base.CloneWithContext(ctx, pebble.CloneOptions{IterOptions: opts})
	if err != nil {
		return nil, mark(err)
	}
	return &spanIter{iterator: (*iterator)(it), s: s}, nil
}

// NewVersionIter implements kv.Versioned by the properties of blocks (versions.go).
func (s *snapshot) NewVersionIter(ctx context.Context, span kv.Span, low,
	high uint64) (kv.Iterator, error) {
	if s.closed {
		return nil, kv.ErrClosed
	}
	opts := &pebble.IterOptions{LowerBound: span.Start, UpperBound: span.End,
		PointKeyFilters: []pebble.BlockPropertyFilter{versionsBetween(low, high)}}
	it, err := s.base.CloneWithContext(ctx, pebble.CloneOptions{IterOptions: opts})
	if err != nil {
		return nil, mark(err)
	}
	return (*iterator)(it), nil
}

func (s *snapshot) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.base.Close()
	if s.get != nil {
		err = errors.Join(err, s.get.Close())
	}
	if s.spare != nil {
		err = errors.Join(err, s.spare.p().Close())
		s.spare = nil
	}
	return mark(err)
}

// iterator is Pebble's, with this module's method set.
type iterator pebble.Iterator

func (i *iterator) p() *pebble.Iterator { return (*pebble.Iterator)(i) }

func (i *iterator) SeekGE(key []byte) bool       { return i.p().SeekGE(key) }
func (i *iterator) SeekPrefixGE(key []byte) bool { return i.p().SeekPrefixGE(key) }
func (i *iterator) SeekLT(key []byte) bool       { return i.p().SeekLT(key) }
func (i *iterator) First() bool                  { return i.p().First() }
func (i *iterator) Last() bool                   { return i.p().Last() }
func (i *iterator) Next() bool                   { return i.p().Next() }
func (i *iterator) Prev() bool                   { return i.p().Prev() }
func (i *iterator) NextPrefix() bool             { return i.p().NextPrefix() }
func (i *iterator) Valid() bool                  { return i.p().Valid() }
func (i *iterator) Key() []byte                  { return i.p().Key() }
func (i *iterator) Err() error                   { return mark(i.p().Error()) }
func (i *iterator) Close() error                 { return mark(i.p().Close()) }

func (i *iterator) Value() ([]byte, error) {
	v, err := i.p().ValueAndErr()
	return v, mark(err)
}
