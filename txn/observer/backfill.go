package observer

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// backfillRows is how many rows one step of a backfill announces.
const backfillRows = 500

// Backfill makes a transaction ask for a run on every row that is there. Requires: the transaction
// registers the observer, and excludes the writers of its rows that do not know of it, so that each
// row is written before it, or notifies. Where locks do not do that it validates the rows, and
// writes a key that the writers validate (txn.Txn.Validate).
func (o *Target) Backfill(t *txn.Txn) error {
	return t.Set(o.stateKey(stateBackfill, nil), o.Rows.Start)
}

// BackfillStep announces the next rows that the observer has not run on yet, and returns their
// keys. done reports whether there are no more, or a table-level change comes first. Where it is
// interrupted, it goes on later: some rows are announced twice then, and run on once more, if at
// all, before they are acknowledged.
func (o *Target) BackfillStep(ctx context.Context, s *txn.Store) (keys [][]byte, done bool,
	err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	from, err := t.Get(ctx, o.stateKey(stateBackfill, nil))
	if err != nil || len(from) == 0 {
		return nil, true, err
	}
	from = bytes.Clone(from) // the next call on t ends it
	if moved, err := occupied(ctx, t, o.stateSpan(stateWalk)); err != nil || moved {
		return nil, true, err
	}
	if !o.Rows.Contains(from) { // the rows have another place than they had for the caller
		return nil, false, nil
	}
	span := kv.Span{Start: from, End: o.Rows.End}
	keys, next, err := o.unseen(ctx, t, span)
	if err != nil {
		return nil, false, err
	}
	// Before the position moves: what a crash in between leaves is announced again.
	if err := s.Announce(ctx, keys, o.ID); err != nil {
		return nil, false, err
	}
	if err := t.Set(o.stateKey(stateBackfill, nil), next); err != nil {
		return nil, false, err
	}
	return keys, next == nil, t.Commit(ctx)
}

// owesBackfill reports whether a backfill is not at its end.
func (o *Target) owesBackfill(ctx context.Context, s *txn.Store) (owes bool, err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	position, err := t.Get(ctx, o.stateKey(stateBackfill, nil))
	return len(position) > 0, err
}

// unseen returns the first keys of a span that have no acknowledgement, and where to go on.
func (o *Target) unseen(ctx context.Context, t *txn.Txn, span kv.Span) (keys [][]byte, next []byte,
	err error) {
	it, err := t.Scan(ctx, span, txn.ScanOptions{})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	most := cmp.Or(o.backfillRows, backfillRows)
	for n := 0; it.Next(); n++ {
		if n == most {
			return keys, append([]byte{}, it.Key()...), nil
		}
		key := append([]byte{}, it.Key()...)
		at, err := o.acknowledged(ctx, t, key)
		if err != nil {
			return nil, nil, err
		}
		if at == 0 {
			keys = append(keys, key)
		}
	}
	return keys, nil, it.Err()
}
