package pebblekv

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/minidb/minidb/kv"
)

// tableMerge shows the newest entry of each key in any number of table files, whose levels are not
// known. Entries are ordered by their sequence numbers. Pebble sets those to zero at the last
// level, where nothing older can lie below; of two entries with the same number the one in the
// younger file counts.
type tableMerge struct {
	waiting []*tablePart // whose keys are all behind those that were shown, by their first
	open    partHeap
	deletes []deletedSpan // in the order of their starts
	active  []deletedSpan // those that may hold the key at hand

	// unsure is called with a key that has two values of which the order is not certain: the one
	// with a sequence number was taken, and the one without lies in a younger file.
	unsure func(key []byte)
}

// tablePart is a part of a table file that can be read.
type tablePart struct {
	files  *tableFiles
	name   string
	number uint64 // of the file: younger ones have higher numbers
	span   kv.Span

	r  *tableReader
	it *tableIter
}

// deletedSpan is a range tombstone.
type deletedSpan struct {
	span kv.Span
	seq  pebble.SeqNum
}

// run calls put with each key that has a value, in order. Key and value are valid during the call.
func (m *tableMerge) run(ctx context.Context, put func(key, value []byte) error) (err error) {
	byStart := func(a, b *tablePart) int { return bytes.Compare(a.span.Start, b.span.Start) }
	slices.SortFunc(m.waiting, byStart)
	slices.SortFunc(m.deletes,
		func(a, b deletedSpan) int { return bytes.Compare(a.span.Start, b.span.Start) })
	defer func() {
		for _, p := range m.open {
			err = errors.Join(err, p.close())
		}
	}()
	var key, value []byte
	for n := 0; ; n++ {
		if n%entriesPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := m.reach(ctx); err != nil || len(m.open) == 0 {
			return err
		}
		top := m.open[0]
		entry := top.it.entry()
		key = append(key[:0], entry.UserKey...)
		found := isSet(entry.Kind()) && !m.deleted(key, entry.SeqNum())
		if found {
			v, err := top.it.value()
			if err != nil {
				return err
			}
			value = append(value[:0], v...)
		}
		if err := m.pass(key, value, found, entry.SeqNum(), top.number); err != nil {
			return err
		}
		if found {
			if err := put(key, value); err != nil {
				return err
			}
		}
	}
}

func isSet(kind pebble.InternalKeyKind) bool {
	return kind == pebble.InternalKeyKindSet || kind == pebble.InternalKeyKindSetWithDelete
}

// reach opens the parts that may begin at or before the next key.
func (m *tableMerge) reach(ctx context.Context) error {
	for len(m.waiting) > 0 {
		p := m.waiting[0]
		if len(m.open) > 0 && bytes.Compare(p.span.Start, m.open[0].it.entry().UserKey) > 0 {
			return nil
		}
		m.waiting = m.waiting[1:]
		ok, err := p.start(ctx)
		if err != nil {
			return errors.Join(err, p.close())
		}
		if ok, err = m.kept(p, ok); err != nil {
			return err
		}
		if ok {
			heap.Push(&m.open, p)
		}
	}
	return nil
}

// pass moves every part behind a key, whose newest entry is given.
func (m *tableMerge) pass(key, value []byte, found bool, seq pebble.SeqNum, number uint64) error {
	for first := true; len(m.open) > 0; first = false {
		p := m.open[0]
		entry := p.it.entry()
		if !bytes.Equal(entry.UserKey, key) {
			return nil
		}
		if !first && found && seq != 0 && entry.SeqNum() == 0 && p.number > number &&
			isSet(entry.Kind()) {
			if other, err := p.it.value(); err != nil || !bytes.Equal(other, value) {
				m.unsure(key)
			}
		}
		ok, err := m.kept(p, p.it.next())
		if err != nil {
			return err
		}
		if ok {
			heap.Fix(&m.open, 0)
		} else {
			heap.Pop(&m.open)
		}
	}
	return nil
}

// kept reports whether a part is on an entry of its span, and closes it when it does not.
func (m *tableMerge) kept(p *tablePart, ok bool) (bool, error) {
	if ok && p.span.Contains(p.it.entry().UserKey) {
		return true, nil
	}
	err := error(nil)
	if !ok {
		err = p.it.err()
	}
	// behind the span there may be damage, which was found before
	if errors.Is(err, kv.ErrCorruption) {
		err = nil
	}
	return false, errors.Join(err, p.close())
}

// deleted reports whether a range tombstone hides an entry. Requires: keys come in order.
func (m *tableMerge) deleted(key []byte, seq pebble.SeqNum) bool {
	for len(m.deletes) > 0 && bytes.Compare(m.deletes[0].span.Start, key) <= 0 {
		m.active, m.deletes = append(m.active, m.deletes[0]), m.deletes[1:]
	}
	m.active = slices.DeleteFunc(m.active,
		func(d deletedSpan) bool { return bytes.Compare(d.span.End, key) <= 0 })
	return slices.ContainsFunc(m.active, func(d deletedSpan) bool { return d.seq > seq })
}

// start opens the file and moves to the first entry of the part.
func (p *tablePart) start(ctx context.Context) (ok bool, err error) {
	if p.r, err = p.files.open(ctx, p.name); err != nil {
		return false, err
	}
	if p.it, err = p.r.iter(ctx); err != nil {
		return false, err
	}
	return p.it.seekGE(p.span.Start), nil
}

func (p *tablePart) close() (err error) {
	if p.it != nil {
		if err = p.it.close(); errors.Is(err, kv.ErrCorruption) {
			err = nil
		}
	}
	if p.r != nil {
		err = errors.Join(err, p.r.close())
	}
	p.it, p.r = nil, nil
	return err
}

// partHeap has the part with the lowest key first, and of one key the one with the newest entry.
type partHeap []*tablePart

func (h partHeap) Len() int      { return len(h) }
func (h partHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h partHeap) Less(i, j int) bool {
	a, b := h[i].it.entry(), h[j].it.entry()
	if c := bytes.Compare(a.UserKey, b.UserKey); c != 0 {
		return c < 0
	}
	if c := cmp.Compare(a.SeqNum(), b.SeqNum()); c != 0 {
		return c > 0
	}
	return h[i].number > h[j].number
}

func (h *partHeap) Push(x any) { *h = append(*h, x.(*tablePart)) }

func (h *partHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	*h = (*h)[:last]
	return p
}
