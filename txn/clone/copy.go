package clone

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
)

// copy copies what is not copied yet.
func (c *copying) copy(ctx context.Context) error {
	if c.done.phase == 0 {
		c.done.phase = Versions
	}
	for c.done.phase < Verification {
		total := int64(0)
		span := c.spanOf(c.done.phase)
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

// spanOf returns where the source has what a phase copies, data aside.
func (c *copying) spanOf(p Phase) kv.Span {
	if p == Versions {
		return mvcc.VersionSpan()
	}
	return mvcc.NotifySpan(kv.Span{})
}

// walk begins a walk over what a phase copies, from a raw key on.
func walk(ctx context.Context, r kv.Reader, p Phase, from []byte, c *copying) (*mvcc.Past, error) {
	if p == Versions {
		return mvcc.NewPast(ctx, r, from, c.at)
	}
	return mvcc.NewPastNotes(ctx, r, from, c.at)
}

// copyPage copies the page at the position, and moves that on.
func (c *copying) copyPage(ctx context.Context) (err error) {
	p, err := c.readPage(ctx)
	if err != nil {
		return err
	}
	next := c.done
	next.cells += int64(len(p.cells))
	next.bytes += int64(p.bytes)
	if next.next = p.next; p.next == nil {
		next.phase++
	}
	if err := c.to.write(ctx, p, positionKey(c.pages+1), next.encode()); err != nil {
		return err
	}
	c.done, c.pages = next, c.pages+1
	return nil
}

// page is some raw cells that are written together: those of a row one after the other.
type page struct {
	cells []pair
	bytes int
	next  []byte // the raw key to go on from; nil at the end of the phase
}

type pair struct{ key, value []byte }

// add adds a copy of a cell.
func (p *page) add(key, value []byte) {
	both := make([]byte, 0, len(key)+len(value))
	both = append(append(both, key...), value...)
	p.cells = append(p.cells, pair{both[:len(key):len(key)], both[len(key):]})
	p.bytes += len(both)
}

// readPage reads the page at the position out of the source.
func (c *copying) readPage(ctx context.Context) (p *page, err error) {
	snap, err := kv.Latest(c.source)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	from := c.done.next
	if len(from) == 0 {
		from = nil
	}
	past, err := walk(ctx, snap, c.done.phase, from, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, past.Close()) }()
	p = &page{}
	for past.Next() {
		cells := past.Cells()
		if p.bytes >= c.o.PageBytes {
			p.next = bytes.Clone(cells.Key)
			return p, nil
		}
		if err := c.to.takes(cells); err != nil {
			return nil, err
		}
		if cells.DataKey != nil {
			p.add(cells.DataKey, cells.Data)
		}
		p.add(cells.Key, cells.Value)
	}
	return p, past.Err()
}
