package gc

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
)

// rowsPerUpdate and recordsPerUpdate bound one update of a pass, and so how long it holds latches.
// An engine's own limits may be lower.
const (
	rowsPerUpdate    = 128
	recordsPerUpdate = 4096
	// recordWrites is how many writes it takes to drop a record: of itself and of its data.
	recordWrites = 2
)

// stepRows bounds the rows that a pass in one go reads in one snapshot.
const stepRows = 50_000

// A piece of the store is dense with dropped versions when at least denseRecords were dropped
// there, and denseShare times as many as are left. Readers then step over more marks of dropped
// versions than rows, until the engine rewrites what it keeps of the piece. So the engine is asked
// to do that (kv.RangeCompacter).
const (
	denseRecords = 4096
	denseShare   = 4
)

// collector drops versions in one piece of a pass.
type collector struct {
	p       *Pass
	e       kv.Engine
	limits  kv.Limits
	rows    [][]byte // to be collected in one update
	records int      // of them
	group   uint64
	dropped int
	found   int // records of all rows that had more than one put
	many    int // of such rows
}

// collect looks at up to limit rows of what is left of the pass.
func (p *Pass) collect(ctx context.Context, e kv.Engine, limit int) (err error) {
	rows := p.rest[0]
	snap, err := kv.Latest(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	c := &collector{p: p, e: e, limits: kv.LimitsOf(e)}
	walked, err := mvcc.Versions(ctx, snap, rows, limit,
		func(row []byte, records int) error { return c.add(ctx, row, records) })
	if err == nil {
		err = c.flush(ctx)
	}
	if err != nil {
		return err
	}
	p.Stats.Passed += walked.Rows
	p.progress()
	piece := kv.Span{Start: rows.Start, End: walked.Next}
	if walked.Next == nil {
		piece.End = rows.End
		p.rest = p.rest[1:]
	} else {
		p.rest[0].Start = walked.Next
	}
	kept := walked.Rows - c.many + c.found - c.dropped
	return p.compact(ctx, e, piece, c.dropped >= denseRecords && c.dropped >= denseShare*kept)
}

// compact gathers neighbouring pieces that are dense. It has the engine rewrite them together as
// soon as a piece is not dense, or does not follow the last one, or is the last of the pass.
func (p *Pass) compact(ctx context.Context, e kv.Engine, piece kv.Span, dense bool) error {
	switch {
	case !dense:
		if err := p.rewriteDense(ctx, e); err != nil {
			return err
		}
	case p.dense != nil && p.dense.End != nil && bytes.Equal(p.dense.End, piece.Start):
		p.dense.End = piece.End
	default:
		if err := p.rewriteDense(ctx, e); err != nil {
			return err
		}
		p.dense = &piece
	}
	if len(p.rest) == 0 {
		return p.rewriteDense(ctx, e)
	}
	return nil
}

func (p *Pass) rewriteDense(ctx context.Context, e kv.Engine) error {
	if p.dense == nil {
		return nil
	}
	rows := *p.dense
	p.dense = nil
	for _, raw := range mvcc.WriteSpans(rows) {
		if err := kv.CompactRange(ctx, e, raw); err != nil {
			return err
		}
	}
	return nil
}

// add notes a row to be collected. One with more records than go into an update is collected in
// parts.
func (c *collector) add(ctx context.Context, row []byte, records int) error {
	c.many++
	c.found += records
	c.p.Stats.Records += records
	g := kv.GroupOf(c.e, row)
	most := c.mostRecords(row)
	if len(c.rows) == rowsPerUpdate || g != c.group || c.records+records > most {
		if err := c.flush(ctx); err != nil {
			return err
		}
	}
	if records > most {
		return c.hot(ctx, bytes.Clone(row), most)
	}
	c.group = g
	c.records += records
	c.rows = append(c.rows, bytes.Clone(row))
	return nil
}

// mostRecords returns how many records of a row one update may drop.
func (c *collector) mostRecords(row []byte) int {
	writes := c.limits.Writes(mvcc.CellKeyBytes(row))
	if writes == 0 {
		return recordsPerUpdate
	}
	// The last part of a row drops one record more than it was asked to.
	return max(1, min(recordsPerUpdate, writes/recordWrites-1))
}

// flush collects the rows that were gathered.
func (c *collector) flush(ctx context.Context) error {
	if len(c.rows) == 0 {
		return nil
	}
	// Lazy: a crash that takes it back brings old versions back, which the next pass drops.
	err := kv.InParts(c.limits, c.rows, func(part [][]byte) error {
		dropped := 0
		err := kv.UpdateLazy(ctx, c.e, part, func(r kv.Reader, b *kv.Batch) (err error) {
			dropped, err = mvcc.Collect(ctx, r, b, c.p.Stats.Safepoint, part)
			return err
		})
		if err == nil {
			c.count(len(part), dropped)
		}
		return err
	})
	c.p.progress()
	c.rows, c.records = c.rows[:0], 0
	return err
}

// hot collects a row of many records, in updates of so many at most.
func (c *collector) hot(ctx context.Context, row []byte, most int) error {
	c.count(1, 0)
	for part := (mvcc.Part{}); !part.Done; {
		next, dropped := part, 0
		err := kv.UpdateLazy(ctx, c.e, [][]byte{row}, func(r kv.Reader, b *kv.Batch) (err error) {
			next, dropped, err = mvcc.CollectPart(ctx, r, b, c.p.Stats.Safepoint, row, part, most)
			return err
		})
		if err != nil {
			return err
		}
		part = next
		c.count(0, dropped)
	}
	return nil
}

func (c *collector) count(rows, dropped int) {
	c.p.Stats.Rows += rows
	c.p.Stats.Versions += dropped
	c.dropped += dropped
}
