package buffer

import (
	"github.com/minidb/minidb/kv"
	"github.com/tidwall/btree"
)

// Cursor walks the writes of a span as they were when it was opened.
type Cursor struct {
	it      btree.IterG[Write]
	span    kv.Span
	reverse bool
	ok      bool
}

// Cursor returns nil when the span has no write now: as reads see the writes, or, with current, as
// they are. The tree is copied on write, so later writes do not disturb the cursor.
func (b *Buffer) Cursor(span kv.Span, reverse, current bool) *Cursor {
	tree := b.tree
	if b.frozen && !current {
		tree = b.past
	}
	if tree == nil || tree.Len() == 0 {
		return nil
	}
	c := &Cursor{span: span, reverse: reverse}
	probe := tree.Iter()
	if !c.first(&probe) {
		return nil
	}
	c.it = tree.Copy().Iter()
	c.ok = c.first(&c.it)
	return c
}

func (c *Cursor) first(it *btree.IterG[Write]) bool {
	var ok bool
	switch {
	case !c.reverse:
		ok = it.Seek(Write{Key: c.span.Start})
	case c.span.End == nil:
		ok = it.Last()
	case it.Seek(Write{Key: c.span.End}):
		ok = it.Prev()
	default:
		ok = it.Last()
	}
	return ok && c.span.Contains(it.Item().Key)
}

// Valid reports whether the cursor is at a write.
func (c *Cursor) Valid() bool { return c.ok }

// Item returns the write. Requires: Valid.
func (c *Cursor) Item() Write { return c.it.Item() }

// Next moves to the next write.
func (c *Cursor) Next() {
	if c.reverse {
		c.ok = c.it.Prev()
	} else {
		c.ok = c.it.Next()
	}
	c.ok = c.ok && c.span.Contains(c.it.Item().Key)
}
