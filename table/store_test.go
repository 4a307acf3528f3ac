package table_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// db is a store with its catalog.
type db struct {
	t     testing.TB
	store *txn.Store
	cat   *catalog.Catalog
}

func openDB(t testing.TB, engine kv.Engine, opts txn.Options) *db {
	t.Helper()
	ctx := context.Background()
	store, err := txn.Open(ctx, kvtest.NewPoison(engine), opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, store.Close())
		require.NoError(t, engine.Close())
	})
	cat, err := catalog.Open(ctx, store)
	require.NoError(t, err)
	return &db{t: t, store: store, cat: cat}
}

func memory(t testing.TB) *db { return openDB(t, memkv.New(memkv.Options{}), txn.Options{}) }

// variants runs f on each engine and each way of committing.
func variants(t *testing.T, f func(t *testing.T, d *db)) {
	t.Run("memkv", func(t *testing.T) { f(t, memory(t)) })
	t.Run("memkv two-phase", func(t *testing.T) {
		f(t, openDB(t, memkv.New(memkv.Options{}), txn.Options{Protocol: txn.TwoPhase}))
	})
	t.Run("pebblekv", func(t *testing.T) {
		engine, err := pebblekv.Open("", pebblekv.Options{InMemory: true})
		require.NoError(t, err)
		f(t, openDB(t, engine, txn.Options{}))
	})
}

// run runs f in a transaction and commits it.
func (d *db) run(f func(tx *txn.Txn) error) error {
	ctx := context.Background()
	tx, err := d.store.Begin(ctx, txn.BeginOptions{})
	require.NoError(d.t, err)
	if err := f(tx); err != nil {
		require.NoError(d.t, tx.Rollback(ctx))
		return err
	}
	return tx.Commit(ctx)
}

func (d *db) must(f func(tx *txn.Txn) error) {
	d.t.Helper()
	require.NoError(d.t, d.run(f))
}

// create stores a descriptor with IDs filled in.
func (d *db) create(desc *table.Desc) *table.Desc {
	d.t.Helper()
	ctx := context.Background()
	id, err := d.cat.NewID(ctx)
	require.NoError(d.t, err)
	desc.ID, desc.DatabaseID, desc.SchemaID, desc.Schema = id, catalog.PostgresID, catalog.PublicID,
		"public"
	for i := range desc.Indexes {
		desc.Indexes[i].OID, err = d.cat.NewID(ctx)
		require.NoError(d.t, err)
	}
	d.must(func(tx *txn.Txn) error { return d.cat.View(tx).CreateRelation(ctx, desc) })
	return d.relation(desc.Name)
}

func (d *db) relation(name string) *table.Desc {
	d.t.Helper()
	var out *table.Desc
	d.must(func(tx *txn.Txn) (err error) {
		out, err = d.cat.View(tx).Relation(context.Background(), catalog.PostgresID, "public", name)
		return err
	})
	require.NotNil(d.t, out)
	return out
}

// check fails the test unless the store is consistent.
func (d *db) check() {
	d.t.Helper()
	var problems []string
	require.NoError(d.t, catalog.Check(context.Background(), d.store, func(p catalog.Problem) {
		problems = append(problems, p.String())
	}))
	require.Empty(d.t, problems)
}

// scan reads the columns out of all rows in spans.
func (d *db) scan(tx *txn.Txn, spec table.ScanSpec) [][]types.Datum {
	d.t.Helper()
	ctx := context.Background()
	s, err := table.OpenScan(ctx, tx, spec)
	require.NoError(d.t, err)
	ts := make([]*types.Type, len(spec.Out))
	for i, o := range spec.Out {
		ts[i] = spec.Desc.Columns[o].Type
	}
	b := types.NewBatch(ts)
	var out [][]types.Datum
	for {
		more, err := s.Next(ctx, b)
		require.NoError(d.t, err)
		if !more {
			break
		}
		for i := range b.Len {
			row := make([]types.Datum, len(ts))
			for j, c := range b.Cols {
				row[j] = c.Get(i)
			}
			out = append(out, row)
		}
	}
	require.NoError(d.t, s.Close())
	return out
}
