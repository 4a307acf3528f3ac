package catalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/mvcc"
)

// salvageProgress is how many rows of a table are copied between two calls of Progress.
const salvageProgress = 100_000

// tableCopy copies the rows of one table, with index entries made of them.
type tableCopy struct {
	s        *salvage
	name     string
	d        *table.Desc
	builders []*table.EntryBuilder // of the indexes beside the rows
	indexes  []*table.Index
	entries  [][]table.Entry // of the row at hand, by index
	rows     int64
}

func (s *salvage) table(ctx context.Context, t salvagedRelation) error {
	c := &tableCopy{s: s, name: t.name, d: t.desc}
	for i := range c.d.Indexes {
		ix := &c.d.Indexes[i]
		if ix.ID == table.RowIndexID {
			continue
		}
		b, err := table.NewEntryBuilder(c.d, ix)
		if err != nil {
			return err
		}
		c.builders, c.indexes = append(c.builders, b), append(c.indexes, ix)
	}
	c.entries = make([][]table.Entry, len(c.builders))
	lost, err := s.copy(ctx, c.d.IndexSpan(table.RowIndexID),
		func(key, value []byte) error { return c.row(ctx, key, value) })
	if err != nil {
		return err
	}
	if err := c.report(ctx, &lost); err != nil {
		return err
	}
	if s.opts.Progress != nil {
		s.opts.Progress(c.name, c.rows)
	}
	return s.out.flush(ctx)
}

// row copies a row, unless another one has its key in a unique index or excludes it.
func (c *tableCopy) row(ctx context.Context, key, value []byte) error {
	row, err := table.DecodeRow(c.d, key, value)
	if err != nil {
		c.lost(fmt.Sprintf("row %s cannot be decoded: %v", c.text(key), err))
		return nil
	}
	for i, b := range c.builders {
		if c.entries[i], err = b.Entries(ctx, row); err != nil {
			c.lost(fmt.Sprintf("row %s has no entry in index %s: %v", c.text(key),
				c.indexes[i].Name, err))
			return nil
		}
		why, err := c.refused(ctx, i)
		if err != nil {
			return err
		}
		if why != "" {
			c.lost(fmt.Sprintf("row %s was not copied: %s", table.FormatRow(c.d, row), why))
			return nil
		}
	}
	if err := c.s.out.set(ctx, key, value); err != nil {
		return err
	}
	for _, e := range slices.Concat(c.entries...) {
		if err := c.s.out.set(ctx, e.Key, e.Value); err != nil {
			return err
		}
	}
	c.counted(row)
	if c.rows++; c.rows%salvageProgress == 0 && c.s.opts.Progress != nil {
		c.s.opts.Progress(c.name, c.rows)
	}
	return c.s.out.step(ctx)
}

// refused returns why the entries of a row in index i cannot be beside those of the rows that were
// copied, or "".
func (c *tableCopy) refused(ctx context.Context, i int) (string, error) {
	ix, entries := c.indexes[i], c.entries[i]
	taken, err := c.taken(ctx, entries)
	if taken || err != nil {
		return "another one has its key in the unique index " + ix.Name, err
	}
	if !ix.Exclusion() || len(entries) == 0 {
		return "", nil
	}
	excluded, err := c.s.out.excluded(ctx, c.builders[i], entries[0])
	if excluded || err != nil {
		return "another one excludes it by the constraint " + ix.Name, err
	}
	return "", nil
}

// taken reports whether another row has the key of an entry that must be unique.
func (c *tableCopy) taken(ctx context.Context, entries []table.Entry) (bool, error) {
	for _, e := range entries {
		if !e.Unique {
			continue
		}
		if taken, err := c.s.out.has(ctx, e.Key); taken || err != nil {
			return taken, err
		}
	}
	return false, nil
}

func (c *tableCopy) lost(what string) { c.s.opts.Lost(Problem{Relation: c.name, What: what}) }

// text is the key of a row as a person would write it.
func (c *tableCopy) text(key []byte) string {
	if k, ok := table.DecodeKey(key); ok {
		return table.DescribeKey(c.d, k)
	}
	return fmt.Sprintf("%x", key)
}

// report reports what was not copied.
func (c *tableCopy) report(ctx context.Context, lost *lostKeys) error {
	for _, key := range lost.keys {
		c.lost(fmt.Sprintf("row %s cannot be read", c.text(key)))
	}
	for _, key := range lost.older {
		c.lost(fmt.Sprintf("the newest change of row %s is not known to be committed; the row is "+
			"as it was before", c.text(key)))
	}
	for _, raw := range lost.locks {
		start, _, _ := mvcc.KeyOf(bytes.TrimSuffix(raw.Start, []byte{0}))
		end, _, _ := mvcc.KeyOf(raw.End)
		c.lost("locks of " + c.rowsIn(kv.Span{Start: start, End: end}) +
			" cannot be read: what was committed and not settled is missing")
	}
	for _, span := range lost.spans {
		where := c.rowsIn(span)
		n, known, err := c.count(ctx, span)
		if err != nil {
			return err
		}
		if known != "" {
			where = fmt.Sprintf("%d %s (counted in index %s)", n, where, known)
		}
		c.lost(where + " cannot be read")
	}
	return nil
}

