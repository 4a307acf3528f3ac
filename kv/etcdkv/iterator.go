package etcdkv

import (
	"bytes"
	"context"
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

// forward moves to the first cell at or above a key.
func (i *iterator) forward(key []byte) bool {
	if bytes.Compare(key, i.span.Start) < 0 {
		key = i.span.Start
	}
	i.err = nil
	for {
		if i.covers(key) {
			n := sort.Search(len(i.page), func(k int) bool {
				return bytes.Compare(i.page[k].key, key) >= 0
			})
			end := i.end()
			if n < len(i.page) || i.hi == nil || end != nil && bytes.Compare(i.hi, end) >= 0 {
				return i.land(n)
			}
			key = i.hi
		}
		if end := i.end(); end != nil && bytes.Compare(key, end) >= 0 {
			return i.land(-1)
		}
		if !i.load(key) {
			return false
		}
	}
}

func (i *iterator) covers(key []byte) bool {
	return i.loaded && bytes.Compare(key, i.lo) >= 0 &&
		(i.hi == nil || bytes.Compare(key, i.hi) < 0)
}

// load reads the page that begins at a key.
func (i *iterator) load(key []byte) bool {
	first := i.size == 0 && i.prefix == nil
	size, end := i.grow(), i.end()
	var p *page
	if first {
		p = i.r.foreseen(key)
	}
	if p == nil {
		var err error
		if p, err = i.r.walk(i.ctx, key, end, size, first); err != nil {
			return i.fail(err)
		}
	}
	i.page, i.lo, i.hi, i.loaded = p.cells, p.lo, p.hi, true
	return true
}

// backward moves to the last cell below a key; nil is the end of all keys.
func (i *iterator) backward(key []byte) bool {
	if i.span.End != nil && (key == nil || bytes.Compare(key, i.span.End) > 0) {
		key = i.span.End
	}
	i.err = nil
	if key != nil && bytes.Compare(key, i.span.Start) <= 0 {
		return i.land(-1)
	}
	page, lo, err := i.r.lastBelow(i.ctx, i.span.Start, key, i.grow())
	if err != nil {
		return i.fail(err)
	}
	i.page, i.lo, i.hi, i.loaded = page, lo, bytes.Clone(key), true
	return i.land(len(page) - 1)
}

func (i *iterator) SeekGE(key []byte) bool {
	i.prefix = nil
	return i.forward(key)
}

func (i *iterator) SeekPrefixGE(key []byte) bool {
	i.prefix = bytes.Clone(kv.Prefix(key))
	b, err := i.r.look(i.ctx, key)
	if err != nil {
		return i.fail(err)
	}
	if b != nil && !i.covers(key) {
		i.page, i.lo, i.hi, i.loaded = b.cells, i.prefix, b.end, true
	}
	return i.forward(key)
}

func (i *iterator) SeekLT(key []byte) bool {
	i.prefix = nil
	return i.backward(key)
}

func (i *iterator) First() bool {
	if i.onePrefix() {
		return i.SeekPrefixGE(i.span.Start)
	}
	i.prefix = nil
	return i.forward(i.span.Start)
}

// onePrefix reports whether the span is within a single prefix.
func (i *iterator) onePrefix() bool {
	end := kv.PrefixEnd(kv.Prefix(i.span.Start))
	return len(i.span.Start) > 1 && end != nil && i.span.End != nil &&
		bytes.Compare(i.span.End, end) <= 0
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
