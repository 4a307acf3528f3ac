// Package paged walks spans of stores whose every read is a request: page by page.
package paged

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"github.com/minidb/minidb/kv"
)

// A page grows with each one that an iterator reads, and no longer once its cells have so many
// bytes.
const (
	firstPage = 16
	lastPage  = 1024
	pageBytes = 1 << 20
)

// Cell is one key and its value.
type Cell struct{ Key, Value []byte }

// Page is what there is from Lo to below Hi, in order; a nil Hi is the end of all keys.
type Page struct {
	Cells  []Cell
	Lo, Hi []byte
}

// PageOf is the page of the first size cells from lo to below end, less if there are no more.
func PageOf(cells []Cell, lo, end []byte, size int) *Page {
	p := &Page{Cells: cells, Lo: bytes.Clone(lo), Hi: end}
	if len(cells) == size {
		p.Hi = kv.Successor(cells[size-1].Key)
	}
	return p
}

// PageBelow is the page of the last size cells below hi, less if there are no more down to lo. They
// are given backwards, and turned round in place.
func PageBelow(cells []Cell, lo, hi []byte, size int) *Page {
	if len(cells) == size {
		lo = cells[size-1].Key
	}
	slices.Reverse(cells)
	return &Page{Cells: cells, Lo: lo, Hi: hi}
}

func (p *Page) covers(key []byte) bool {
	return p != nil && bytes.Compare(key, p.Lo) >= 0 &&
		(p.Hi == nil || bytes.Compare(key, p.Hi) < 0)
}

// Source reads pages. What it is given is its own only until it returns, but for the ends of spans.
type Source interface {
	// Usable returns an error when nothing may be read any more.
	Usable() error
	// From reads about size cells from lo to below end. first says that it is the first page of an
	// iterator which is not held to a prefix.
	From(ctx context.Context, lo, end []byte, size int, first bool) (*Page, error)
	// Below reads the last cells below hi, at most size of them, and none below lo. A nil hi is the
	// end of all keys.
	Below(ctx context.Context, lo, hi []byte, size int) (*Page, error)
	// Prefix returns a page that begins with the prefix (kv.Prefix) of a key, if one is at hand or
	// better read whole; else nil.
	Prefix(ctx context.Context, key []byte) (*Page, error)
}

// Iterator implements kv.Iterator.
type Iterator struct {
	s      Source
	ctx    context.Context
	span   kv.Span
	failed func(error)
	prefix []byte // set by SeekPrefixGE

	page  *Page
	size  int // of the last page
	at    int
	valid bool
	err   error
}

// New returns an iterator over a span. It calls failed, if there is one, with each error.
func New(ctx context.Context, s Source, span kv.Span, failed func(error)) *Iterator {
	return &Iterator{s: s, ctx: ctx, span: span, failed: failed}
}

func (i *Iterator) fail(err error) bool {
	i.err, i.valid, i.page = err, false, nil
	if i.failed != nil {
		i.failed(err)
	}
	return false
}

// grow returns the size of the next page.
func (i *Iterator) grow() int {
	i.size = min(max(4*i.size, firstPage), lastPage)
	if i.page == nil {
		return i.size
	}
	read := 0
	for _, c := range i.page.Cells {
		read += len(c.Key) + len(c.Value)
	}
	if read > 0 {
		i.size = min(i.size, max(1, len(i.page.Cells)*pageBytes/read))
	}
	return i.size
}

// end is where the iterator does not go forward from.
func (i *Iterator) end() []byte {
	if i.prefix == nil {
		return i.span.End
	}
	end := kv.PrefixEnd(i.prefix)
	if end == nil || i.span.End != nil && bytes.Compare(i.span.End, end) < 0 {
		return i.span.End
	}
	return end
}

// land moves to the n-th cell of the page, if that is inside of the span and the prefix.
func (i *Iterator) land(n int) bool {
	i.at = n
	i.valid = i.page != nil && n >= 0 && n < len(i.page.Cells) &&
		i.span.Contains(i.page.Cells[n].Key) &&
		(i.prefix == nil || bytes.Equal(kv.Prefix(i.page.Cells[n].Key), i.prefix))
	return i.valid
}

// usable begins a move.
func (i *Iterator) usable() bool {
	if i.err = i.s.Usable(); i.err != nil {
		return i.fail(i.err)
	}
	return true
}

