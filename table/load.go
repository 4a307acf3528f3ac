package table

import (
	"context"
	"errors"

	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Load brings in the rows of a relation of which no other transaction knows where they lie, with
// all their index entries, as sorted files (txn.Load). Nothing else may read or write the relation
// until Finish.
type Load struct {
	d    *Desc
	load *txn.Load
	rows uint32
}

// TakenError is 23505 for a row whose key an earlier one has.
type TakenError struct {
	Err error
	Row uint32 // the number of the row, from 0
}

func (e *TakenError) Error() string { return e.Err.Error() }

func (e *TakenError) Unwrap() error { return e.Err }

// NewLoad begins to load a relation. It returns nil where writing row by row is what is left: the
// relation is not new or has rows, keys that are checked against those, or observers; or the engine
// cannot.
func NewLoad(ctx context.Context, tx *txn.Txn, d *Desc) (*Load, error) {
	if !tx.HasMade() || d.ChecksLater() || len(d.Observers) > 0 || len(d.States()) > 0 {
		return nil, nil
	}
	if can, err := tx.Loads(ctx, d.Span()); err != nil || !can {
		return nil, err
	}
	load, err := tx.NewLoad(ctx, d.Span())
	if err != nil {
		return nil, err
	}
	return &Load{d: d, load: load}, nil
}

// Load is Insert into a relation that is being loaded. A key that another row has is
// *TakenError, now or by Finish. Requires: fewer than 2³² rows.
func (w *Writer) Load(ctx context.Context, tx *txn.Txn, l *Load, row []types.Datum) error {
	if err := w.begin(ctx, tx); err != nil {
		return err
	}
	l.load.SetRow(l.rows)
	l.rows++
	var err error
	encoded := w.Encode(ctx, row, func(_ int, key, value []byte) {
		if err == nil {
			err = l.load.Add(ctx, key, value)
		}
	})
	if encoded != nil {
		return encoded
	}
	return l.taken(err)
}

// Finish writes what was loaded. A key that two rows have is *TakenError.
func (l *Load) Finish(ctx context.Context) error { return l.taken(l.load.Finish(ctx)) }

// Abandon forgets what is not written yet. It may follow Finish.
func (l *Load) Abandon() {
	if l != nil {
		l.load.Abandon()
	}
}

// taken makes 23505 of the error for a key that came twice.
func (l *Load) taken(err error) error {
	var twice *txn.DuplicateKeyError
	if !errors.As(err, &twice) {
		return err
	}
	if k, ok := DecodeKey(twice.Key); ok {
		if taken := TakenKey(l.d, k); taken != nil {
			return &TakenError{Err: taken, Row: twice.Row}
		}
	}
	return err
}
