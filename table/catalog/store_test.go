package catalog

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

type fixture struct {
	t      testing.TB
	ctx    context.Context
	engine kv.Engine
	store  *txn.Store
	cat    *Catalog
}

// still is a clock that does not move. Tests that count what an engine is asked for run on it: by
// the machine's clock the oracle would extend its range in between.
func still() int64 { return 1000 }

func newFixture(t testing.TB, engine kv.Engine, opts txn.Options) *fixture {
	t.Helper()
	f := &fixture{t: t, ctx: context.Background(), engine: engine}
	var err error
	f.store, err = txn.Open(f.ctx, kvtest.NewPoison(engine), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.store.Close()) })
	f.cat, err = Open(f.ctx, f.store)
	require.NoError(t, err)
	return f
}

func memory(t testing.TB) *fixture {
	return newFixture(t, memkv.New(memkv.Options{}), txn.Options{})
}

func (f *fixture) begin() *txn.Txn {
	f.t.Helper()
	tx, err := f.store.Begin(f.ctx, txn.BeginOptions{})
	require.NoError(f.t, err)
	return tx
}

func (f *fixture) must(fn func(tx *txn.Txn, v *View) error) {
	f.t.Helper()
	tx := f.begin()
	require.NoError(f.t, fn(tx, f.cat.View(tx)))
	require.NoError(f.t, tx.Commit(f.ctx))
}

// retry runs fn in transactions until one commits; it stops at errors that are no conflicts.
func (f *fixture) retry(fn func(tx *txn.Txn, v *View) error) error {
	for {
		tx, err := f.store.Begin(f.ctx, txn.BeginOptions{})
		if err != nil {
			return err
		}
		if err = fn(tx, f.cat.View(tx)); err == nil {
			err = tx.Commit(f.ctx)
		} else {
			err = errors.Join(err, tx.Rollback(f.ctx))
		}
		if !isConflict(err) {
			return err
		}
	}
}

func (f *fixture) check() {
	f.t.Helper()
	var problems []string
	require.NoError(f.t, Check(f.ctx, f.store,
		func(p Problem) { problems = append(problems, p.String()) }))
	require.Empty(f.t, problems)
}

// simple is a table (id int primary key, v text).
func (f *fixture) simple(name string) *table.Desc {
	f.t.Helper()
	id, err := f.cat.NewID(f.ctx)
	require.NoError(f.t, err)
	oid, err := f.cat.NewID(f.ctx)
	require.NoError(f.t, err)
	return &table.Desc{
		ID: id, DatabaseID: PostgresID, SchemaID: PublicID, Schema: "public", Name: name,
		Kind:         table.KindTable,
		NextColumnID: 3, NextIndexID: 2,
		Columns: []table.Column{
			{ID: 1, Name: "id", Type: types.TInt4, NotNull: true},
			{ID: 2, Name: "v", Type: types.TText},
		},
		RowKey: []table.IndexColumn{{ColumnID: 1}},
		Indexes: []table.Index{{ID: table.RowIndexID, OID: oid, Name: name + "_pkey", Unique: true,
			Primary:    true,
			Constraint: true, Columns: []table.IndexColumn{{ColumnID: 1}}}},
	}
}

func (f *fixture) sequence(name string, s table.Sequence) *table.Desc {
	f.t.Helper()
	id, err := f.cat.NewID(f.ctx)
	require.NoError(f.t, err)
	s.Last = s.Start
	d := &table.Desc{ID: id, DatabaseID: PostgresID, SchemaID: PublicID, Schema: "public",
		Name: name,
		Kind: table.KindSequence, Sequence: &s}
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, d) })
	return d
}

func (f *fixture) keys() int {
	f.t.Helper()
	tx := f.begin()
	defer func() { require.NoError(f.t, tx.Rollback(f.ctx)) }()
	n := 0
	require.NoError(f.t, scan(f.ctx, tx, nil, func([]byte, []byte) error { n++; return nil }))
	return n
}

// collect makes two passes of the collector: the first deletes what was dropped, the second finds
// nothing.
func (f *fixture) collect() {
	f.t.Helper()
	for range 2 {
		_, err := f.store.CollectGarbage(f.ctx)
		require.NoError(f.t, err)
	}
}