// forward moves to the first cell at or above a key.
func (i *Iterator) forward(key []byte) bool {
	if !i.usable() {
		return false
	}
	if bytes.Compare(key, i.span.Start) < 0 {
		key = i.span.Start
	}
	for end := i.end(); ; {
		if i.page.covers(key) {
			n := sort.Search(len(i.page.Cells), func(k int) bool {
				return bytes.Compare(i.page.Cells[k].Key, key) >= 0
			})
			hi := i.page.Hi
			if n < len(i.page.Cells) || hi == nil || end != nil && bytes.Compare(hi, end) >= 0 {
				return i.land(n)
			}
			key = hi
		}
		if end != nil && bytes.Compare(key, end) >= 0 {
			return i.land(-1)
		}
		first := i.size == 0 && i.prefix == nil
		p, err := i.s.From(i.ctx, key, end, i.grow(), first)
		if err != nil {
			return i.fail(err)
		}
		i.page = p
	}
}

// backward moves to the last cell below a key; nil is the end of all keys.
func (i *Iterator) backward(key []byte) bool {
	if !i.usable() {
		return false
	}
	if i.span.End != nil && (key == nil || bytes.Compare(key, i.span.End) > 0) {
		key = i.span.End
	}
	if key != nil && bytes.Compare(key, i.span.Start) <= 0 {
		return i.land(-1)
	}
	p, err := i.s.Below(i.ctx, i.span.Start, bytes.Clone(key), i.grow())
	if err != nil {
		return i.fail(err)
	}
	i.page = p
	return i.land(len(p.Cells) - 1)
}

// SeekGE implements kv.Iterator.
func (i *Iterator) SeekGE(key []byte) bool {
	i.prefix = nil
	return i.forward(key)
}

// SeekPrefixGE implements kv.Iterator.
func (i *Iterator) SeekPrefixGE(key []byte) bool {
	i.prefix = bytes.Clone(kv.Prefix(key))
	p, err := i.s.Prefix(i.ctx, key)
	if err != nil {
		return i.fail(err)
	}
	if p != nil && !i.page.covers(key) {
		i.page = p
	}
	return i.forward(key)
}

// SeekLT implements kv.Iterator.
func (i *Iterator) SeekLT(key []byte) bool {
	i.prefix = nil
	return i.backward(key)
}

// First implements kv.Iterator.
func (i *Iterator) First() bool {
	if OnePrefix(i.span) {
		return i.SeekPrefixGE(i.span.Start)
	}
	return i.SeekGE(i.span.Start)
}

// OnePrefix reports whether a span is within a single prefix, which has a terminator.
func OnePrefix(span kv.Span) bool {
	prefix := kv.Prefix(span.Start)
	return bytes.HasSuffix(prefix, terminator) && span.End != nil &&
		bytes.Compare(span.End, kv.PrefixEnd(prefix)) <= 0
}

// terminator ends a row in a key.
var terminator = []byte{0, 1}

// Last implements kv.Iterator.
func (i *Iterator) Last() bool { return i.SeekLT(nil) }

// Next implements kv.Iterator.
func (i *Iterator) Next() bool {
	if !i.valid {
		return false
	}
	if i.at+1 < len(i.page.Cells) {
		return i.land(i.at + 1)
	}
	return i.forward(kv.Successor(i.Key()))
}

// Prev implements kv.Iterator.
func (i *Iterator) Prev() bool {
	if !i.valid {
		return false
	}
	if i.at > 0 {
		return i.land(i.at - 1)
	}
	return i.backward(i.Key())
}

// NextPrefix implements kv.Iterator.
func (i *Iterator) NextPrefix() bool {
	if !i.valid {
		return false
	}
	prefix, cells := kv.Prefix(i.Key()), i.page.Cells
	for n := i.at + 1; n < len(cells); n++ {
		if !bytes.Equal(kv.Prefix(cells[n].Key), prefix) {
			return i.land(n)
		}
	}
	return i.forward(kv.BehindPrefix(i.Key()))
}

// Valid implements kv.Iterator.
func (i *Iterator) Valid() bool { return i.valid }

// Key implements kv.Iterator.
func (i *Iterator) Key() []byte { return i.page.Cells[i.at].Key }

// Value implements kv.Iterator.
func (i *Iterator) Value() ([]byte, error) { return i.page.Cells[i.at].Value, nil }

// Err implements kv.Iterator.
func (i *Iterator) Err() error { return i.err }

// Close implements kv.Iterator.
func (i *Iterator) Close() error {
	i.valid = false
	return nil
}
