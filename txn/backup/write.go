package backup

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/pages"
)

// nextFile writes the next file, or goes on to the next phase if there is nothing for one.
func (b *backing) nextFile(ctx context.Context) error {
	before := b.p
	walk, ok := b.walk()
	if !ok {
		b.p.Phase, b.p.Span, b.p.Next = b.p.Phase+1, 0, nil
		return b.save(ctx)
	}
	first, err := b.page(ctx, walk)
	if err != nil {
		return err
	}
	if len(first.Cells) == 0 {
		b.moveOn(first)
		return b.save(ctx)
	}
	name := fmt.Sprintf("%08d-%s.cells", len(b.m.Files)+1, b.run)
	f, err := b.putFile(ctx, name, func(w *cellWriter) error {
		for p := first; ; {
			if err := w.add(p); err != nil {
				return err
			}
			if p.Next == nil || w.file.Bytes >= b.o.FileBytes {
				b.moveOn(p)
				return nil
			}
			b.p.Next = p.Next
			if p, err = b.page(ctx, walk); err != nil {
				return err
			}
		}
	})
	if err != nil {
		b.p = before
		return err
	}
	b.m.Files = append(b.m.Files, f)
	return b.save(ctx)
}

// walk returns what is walked over now; ok is false at the end of a phase.
func (b *backing) walk() (w *pages.Walk, ok bool) {
	w = &pages.Walk{At: b.m.At}
	switch b.p.Phase {
	case Versions:
		w.Since = b.m.Since
	case Spans:
		if b.p.Span >= len(b.m.Replaced) {
			return nil, false
		}
		w.Span = b.m.Replaced[b.p.Span]
	case Notifications:
		w.Notes = true
	}
	return w, true
}

// moveOn moves the position behind a page.
func (b *backing) moveOn(p *pages.Page) {
	b.p.Next = p.Next
	switch {
	case p.Next != nil:
	case b.p.Phase == Spans:
		b.p.Span++
	default:
		b.p.Phase++
	}
}

// page reads the page at the position.
func (b *backing) page(ctx context.Context, walk *pages.Walk) (*pages.Page, error) {
	if err := held(b.hold.Renew(ctx)); err != nil {
		return nil, err
	}
	p, err := walk.Read(ctx, b.source, b.p.Next, b.o.PageBytes, b.noteLoad)
	if err != nil {
		return nil, err
	}
	b.cells, b.bytes = b.cells+int64(len(p.Cells)), b.bytes+int64(p.Bytes)
	if b.o.Progress != nil {
		b.o.Progress(Progress{Phase: b.p.Phase, Cells: b.cells, Bytes: b.bytes})
	}
	for left := p.Bytes; b.limiter != nil && left > 0; {
		n := min(left, b.limiter.Burst())
		if err := b.limiter.WaitN(ctx, n); err != nil {
			return nil, err
		}
		left -= n
	}
	return p, nil
}

// noteLoad notes the span of an entry of the list of loads that was written above Since.
func (b *backing) noteLoad(cells mvcc.RawCells) error {
	key, _, ok := mvcc.KeyOf(cells.Key)
	if !ok || b.m.Full() || b.p.Phase != Versions || !txn.IsLoaded(key) {
		return nil
	}
	c, err := mvcc.Decode(cells.Key, cells.Value)
	if err != nil || c.Write.Kind != mvcc.KindPut {
		return err
	}
	value := cells.Data
	if c.Write.HasShort {
		value = c.Write.Short
	}
	span, err := txn.DecodeLoaded(key, value)
	if err != nil {
		return err
	}
	same := func(s kv.Span) bool { return bytes.Equal(s.Start, span.Start) }
	if !slices.ContainsFunc(b.m.Replaced, same) {
		b.m.Replaced = append(b.m.Replaced, span)
	}
	return nil
}
