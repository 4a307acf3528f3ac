package catalog

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

func TestANewStoreHasDatabasePostgresWithSchemaPublic(t *testing.T) {
	f := memory(t)
	f.must(func(_ *txn.Txn, v *View) error {
		db, ok, err := v.Database(f.ctx, "postgres")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, PostgresID, db.ID)
		sc, ok, err := v.Schema(f.ctx, db.ID, "public")
		require.True(t, ok)
		require.Equal(t, PublicID, sc.ID)
		return err
	})
	// Opening it again changes nothing.
	n := f.keys()
	_, err := Open(f.ctx, f.store)
	require.NoError(t, err)
	require.Equal(t, n, f.keys())
	f.check()
}

func TestARolledBackTableLeavesNothing(t *testing.T) {
	f := memory(t)
	d := f.simple("t")
	n := f.keys()
	tx := f.begin()
	v := f.cat.View(tx)
	require.NoError(t, v.CreateRelation(f.ctx, d))
	got, err := v.Relation(f.ctx, PostgresID, "public", "t")
	require.NoError(t, err)
	require.Equal(t, "t", got.Name)
	w := table.NewWriter(got, f.cat)
	require.NoError(t, w.Insert(f.ctx, tx, []types.Datum{types.NewInt(1), types.Null}))
	require.NoError(t, tx.Rollback(f.ctx))
	require.Equal(t, n, f.keys())
	f.must(func(_ *txn.Txn, v *View) error {
		d, err := v.Relation(f.ctx, PostgresID, "public", "t")
		require.Nil(t, d)
		return err
	})
}

func TestASavepointTakesTheSchemaBack(t *testing.T) {
	f := memory(t)
	a, b := f.simple("a"), f.simple("b")
	tx := f.begin()
	v := f.cat.View(tx)
	names := func() (out []string) {
		rels, err := v.Relations(f.ctx, PostgresID)
		require.NoError(t, err)
		for _, d := range rels {
			out = append(out, d.Name)
		}
		return out
	}
	require.Empty(t, names())
	start := tx.Savepoint()
	require.NoError(t, v.CreateRelation(f.ctx, a))
	sp := tx.Savepoint()
	require.NoError(t, v.CreateRelation(f.ctx, b))
	renamed := a.Clone()
	renamed.Name = "c"
	require.NoError(t, v.UpdateRelation(f.ctx, a, renamed))
	require.Equal(t, []string{"b", "c"}, names())
	tx.RollbackTo(sp)
	require.Equal(t, []string{"a"}, names())
	d, err := v.Relation(f.ctx, PostgresID, "public", "a")
	require.NoError(t, err)
	require.Equal(t, "a", d.Name)
	tx.RollbackTo(start)
	require.Empty(t, names())
	_, own, err := v.Version(f.ctx)
	require.NoError(t, err)
	require.False(t, own)
	require.NoError(t, tx.Rollback(f.ctx))
}

func TestNamesOfRelationsAndIndexesAreOneSpace(t *testing.T) {
	f := memory(t)
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, f.simple("t")) })
	tx := f.begin()
	err := f.cat.View(tx).CreateRelation(f.ctx, f.simple("t_pkey"))
	var se *sqlerr.Error
	require.ErrorAs(t, err, &se)
	require.Equal(t, sqlerr.DuplicateTable, se.Code)
	require.Equal(t, `relation "t_pkey" already exists`, se.Message)
	require.NoError(t, tx.Rollback(f.ctx))
}

func TestUnchangedSchemaIsSharedBetweenTransactions(t *testing.T) {
	f := memory(t)
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, f.simple("t")) })
	read := func() (d *table.Desc) {
		f.must(func(_ *txn.Txn, v *View) (err error) {
			d, err = v.Relation(f.ctx, PostgresID, "public", "t")
			return err
		})
		return d
	}
	first := read()
	require.Same(t, first, read())
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, f.simple("other")) })
	require.Same(t, first, read(), "another table's change leaves the decoded descriptor alone")
	old := f.begin() // begins before the change, and must not see it
	f.must(func(_ *txn.Txn, v *View) error {
		next := first.Clone()
		next.Comment = "changed"
		return v.UpdateRelation(f.ctx, first, next)
	})
	require.Equal(t, "changed", read().Comment)
	d, err := f.cat.View(old).Relation(f.ctx, PostgresID, "public", "t")
	require.NoError(t, err)
	require.Empty(t, d.Comment)
	require.NoError(t, old.Rollback(f.ctx))
}

