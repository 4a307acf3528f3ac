package txn

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
)

// ScanMany calls visit with each key of each of spans, and the index of its span, until visit
// returns an error. Spans come in the order given and may overlap. It shows what Scan of each would
// show. Key and value are valid during the call of visit, which may read but not write.
//
// Opening an iterator takes several times as long as a seek. Where nothing between the lowest and
// the highest key is locked or was written by the transaction, one scanner reads all spans.
func (t *Txn) ScanMany(ctx context.Context, spans []kv.Span,
	visit func(span int, key, value []byte) error) error {
	if len(spans) > 1 {
		if done, err := t.scanTogether(ctx, spans, visit); done || err != nil {
			return err
		}
	}
	for i, span := range spans {
		it, err := t.Scan(ctx, span, ScanOptions{})
		if err != nil {
			return err
		}
		for err == nil && it.Next() {
			err = visit(i, it.Key(), it.Value())
		}
		if err = errors.Join(err, it.Err(), it.Close()); err != nil {
			return err
		}
	}
	return nil
}

// scanTogether is ScanMany with one scanner. It has read nothing where that cannot be done.
func (t *Txn) scanTogether(ctx context.Context, spans []kv.Span,
	visit func(span int, key, value []byte) error) (done bool, err error) {
	it, err := t.Scan(ctx, hull(spans), ScanOptions{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	it.noted = true // span by span, below
	if it.own != nil || !it.noLocks {
		return false, nil
	}
	for i, span := range spans {
		if span.Empty() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		it.sc.Seek(span)
		for it.Next() {
			if err := visit(i, it.Key(), it.Value()); err != nil {
				return false, err
			}
		}
		if it.Err() != nil {
			return false, it.Err()
		}
		if it.t.node != nil || it.t.reads != nil {
			if err := it.t.noteSpan(span); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// hull returns the span from the lowest to the highest key of spans.
func hull(spans []kv.Span) kv.Span {
	all := spans[0]
	for _, s := range spans[1:] {
		if bytes.Compare(s.Start, all.Start) < 0 {
			all.Start = s.Start
		}
		if s.End == nil || all.End != nil && bytes.Compare(s.End, all.End) > 0 {
			all.End = s.End
		}
	}
	return all
}
