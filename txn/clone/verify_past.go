package clone

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// side is one of two walks that are compared.
type side struct {
	snap kv.Snapshot
	past *mvcc.Past
	more bool
}

func (s *side) open(ctx context.Context, e kv.Engine, p Phase, c *copying) (err error) {
	if s.snap, err = kv.Latest(e); err != nil {
		return err
	}
	s.past, err = c.walkOf(p).Past(ctx, s.snap, nil)
	if err == nil {
		s.next()
	}
	return err
}

func (s *side) next() { s.more = s.past.Next() }

func (s *side) close() (err error) {
	if s.past != nil {
		err = errors.Join(s.past.Err(), s.past.Close())
	}
	if s.snap != nil {
		err = errors.Join(err, s.snap.Close())
	}
	return err
}

// comparePast compares what a phase has copied, cell by cell: byte for byte what the source has.
// The source may have less than was copied of the history below its safepoint, which is collected
// all the while. It may have more announcements of observers (mvcc.Announce): they are written
// late, and the observer's position in the copy has them announced again.
func (c *copying) comparePast(ctx context.Context, p Phase, found *differences) (err error) {
	var from, to side
	defer func() { err = errors.Join(err, from.close(), to.close()) }()
	if err := from.open(ctx, c.source, p, c); err != nil {
		return err
	}
	if err := to.open(ctx, c.o.Target, p, c); err != nil {
		return err
	}
	d := &cellDifferences{found: found, phase: p}
	n := 0
	for (from.more || to.more) && errors.Join(from.past.Err(), to.past.Err()) == nil {
		if n++; n%comparedKeys == 0 {
			if err := c.held(c.hold.Renew(ctx)); err != nil {
				return err
			}
		}
		a, b := from.past.Cells(), to.past.Cells()
		switch order := orderOf(&from, &to); {
		case order < 0:
			if !a.Announcement() {
				d.note(a.Key, &d.lacking)
			}
			from.next()
		case order > 0:
			if err := c.noteSurplus(ctx, b, d); err != nil {
				return err
			}
			to.next()
		default:
			if !bytes.Equal(a.Value, b.Value) || !bytes.Equal(a.DataKey, b.DataKey) ||
				!bytes.Equal(a.Data, b.Data) {
				d.note(a.Key, &d.other)
			} else if err := d.flush(); err != nil {
				return err
			}
			from.next()
			to.next()
		}
	}
	d.runs = 0
	return d.flush()
}

// orderOf compares where two walks are; one that is at its end is above.
func orderOf(a, b *side) int {
	switch {
	case !a.more:
		return 1
	case !b.more:
		return -1
	}
	return bytes.Compare(a.past.Cells().Key, b.past.Cells().Key)
}

// noteSurplus notes cells of the target that the source has not, unless the source has collected
// them.
func (c *copying) noteSurplus(ctx context.Context, cells mvcc.RawCells, d *cellDifferences) error {
	key, commitTS, ok := mvcc.KeyOf(cells.Key)
	if d.phase == Versions && ok {
		if commitTS > d.safepoint {
			var err error
			if d.safepoint, err = c.sourceSafepoint(ctx); err != nil {
				return err
			}
		}
		if commitTS <= d.safepoint {
			return nil
		}
		dropped, err := c.tx.Dropped(ctx)
		if err != nil {
			return err
		}
		for _, s := range dropped {
			if s.Contains(key) {
				return nil
			}
		}
	}
	d.note(cells.Key, &d.surplus)
	return nil
}

// cellDifferences makes one difference of each run of cells that differ.
type cellDifferences struct {
	found                   *differences
	phase                   Phase
	safepoint               tso.Timestamp
	first, last             []byte // raw keys
	lacking, other, surplus int
	runs                    int // that were named
}

// namedRuns bounds how many runs of cells that differ are named on their own.
const namedRuns = 20

func (d *cellDifferences) note(raw []byte, n *int) {
	if *n++; d.first == nil {
		d.first = bytes.Clone(raw)
	}
	d.last = append(d.last[:0], raw...)
}

// flush ends a run: a cell is the same on both sides, or there is no further one.
func (d *cellDifferences) flush() error {
	if d.first == nil || d.runs == namedRuns {
		return nil
	}
	first, err := mvcc.UserKey(kv.Row(d.first), nil)
	if err != nil {
		return err
	}
	last, err := mvcc.UserKey(kv.Row(d.last), nil)
	if err != nil {
		return err
	}
	d.found.add(first, last, fmt.Sprintf("of the %s the copy lacks %d cells, has %d with other "+
		"bytes, and %d that the source has not", d.phase, d.lacking, d.other, d.surplus))
	*d = cellDifferences{found: d.found, phase: d.phase, safepoint: d.safepoint, runs: d.runs + 1}
	return nil
}
