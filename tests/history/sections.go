package history

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// sectionsOfCache is the size of a cache of a few pairs, each of which counts as ten bytes.
const sectionsOfCache = 40

// scanSections reads a span by its sections, of which some are in memory; found is false where
// there are none, or the transaction has to read by itself.
func (c *client) scanSections(ctx context.Context, span kv.Span) (got []Pair, found bool,
	err error) {
	sections, err := c.tx.Sections(ctx, span)
	if err != nil || len(sections) == 0 {
		return nil, false, err
	}
	for i := range sections {
		pairs, kept := sections[i].Kept().([]Pair)
		if !kept {
			if pairs, found, err = c.readSection(ctx, &sections[i]); err != nil || !found {
				return nil, false, err
			}
		}
		got = append(got, pairs...)
	}
	return got, true, nil
}

// readSection reads a section, and keeps what it finds there.
func (c *client) readSection(ctx context.Context, s *txn.Section) (pairs []Pair, found bool,
	err error) {
	readers, err := c.tx.SpanReaders(ctx, s.Span, false, 1)
	if err != nil || len(readers) == 0 {
		return nil, false, err
	}
	pairs = []Pair{}
	err = readers[0].Each(ctx, s.Span, func(key, value []byte) error {
		pairs = append(pairs, Pair{string(key), string(value)})
		return nil
	})
	if err = errors.Join(err, txn.CloseReaders(readers)); err != nil {
		return nil, false, err
	}
	if s.Keeps() {
		s.Keep(slices.Clip(pairs), int64(10*len(pairs)), false)
	}
	return pairs, true, nil
}

// cutSections makes sections of a span that was read.
func (c *client) cutSections(span kv.Span, got []Pair) {
	if c.tx.SectionRows() == 0 || !bytes.HasSuffix(span.Start, []byte("/")) { // only a part
		return
	}
	var at [][]byte
	for i := c.tx.SectionRows(); i < len(got); i += c.tx.SectionRows() {
		at = append(at, []byte(got[i].Key))
	}
	if len(at) > 0 {
		c.tx.CutSpan(span, at)
	}
}
