package tikvkv

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"github.com/minidb/minidb/kv"
)

// A page of an iterator grows with each one that it reads.
const (
	firstPage = 16
	lastPage  = 1024
)

// iterator walks a span page by page.
type iterator struct {
	r      *reader
	ctx    context.Context
	span   kv.Span
	prefix []byte      // set by SeekPrefixGE
	failed func(error) // is called with each failure; may be nil

	page   []cell
	lo, hi []byte // page is all that there is from lo to below hi; a nil hi is the end of all keys
	loaded bool
	size   int // of the last page
	at     int
	valid  bool
	err    error
}

func (i *iterator) fail(err error) bool {
	i.err, i.valid, i.loaded = err, false, false
	if i.failed != nil {
		i.failed(err)
	}
	return false
}

func (i *iterator) grow() int {
	i.size = min(max(4*i.size, firstPage), lastPage)
	return i.size
}

// end is where the iterator does not go forward from.
func (i *iterator) end() []byte {
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
func (i *iterator) land(n int) bool {
	i.at = n
	i.valid = n >= 0 && n < len(i.page) && i.span.Contains(i.page[n].key) &&
		(i.prefix == nil || bytes.HasPrefix(i.page[n].key, i.prefix))
	return i.valid
}

// known returns the place in the page of the first cell at or above a key. It reports whether the
// page reaches from the key to that cell, or to the end.
func (i *iterator) known(key, end []byte) (n int, ok bool) {
	if !i.loaded || bytes.Compare(key, i.lo) < 0 ||
		i.hi != nil && bytes.Compare(key, i.hi) >= 0 {
		return 0, false
	}
	n = sort.Search(len(i.page), func(k int) bool {
		return bytes.Compare(i.page[k].key, key) >= 0
	})
	return n, n < len(i.page) || i.hi == nil || end != nil && bytes.Compare(i.hi, end) >= 0
}

// forward moves to the first cell at or above a key.
func (i *iterator) forward(key []byte) bool {
	if i.err = i.r.usable(); i.err != nil {
		return i.fail(i.err)
	}
	if bytes.Compare(key, i.span.Start) < 0 {
		key = i.span.Start
	}
	end := i.end()
	if end != nil && bytes.Compare(key, end) >= 0 {
		return i.land(-1)
	}
	if n, ok := i.known(key, end); ok {
		return i.land(n)
	}
	size := i.grow()
	cells, err := i.r.scan(i.ctx, key, end, size, false)
	if err != nil {
		return i.fail(err)
	}
	i.page, i.lo, i.hi, i.loaded = cells, bytes.Clone(key), end, true
	if len(cells) == size {
		i.hi = kv.Successor(cells[size-1].key)
	}
	return i.land(0)
}

// backward moves to the last cell below a key; nil is the end of all keys.
func (i *iterator) backward(key []byte) bool {
	if i.err = i.r.usable(); i.err != nil {
		return i.fail(i.err)
	}
	if i.span.End != nil && (key == nil || bytes.Compare(key, i.span.End) > 0) {
		key = i.span.End
	}
	if key != nil && bytes.Compare(key, i.span.Start) <= 0 {
		return i.land(-1)
	}
	size := i.grow()
	cells, err := i.r.scan(i.ctx, i.span.Start, key, size, true)
	if err != nil {
		return i.fail(err)
	}
	i.lo = i.span.Start
	if len(cells) == size {
		i.lo = cells[size-1].key
	}
	slices.Reverse(cells)
	i.page, i.hi, i.loaded = cells, bytes.Clone(key), true
	return i.land(len(cells) - 1)
}

func (i *iterator) SeekGE(key []byte) bool {
	i.prefix = nil
	return i.forward(key)
}

func (i *iterator) SeekPrefixGE(key []byte) bool {
	i.prefix = bytes.Clone(kv.Prefix(key))
	return i.forward(key)
}

func (i *iterator) SeekLT(key []byte) bool {
	i.prefix = nil
	return i.backward(key)
}

func (i *iterator) First() bool {
	i.prefix = nil
	return i.forward(i.span.Start)
}

func (i *iterator) Last() bool {
	i.prefix = nil
	return i.backward(nil)
}

func (i *iterator) Next() bool {
	if !i.valid {
		return false
	}
	if i.at+1 < len(i.page) {
		return i.land(i.at + 1)
	}
	return i.forward(kv.Successor(i.page[i.at].key))
}

func (i *iterator) Prev() bool {
	if !i.valid {
		return false
	}
	if i.at > 0 {
		return i.land(i.at - 1)
	}
	return i.backward(i.page[0].key)
}

func (i *iterator) NextPrefix() bool {
	if !i.valid {
		return false
	}
	prefix := kv.Prefix(i.page[i.at].key)
	for n := i.at + 1; n < len(i.page); n++ {
		if !bytes.Equal(kv.Prefix(i.page[n].key), prefix) {
			return i.land(n)
		}
	}
	next := kv.Successor(i.page[len(i.page)-1].key)
	if end := kv.PrefixEnd(prefix); bytes.HasSuffix(prefix, []byte{0, 1}) {
		next = end
	}
	if next == nil {
		return i.land(-1)
	}
	return i.forward(next)
}

func (i *iterator) Valid() bool { return i.valid }

func (i *iterator) Key() []byte { return i.page[i.at].key }

func (i *iterator) Value() ([]byte, error) { return i.page[i.at].value, nil }

func (i *iterator) Err() error { return i.err }

func (i *iterator) Close() error {
	i.valid = false
	return nil
}
