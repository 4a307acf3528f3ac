package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// isLoad reports whether a key that no table of the check's own time explains came in a load
// (txn: I29): one that is under way, was taken back, or was committed since. Rows that are loaded
// are there before the table or the index that leads to them is.
func (ch *checker) isLoad(ctx context.Context, key []byte) (load bool, err error) {
	tx, err := ch.v.c.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, tx.Rollback(ctx)) }()
	loading, err := tx.Loading(ctx)
	if err != nil || slices.ContainsFunc(loading, func(s kv.Span) bool { return s.Contains(key) }) {
		return err == nil, err
	}
	value, err := tx.Get(ctx, key)
	if err != nil || value == nil {
		return err == nil, err
	}
	now := &checker{tx: tx, v: ch.v.c.View(tx), report: func(Problem) {},
		names: map[table.ID]string{}, descs: map[table.ID]*table.Desc{}}
	if err := now.catalog(ctx); err != nil {
		return false, err
	}
	k, _ := table.DecodeKey(key)
	d := now.byStorage()[k.Storage]
	return d != nil && (k.Index == table.RowIndexID || d.Index(k.Index) != nil), nil
}

// byStorage returns the relations that have rows by where they lie.
func (ch *checker) byStorage() map[table.StorageID]*table.Desc {
	by := map[table.StorageID]*table.Desc{}
	for _, d := range ch.order {
		if d.HasRows() {
			by[d.Storage()] = d
		}
		for _, s := range d.States() {
			by[s.Storage()] = s
		}
	}
	return by
}
