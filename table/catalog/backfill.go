package catalog

import (
	"cmp"
	"context"
	"errors"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Backfill writes the entries of a new index of d for all rows that tx sees. It makes the
// transaction fail when another writes rows meanwhile: together with the change of the descriptor
// (catalog I4) no row can lack its entry. seen, if not nil, is called now and then with the number
// of rows that have been read.
func Backfill(ctx context.Context, tx *txn.Txn, d *table.Desc, ix *table.Index,
	seen func(rows int64)) error {
	tx.Validate(d.IndexSpan(table.RowIndexID))
	b, err := table.NewEntryBuilder(d, ix)
	if err != nil {
		return err
	}
	load, err := tx.NewLoad(ctx, d.IndexSpan(ix.ID))
	if err != nil {
		return err
	}
	defer load.Abandon()
	if !ix.Unique { // each entry has its row's key
		load.KeysDiffer()
	}
	rows := int64(0)
	err = Rows(ctx, tx, d, func(row []types.Datum) error {
		if rows++; seen != nil && rows%rowsPerCheck == 0 {
			seen(rows)
		}
		entries, err := b.Entries(ctx, row)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := load.Add(ctx, e.Key, e.Value); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = load.Finish(ctx)
	}
	var twice *txn.DuplicateKeyError
	if errors.As(err, &twice) {
		return sharedEntry(ctx, tx, d, ix, twice)
	}
	if err != nil || !ix.Exclusion() {
		return err
	}
	return VerifyExclusion(ctx, tx, d, ix)
}

// VerifyExclusion is 23P01 if two rows exclude each other, by the entries of an index that is new.
func VerifyExclusion(ctx context.Context, tx *txn.Txn, d *table.Desc, ix *table.Index) error {
	return table.Excluding(ctx, tx, d, ix, func(row, other []types.Datum) error {
		e := sqlerr.New(sqlerr.ExclusionViolation,
			"could not create exclusion constraint \"%s\"", ix.Name)
		e.Schema, e.Table, e.Constraint = d.Schema, d.Name, ix.Name
		return e.WithDetail("Key %s conflicts with key %s.", table.FormatKey(d, ix, other),
			table.FormatKey(d, ix, row))
	})
}

// sharedEntry is 23505 for an entry that two rows have.
func sharedEntry(ctx context.Context, tx *txn.Txn, d *table.Desc, ix *table.Index,
	twice *txn.DuplicateKeyError) error {
	key, err := table.RowKeyOf(d, ix, twice.Key, twice.Value)
	if err != nil {
		return err
	}
	value, err := tx.Get(ctx, key)
	if err != nil {
		return err
	}
	row, err := table.DecodeRow(d, key, value)
	if err != nil {
		return err
	}
	return notUnique(d, ix, row)
}

func notUnique(d *table.Desc, ix *table.Index, row []types.Datum) error {
	e := sqlerr.New(sqlerr.UniqueViolation, "could not create unique index \"%s\"", ix.Name)
	e.Schema, e.Table, e.Constraint = d.Schema, d.Name, ix.Name
	return e.WithDetail("Key %s is duplicated.", table.FormatKey(d, ix, row))
}

// Rows calls f with every row of d that tx sees, all columns in order. row is reused.
func Rows(ctx context.Context, tx *txn.Txn, d *table.Desc,
	f func(row []types.Datum) error) (err error) {
	spans, err := table.Spans(d, nil, nil, false)
	if err != nil {
		return err
	}
	out := make([]int, len(d.Columns))
	ts := make([]*types.Type, len(d.Columns))
	for i := range d.Columns {
		out[i], ts[i] = i, d.Columns[i].Type
	}
	s, err := table.OpenScan(ctx, tx, table.ScanSpec{Desc: d, Out: out, Spans: spans,
		Parallel: true})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	b := types.NewBatch(ts)
	row := make([]types.Datum, len(ts))
	for {
		more, err := s.Next(ctx, b)
		if err != nil || !more {
			return err
		}
		for i := range b.Len {
			for j, c := range b.Cols {
				row[j] = c.Get(i)
			}
			if err := f(row); err != nil {
				return err
			}
		}
	}
}
