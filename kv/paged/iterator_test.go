package paged_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/paged"
)

// TestContract runs the conformance suite on an engine in memory that is read in pages: one source
// has whole prefixes at hand, another has not.
func TestContract(t *testing.T) {
	for name, prefixes := range map[string]bool{"pages": false, "prefixes": true} {
		t.Run(name, func(t *testing.T) {
			kvtest.Run(t, func(*testing.T) kv.Engine {
				return engine{kv.Wrapped{Engine: memkv.New(memkv.Options{})}, prefixes}
			})
		})
	}
}

type engine struct {
	kv.Wrapped
	prefixes bool
}

func (e engine) Snapshot() (kv.Snapshot, error) {
	s, err := e.Wrapped.Snapshot()
	return snapshot{reader{s, e.prefixes}, s}, err
}

func (e engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return e.Wrapped.Update(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		return step(reader{r, e.prefixes}, b)
	})
}

type snapshot struct {
	reader
	s kv.Snapshot
}

func (s snapshot) Close() error { return s.s.Close() }

type reader struct {
	kv.Reader
	prefixes bool
}

func (r reader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	return paged.New(ctx, source(r), span, nil), nil
}

// source reads pages with iterators of another reader.
type source reader

func (source) Usable() error { return nil }

func (s source) From(ctx context.Context, lo, end []byte, size int, _ bool) (*paged.Page, error) {
	cells, err := s.read(ctx, kv.Span{Start: lo, End: end}, size, false)
	return paged.PageOf(cells, lo, end, size), err
}

func (s source) Below(ctx context.Context, lo, hi []byte, size int) (*paged.Page, error) {
	cells, err := s.read(ctx, kv.Span{Start: lo, End: hi}, size, true)
	return paged.PageBelow(cells, lo, hi, size), err
}

func (s source) Prefix(ctx context.Context, key []byte) (*paged.Page, error) {
	lo := bytes.Clone(kv.Prefix(key))
	if !s.prefixes || !paged.OnePrefix(kv.Span{Start: lo, End: kv.PrefixEnd(lo)}) {
		return nil, nil
	}
	cells, err := s.read(ctx, kv.Span{Start: lo, End: kv.PrefixEnd(lo)}, -1, false)
	return &paged.Page{Cells: cells, Lo: lo, Hi: kv.PrefixEnd(lo)}, err
}

func (s source) read(ctx context.Context, span kv.Span, size int, reverse bool) (cells []paged.Cell,
	err error) {
	it, err := s.Reader.NewIter(ctx, kv.Span{Start: bytes.Clone(span.Start),
		End: bytes.Clone(span.End)})
	if err != nil {
		return nil, err
	}
	first, next := it.First, it.Next
	if reverse {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok && len(cells) != size; ok = next() {
		value, err := it.Value()
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
		cells = append(cells, paged.Cell{Key: bytes.Clone(it.Key()), Value: bytes.Clone(value)})
	}
	return cells, errors.Join(it.Err(), it.Close())
}