func TestDroppingATableRemovesItsKeys(t *testing.T) {
	f := memory(t)
	f.must(func(tx *txn.Txn, v *View) error { // one range of object IDs is drawn before counting
		_, err := v.NewID(f.ctx)
		return err
	})
	n := f.keys()
	d := f.simple("t")
	f.must(func(tx *txn.Txn, v *View) error {
		if err := v.CreateRelation(f.ctx, d); err != nil {
			return err
		}
		w := table.NewWriter(d, f.cat)
		for i := range 5000 {
			if err := w.Insert(f.ctx, tx,
				[]types.Datum{types.NewInt(int64(i)), types.NewString("x")}); err != nil {
				return err
			}
		}
		return nil
	})
	f.must(func(_ *txn.Txn, v *View) error {
		d, err := v.Relation(f.ctx, PostgresID, "public", "t")
		if err != nil {
			return err
		}
		return v.DropRelation(f.ctx, d)
	})
	f.check()
	f.collect()
	// A commit keeps the next reader from a view that another has left, which still shows what is
	// gone.
	f.must(func(tx *txn.Txn, v *View) error { return v.touch() })
	require.Equal(t, n, f.keys())
	f.check()
}

// commitBeside commits a row of a table that is changed while the row is written.
func (f *fixture) commitBeside(change func(v *View, d, next *table.Desc) error) error {
	d := f.simple("t")
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, d) })
	tx := f.begin()
	old, err := f.cat.View(tx).Relation(f.ctx, PostgresID, "public", "t")
	require.NoError(f.t, err)
	require.NoError(f.t, table.NewWriter(old, f.cat).Insert(f.ctx, tx,
		[]types.Datum{types.NewInt(1), types.Null}))
	f.must(func(_ *txn.Txn, v *View) error { return change(v, d, d.Clone()) })
	err = tx.Commit(f.ctx)
	f.check()
	return err
}

func TestAWriterWithAnOldDescriptorFails(t *testing.T) {
	f := memory(t)
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, f.commitBeside(func(v *View, d, next *table.Desc) error {
		next.Columns[1].NotNull = true
		return v.UpdateRelation(f.ctx, d, next)
	}), &conflict)
}

// A writer goes on beside a change that it need not know: here a comment.
func TestAWriterGoesOnBesideARelabelledTable(t *testing.T) {
	f := memory(t)
	require.NoError(t, f.commitBeside(func(v *View, d, next *table.Desc) error {
		next.Comment = "a table"
		return v.RelabelRelation(f.ctx, d, next)
	}))
}

func TestAnIndexBuiltWhileRowsAreWrittenMissesNone(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   txn.Options
		engine func() (kv.Engine, error)
	}{
		{"one-phase", txn.Options{},
			func() (kv.Engine, error) { return memkv.New(memkv.Options{}), nil }},
		{"two-phase", txn.Options{Protocol: txn.TwoPhase},
			func() (kv.Engine, error) { return memkv.New(memkv.Options{HashGroups: 3}), nil }},
		{"pebble", txn.Options{},
			func() (kv.Engine,
				error) {
				return pebblekv.Open("", pebblekv.Options{InMemory: true})
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			engine, err := c.engine()
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, engine.Close()) })
			f := newFixture(t, engine, c.opts)
			f.must(func(_ *txn.Txn,
				v *View) error {
				return v.CreateRelation(f.ctx, f.simple("t"))
			})
			// The writers are bounded: a build meets a conflict as long as rows are written.
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					for i := range 150 {
						assertNoError(t,
							f.retry(func(tx *txn.Txn,
								v *View) error {
								return f.randomWrite(tx, v, g*1_000_000+i)
							}))
						if i%50 == 25 {
							name := fmt.Sprintf("i%d_%d", g, i)
							assertNoError(t,
								f.retry(func(tx *txn.Txn,
									v *View) error {
									return f.addIndex(tx, v, name)
								}))
						}
					}
				})
			}
			wg.Wait()
			f.check()
		})
	}
}