// rowsIn names the rows of a span, which begins behind one that could be read and ends with one, or
// begins and ends with the table.
func (c *tableCopy) rowsIn(span kv.Span) string {
	whole := c.d.IndexSpan(table.RowIndexID)
	where := "rows"
	if bytes.Compare(span.Start, whole.Start) > 0 {
		where += " behind " + c.text(bytes.TrimSuffix(span.Start, []byte{0}))
	}
	if span.End != nil && bytes.Compare(span.End, whole.End) < 0 {
		where += " up to " + c.text(span.End)
	}
	return where
}

// count counts the rows of a lost span by an index that can be read; known is its name, and empty
// when there is none.
func (c *tableCopy) count(ctx context.Context, rows kv.Span) (n int, known string, err error) {
	for _, ix := range c.indexes {
		n = 0
		spans, err := kv.ReadableBy(ctx, mvcc.Committed(c.s.snap, false), c.d.IndexSpan(ix.ID),
			func(key, value []byte) error {
				if rowKey, err := table.RowKeyOf(c.d, ix, key, value); err == nil &&
					rows.Contains(rowKey) {
					n++
				}
				return nil
			})
		if err != nil {
			return 0, "", err
		}
		if len(spans) == 0 && ix.WhereText == "" {
			return n, ix.Name, nil
		}
	}
	return 0, "", nil
}

// counters copies the positions of sequences and the row IDs of tables without a key.
func (s *salvage) counters(ctx context.Context) error {
	s.seen = map[table.ID]seenValues{}
	for _, prefix := range []byte{table.PrefixSequence, table.PrefixRowID} {
		lost, err := s.copy(ctx, table.PrefixSpan([]byte{prefix}), s.setOf(ctx, counterOf))
		if err != nil {
			return err
		}
		l := &s.counterLoss
		l.spans, l.keys = append(l.spans, lost.spans...), append(append(l.keys, lost.keys...),
			lost.older...)
		l.locks = append(l.locks, lost.locks...)
	}
	return nil
}

// seenValues are the lowest and the highest value that the rows have of a sequence.
type seenValues struct{ low, high int64 }

// counted notes how far the values of a row have come, for sequences and row IDs that may be lost.
func (c *tableCopy) counted(row []types.Datum) {
	if !c.s.counterLoss.any() {
		return
	}
	for i := range c.d.Columns {
		col := &c.d.Columns[i]
		id := col.SequenceID
		if col.Hidden {
			id = c.d.ID
		}
		if id == 0 || row[i].Null {
			continue
		}
		v := row[i].I
		seen, ok := c.s.seen[id]
		if !ok {
			seen = seenValues{v, v}
		}
		c.s.seen[id] = seenValues{min(seen.low, v), max(seen.high, v)}
	}
}

// lostCounters lets the sequences and row IDs whose positions are lost go on behind what the rows
// have.
func (s *salvage) lostCounters(ctx context.Context, relations []salvagedRelation) error {
	if !s.counterLoss.any() {
		return nil
	}
	if len(s.counterLoss.locks) > 0 {
		s.opts.Lost(Problem{What: "locks on positions of sequences cannot be read: a position " +
			"may be an older one"})
	}
	for _, t := range relations {
		var err error
		switch d := t.desc; {
		case d.Kind == table.KindSequence &&
			s.counterLoss.missing(sequenceKey(d.ID, d.Sequence.Epoch)):
			err = s.lostSequence(ctx, t)
		case d.HasRows() && s.counterLoss.missing(rowIDKey(d.ID)):
			if seen, ok := s.seen[d.ID]; ok {
				err = s.out.set(ctx, rowIDKey(d.ID),
					binary.BigEndian.AppendUint64(nil, uint64(seen.high+1)))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *salvage) lostSequence(ctx context.Context, t salvagedRelation) error {
	seen, ok := s.seen[t.desc.ID]
	seq := t.desc.Sequence
	last, which := seen.high, "highest"
	if seq.Increment < 0 {
		last, which = seen.low, "lowest"
	}
	if !ok || last < seq.Min || last > seq.Max {
		s.opts.Lost(Problem{Relation: t.name, What: "the position of the sequence cannot be " +
			"read: it begins anew"})
		return nil
	}
	s.opts.Lost(Problem{Relation: t.name,
		What: fmt.Sprintf("the position of the sequence cannot be read: it goes on behind %d, "+
			"the %s value in its column", last, which)})
	return s.out.set(ctx, sequenceKey(t.desc.ID, seq.Epoch),
		position{last: last, called: true}.encode())
}
