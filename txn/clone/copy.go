package clone

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/pages"
)

// copy copies what is not copied yet.
func (c *copying) copy(ctx context.Context) error {
	if c.done.phase == 0 {
		c.done.phase = Versions
	}
	for c.done.phase < Verification {
		total := int64(0)
		span := c.walkOf(c.done.phase).Raw()
		if c.o.Progress != nil {
			var err error
			if total, err = kv.SizeOf(ctx, c.source, span); err != nil {
				return err
			}
		}
		for phase := c.done.phase; c.done.phase == phase; {
			if err := c.held(c.hold.Renew(ctx)); err != nil {
				return err
			}
			if err := c.copyPage(ctx); err != nil {
				return err
			}
			next := c.done.next
			if c.done.phase != phase {
				next = nil
			}
			err := c.report(ctx, Progress{Phase: phase, Cells: c.done.cells, Bytes: c.done.bytes},
				span, next, total)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// walkOf returns what a phase walks over.
func (c *copying) walkOf(p Phase) *pages.Walk {
	return &pages.Walk{Notes: p == Notifications, At: c.at}
}

// copyPage copies the page at the position, and moves that on.
func (c *copying) copyPage(ctx context.Context) (err error) {
	walk := c.walkOf(c.done.phase)
	p, err := walk.Read(ctx, c.source, c.done.next, c.o.PageBytes, c.to.Takes)
	if err != nil {
		return err
	}
	next := c.done
	next.cells += int64(len(p.Cells))
	next.bytes += int64(p.Bytes)
	if next.next = p.Next; p.Next == nil {
		next.phase++
	}
	if err := c.to.Write(ctx, p, positionKey(c.pages+1), next.encode()); err != nil {
		return err
	}
	c.done, c.pages = next, c.pages+1
	return nil
}