func assertNoError(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

func (f *fixture) randomWrite(tx *txn.Txn, v *View, i int) error {
	d, err := v.Relation(f.ctx, PostgresID, "public", "t")
	if err != nil {
		return err
	}
	w := table.NewWriter(d, f.cat)
	row := []types.Datum{types.NewInt(int64(i)), types.NewString(fmt.Sprint(i % 7))}
	if err := w.Insert(f.ctx, tx, row); err != nil {
		return err
	}
	if i%3 != 0 {
		return nil
	}
	old := []types.Datum{types.NewInt(int64(i - 1)), types.Null}
	out := []int{0, 1}
	found, err := table.GetRow(f.ctx, tx, d, old[:1], out, old)
	if err != nil || !found {
		return err
	}
	if i%2 == 0 {
		return w.Delete(f.ctx, tx, old)
	}
	return w.Update(f.ctx, tx, old, []types.Datum{old[0], types.NewString("changed")})
}

func (f *fixture) addIndex(tx *txn.Txn, v *View, name string) error {
	ctx := f.ctx
	old, err := v.Relation(ctx, PostgresID, "public", "t")
	if err != nil {
		return err
	}
	d := old.Clone()
	oid, err := v.NewID(ctx)
	if err != nil {
		return err
	}
	d.Indexes = append(d.Indexes, table.Index{ID: d.NextIndexID, OID: oid, Name: name,
		Columns: []table.IndexColumn{{ColumnID: 2}}})
	d.NextIndexID++
	if err := v.UpdateRelation(ctx, old, d); err != nil {
		return err
	}
	return Backfill(ctx, tx, d, d.IndexByName(name), nil)
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	f := memory(t)
	d := f.simple("t")
	d.Indexes = append(d.Indexes, table.Index{ID: 2, OID: 99999, Name: "t_v_idx",
		Columns: []table.IndexColumn{{ColumnID: 2}}})
	d.NextIndexID = 3
	f.must(func(tx *txn.Txn, v *View) error {
		if err := v.CreateRelation(f.ctx, d); err != nil {
			return err
		}
		w := table.NewWriter(d, f.cat)
		for i := range 3 {
			if err := w.Insert(f.ctx, tx,
				[]types.Datum{types.NewInt(int64(i)), types.NewString("x")}); err != nil {
				return err
			}
		}
		return nil
	})
	f.check()
	b, err := table.NewEntryBuilder(d, d.Index(2))
	require.NoError(t, err)
	entry := func(id int64, v string) table.Entry {
		es, err := b.Entries(f.ctx, []types.Datum{types.NewInt(id), types.NewString(v)})
		require.NoError(t, err)
		e := es[0]
		e.Key, e.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
		return e
	}
	f.must(func(tx *txn.Txn, _ *View) error {
		require.NoError(t, tx.Delete(entry(0, "x").Key))
		require.NoError(t, tx.Set(entry(1, "y").Key, nil))
		require.NoError(t, tx.Set(entry(7, "x").Key, nil))
		return tx.Set(append(table.StorageSpan(4711).Start, 1, 2), nil)
	})
	var found []string
	require.NoError(t, Check(f.ctx, f.store,
		func(p Problem) { p.Key = nil; found = append(found, p.String()) }))
	require.Equal(t, []string{
		"postgres.public.t: index t_v_idx: row (0, x) has no entry",
		"postgres.public.t: index t_v_idx: entry without row",
		"postgres.public.t: index t_v_idx: entry does not belong to its row (1, x)",
		"rows under storage ID 4711, which belongs to no table",
	}, found)
}

// TestCheckSettlesTheLocksOfTheDead: a transaction that was killed may leave locks on keys that a
// check has no reason to read, and locks that stop no reader.
func TestCheckSettlesTheLocksOfTheDead(t *testing.T) {
	engine := memkv.New(memkv.Options{})
	var clock atomic.Int64
	clock.Store(1_000_000)
	ctx := context.Background()
	opts := txn.Options{StreamBytes: 1, Clock: clock.Load}
	store, err := txn.Open(ctx, engine, opts)
	require.NoError(t, err)
	tx, err := store.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, tx.Set([]byte{table.PrefixStats, 1}, []byte("v")))
	sp := tx.Savepoint()
	require.NoError(t, tx.Set([]byte{table.PrefixSequence, 1}, []byte("v")))
	tx.RollbackTo(sp)
	// the one before is undone with it
	require.NoError(t, tx.Set([]byte{table.PrefixSequence, 2}, []byte("v")))
	require.NoError(t, store.Close()) // the process is gone
	require.NoError(t, tx.Rollback(ctx))

	clock.Add(3_600_000)
	store, err = txn.Open(ctx, engine, txn.Options{Clock: clock.Load})
	require.NoError(t, err)
	cat, err := Open(ctx, store)
	require.NoError(t, err)
	f := &fixture{t: t, ctx: ctx, engine: engine, store: store, cat: cat}
	f.check()
	snap, err := engine.Snapshot()
	require.NoError(t, err)
	require.NoError(t, mvcc.Locks(ctx, snap, kv.Span{}, func(key []byte, _ mvcc.Lock) error {
		t.Errorf("%x is locked", key)
		return nil
	}))
	require.NoError(t, snap.Close())
	require.NoError(t, store.Close())
}
