package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
)

// observe adds an observer to a table.
func (f *fixture) observe(tableName string, o table.Observer) (d *table.Desc) {
	f.t.Helper()
	f.must(func(_ *txn.Txn, v *View) error {
		old, err := v.Relation(f.ctx, PostgresID, "public", tableName)
		require.NoError(f.t, err)
		d, err = v.CreateObserver(f.ctx, old, o)
		return err
	})
	return d
}

// observer finds an observer by name; nil when there is none.
func (f *fixture) observer(name string) (o *table.Observer) {
	f.t.Helper()
	f.must(func(_ *txn.Txn, v *View) error {
		found, ok, err := v.Observer(f.ctx, PostgresID, name)
		if ok {
			o = found.Observer
		}
		return err
	})
	return o
}

func stateKey(id table.ID, kind table.ObserverKind, row []byte) []byte {
	return append(append(table.ObserverSpan(id).Start, byte(kind)), row...)
}

// keep writes what an observer keeps of a row, and where its backfill is.
func (f *fixture) keep(d *table.Desc, o *table.Observer, row int64) {
	f.t.Helper()
	b, err := table.NewEntryBuilder(d, d.Index(table.RowIndexID))
	require.NoError(f.t, err)
	es, err := b.Entries(f.ctx, []types.Datum{types.NewInt(row), types.NewString("x")})
	require.NoError(f.t, err)
	e := es[0]
	f.must(func(tx *txn.Txn, v *View) error {
		for _, key := range [][]byte{stateKey(o.ID, table.ObserverAcknowledgement, e.Key),
			stateKey(o.ID, table.ObserverDeadLetter, e.Key),
			stateKey(o.ID, table.ObserverBackfill, nil)} {
			if err := tx.Set(key, []byte("state")); err != nil {
				return err
			}
		}
		return nil
	})
}

func sqlState(t *testing.T, err error) string {
	t.Helper()
	var e *sqlerr.Error
	require.ErrorAs(t, err, &e)
	return e.Code
}

func TestAnObserverIsFoundListedReplacedAndDropped(t *testing.T) {
	f := memory(t)
	f.withRows("t", 3)
	f.withRows("u", 0)
	require.Nil(t, f.observer("o"))
	d := f.observe("t", table.Observer{Name: "o", Version: 1, Columns: []table.ColumnID{2}})
	f.observe("u", table.Observer{Name: "a", Backfill: true})
	f.check()
	o := f.observer("o")
	require.Equal(t, d.ObserverByName("o"), o)
	require.Equal(t, []table.ColumnID{2}, o.Columns)
	require.Equal(t, d.Version, f.table("t").Version)

	f.must(func(_ *txn.Txn, v *View) error {
		all, err := v.Observers(f.ctx, PostgresID)
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, "a u", all[0].Observer.Name+" "+all[0].Table.Name)
		require.Equal(t, "o t", all[1].Observer.Name+" "+all[1].Table.Name)
		all, err = v.Observers(f.ctx, PostgresID+1)
		require.Empty(t, all)
		return err
	})
	f.must(func(_ *txn.Txn, v *View) error {
		next, err := v.ReplaceObserver(f.ctx, d, table.Observer{Name: "o", Version: 7,
			Backfill: true})
		require.NoError(t, err)
		require.Greater(t, next.Version, d.Version)
		_, err = v.ReplaceObserver(f.ctx, next, table.Observer{Name: "p"})
		require.Equal(t, sqlerr.UndefinedObject, sqlState(t, err))
		return nil
	})
	anew := f.observer("o")
	require.NotEqual(t, o.ID, anew.ID, "a backfill begins anew")
	require.Equal(t, &table.Observer{ID: anew.ID, Name: "o", Version: 7, Backfill: true}, anew)
	f.must(func(_ *txn.Txn, v *View) error {
		_, err := v.ReplaceObserver(f.ctx, f.table("t"), table.Observer{Name: "o", Version: 8})
		return err
	})
	require.Equal(t, &table.Observer{ID: anew.ID, Name: "o", Version: 8}, f.observer("o"))
	f.check()

	tx := f.begin()
	_, err := f.cat.View(tx).CreateObserver(f.ctx, f.table("u"), table.Observer{Name: "o"})
	require.Equal(t, sqlerr.DuplicateObject, sqlState(t, err))
	_, err = f.cat.View(tx).DropObserver(f.ctx, f.table("u"), "o")
	require.Equal(t, sqlerr.UndefinedObject, sqlState(t, err))
	require.NoError(t, tx.Rollback(f.ctx))

	f.must(func(_ *txn.Txn, v *View) error {
		_, err := v.DropObserver(f.ctx, f.table("t"), "o")
		return err
	})
	require.Nil(t, f.observer("o"))
	require.Empty(t, f.table("t").Observers)
	again := f.observe("t", table.Observer{Name: "o"})
	require.NotEqual(t, o.ID, again.ObserverByName("o").ID, "an ID is never used again")
	f.check()
}

// Of two transactions that create observers of one name, on whatever tables, one fails: the second
// one waits for the first, and looks behind it.
func TestTheNameOfAnObserverIsUnique(t *testing.T) {
	f := memory(t)
	f.withRows("t", 0)
	f.withRows("u", 0)
	first, second := f.begin(), f.begin()
	create := func(tx *txn.Txn, on string) error {
		v := f.cat.View(tx)
		d, err := v.Relation(f.ctx, PostgresID, "public", on)
		require.NoError(t, err)
		_, err = v.CreateObserver(f.ctx, d, table.Observer{Name: "o"})
		return err
	}
	require.NoError(t, create(first, "t"))
	require.NoError(t, first.Commit(f.ctx))
	require.True(t, isConflict(create(second, "u")))
	require.NoError(t, second.Rollback(f.ctx))
	f.check()
}

// changesOfObservers are those after which every commit must notify other observers.
var changesOfObservers = map[string]func(f *fixture, v *View, d *table.Desc) error{
	"create": func(f *fixture, v *View, d *table.Desc) error {
		_, err := v.CreateObserver(f.ctx, d, table.Observer{Name: "new"})
		return err
	},
	"replace": func(f *fixture, v *View, d *table.Desc) error {
		_, err := v.ReplaceObserver(f.ctx, d, table.Observer{Name: "o", Version: 1})
		return err
	},
	"drop": func(f *fixture, v *View, d *table.Desc) error {
		_, err := v.DropObserver(f.ctx, d, "o")
		return err
	},
	"drop table": func(f *fixture, v *View, d *table.Desc) error {
		return v.DropRelation(f.ctx, d)
	},
}

// A transaction that has written rows by the descriptor before would note nothing for the observer,
// so it does not commit, and neither does a run that has read the observer before.
func TestNoWriterAndNoRunSlipsThroughAChangeOfObservers(t *testing.T) {
	for name, change := range changesOfObservers {
		t.Run(name, func(t *testing.T) {
			f := memory(t)
			f.withRows("t", 1)
			f.observe("t", table.Observer{Name: "o", Columns: []table.ColumnID{2}})
			writer, run := f.begin(), f.begin()
			d, err := f.cat.View(writer).Relation(f.ctx, PostgresID, "public", "t")
			require.NoError(t, err)
			require.NoError(t, table.NewWriter(d, f.cat).Insert(f.ctx, writer,
				[]types.Datum{types.NewInt(9), types.NewString("x")}))
			rv := f.cat.View(run)
			o, ok, err := rv.Observer(f.ctx, PostgresID, "o")
			require.NoError(t, err)
			require.True(t, ok)
			rv.HoldObserver(o)
			key := stateKey(o.Observer.ID, table.ObserverBackfill, nil)
			require.NoError(t, run.Set(key, []byte("x")))

			f.must(func(_ *txn.Txn, v *View) error { return change(f, v, f.table("t")) })
			var conflict *txn.WriteConflictError
			require.ErrorAs(t, writer.Commit(f.ctx), &conflict)
			require.NoError(t, writer.Rollback(f.ctx))
			if name == "create" {
				require.NoError(t, run.Commit(f.ctx))
			} else {
				require.ErrorAs(t, run.Commit(f.ctx), &conflict)
				require.NoError(t, run.Rollback(f.ctx))
			}
			f.check()
		})
	}
}

// What an observer keeps goes with it in the background, and nothing else does.
func TestWhatAnObserverKeepsGoesWithIt(t *testing.T) {
	for _, name := range []string{"drop", "drop table"} {
		t.Run(name, func(t *testing.T) {
			f := memory(t)
			f.withRows("t", 2)
			f.observe("t", table.Observer{Name: "o"})
			d := f.observe("t", table.Observer{Name: "p"})
			f.withRows("u", 2)
			other := f.observe("u", table.Observer{Name: "q"})
			f.keep(d, d.ObserverByName("o"), 0)
			f.keep(d, d.ObserverByName("p"), 1)
			f.keep(other, &other.Observers[0], 1)
			f.check()
			f.must(func(_ *txn.Txn, v *View) error {
				return changesOfObservers[name](f, v, f.table("t"))
			})
			f.check() // what waits for the collector is no problem
			f.collect()
			// a new reader does not share a view that still shows what is gone
			f.must(func(_ *txn.Txn, v *View) error { return v.touch() })
			f.check()
			left := map[string]int{}
			tx := f.begin()
			require.NoError(t, scan(f.ctx, tx, []byte{table.PrefixObserver},
				func(key, _ []byte) error {
					id, _, _, ok := table.DecodeObserverKey(key)
					require.True(t, ok)
					switch id {
					case d.ObserverByName("o").ID:
						left["o"]++
					case d.ObserverByName("p").ID:
						left["p"]++
					case other.Observers[0].ID:
						left["q"]++
					}
					return nil
				}))
			require.NoError(t, tx.Rollback(f.ctx))
			want := map[string]int{"p": 3, "q": 3}
			if name == "drop table" {
				want = map[string]int{"q": 3}
			}
			require.Equal(t, want, left)
		})
	}
}

// A database that is dropped takes its observers along.
func TestDropDatabaseDropsObservers(t *testing.T) {
	f := memory(t)
	var db Database
	f.must(func(_ *txn.Txn, v *View) (err error) {
		db, err = v.CreateDatabase(f.ctx, Database{Name: "d"})
		return err
	})
	d := f.simple("t")
	d.DatabaseID = db.ID
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, d) })
	f.must(func(_ *txn.Txn, v *View) (err error) {
		d, err = v.CreateObserver(f.ctx, d, table.Observer{Name: "o"})
		return err
	})
	f.keep(d, &d.Observers[0], 1)
	f.must(func(_ *txn.Txn, v *View) error { return v.DropDatabase(f.ctx, db) })
	f.collect()
	f.check()
	f.must(func(_ *txn.Txn, v *View) error {
		all, err := v.Observers(f.ctx, db.ID)
		require.Empty(t, all)
		return err
	})
}

// TRUNCATE drops the rows as a whole, and the span stays until each observer has carried them away.
func TestADroppedPlaceStaysForItsObservers(t *testing.T) {
	f := memory(t)
	f.withRows("t", 3)
	f.observe("t", table.Observer{Name: "o"})
	f.observe("t", table.Observer{Name: "p"})
	old := f.observe("t", table.Observer{Name: "dropped"})
	f.must(func(_ *txn.Txn, v *View) error { return v.Truncate(f.ctx, old) })
	f.check()
	f.collect()
	require.Equal(t, 3, f.rowsIn(old))
	d := f.table("t")
	f.must(func(_ *txn.Txn, v *View) error {
		next, err := v.DropObserver(f.ctx, d, "dropped")
		d = next
		return err
	})
	for _, name := range []string{"o", "p"} {
		f.check()
		f.collect()
		require.Equal(t, 3, f.rowsIn(old), "until %s is done", name)
		target := d.Target(d.ObserverByName(name))
		places := f.notified(target.Spans()[0])
		require.Len(t, places, 1)
		gone, found, err := target.Carry(f.ctx, f.store, places[0])
		require.NoError(t, err)
		require.Equal(t, observer.Pending, found)
		require.Len(t, gone, 3)
		require.Len(t, f.notified(target.Rows), 3)
		_, found, err = target.Carry(f.ctx, f.store, places[0])
		require.NoError(t, err)
		require.Equal(t, observer.Nothing, found)
		require.Empty(t, f.notified(target.Spans()[0]))
		for _, key := range gone {
			f.acknowledge(&target, key)
		}
	}
	f.collect()
	require.Zero(t, f.rowsIn(old))
	f.check()
}

// rowsIn counts the rows that are in the place of a descriptor.
func (f *fixture) rowsIn(d *table.Desc) (n int) {
	tx := f.begin()
	n = f.count(tx, d)
	require.NoError(f.t, tx.Rollback(f.ctx))
	return n
}

// notified lists the keys of a span that have notifications.
func (f *fixture) notified(span kv.Span) (keys [][]byte) {
	require.NoError(f.t, f.store.Notifications(f.ctx, span,
		func(key []byte, n *txn.Notification) error {
			if len(keys) == 0 || !bytes.Equal(key, keys[len(keys)-1]) {
				keys = append(keys, bytes.Clone(key))
			}
			return nil
		}))
	return keys
}

// acknowledge is a run on a row that is gone.
func (f *fixture) acknowledge(o *observer.Target, key []byte) {
	f.t.Helper()
	var c observer.Change
	f.must(func(tx *txn.Txn, _ *View) error {
		found := observer.Nothing
		var err error
		c, found, err = o.Look(f.ctx, tx, key)
		require.NoError(f.t, err)
		require.Equal(f.t, observer.Pending, found)
		require.NotNil(f.t, c.Old)
		require.Nil(f.t, c.Value)
		return o.Acknowledge(tx, &c)
	})
	require.NoError(f.t, o.Clean(f.ctx, f.store, &c))
}

func TestCheckFindsKeysOfObserversThatAreNotInTheirPlace(t *testing.T) {
	f := memory(t)
	f.withRows("t", 1)
	d := f.observe("t", table.Observer{Name: "o"})
	id := d.Observers[0].ID
	row := append(d.IndexSpan(table.RowIndexID).Start, 2, 0x88)
	f.must(func(tx *txn.Txn, v *View) error {
		for _, key := range [][]byte{
			stateKey(id+1000, table.ObserverAcknowledgement, row),
			stateKey(id, table.ObserverDeadLetter, []byte("t")),
			stateKey(id, table.ObserverBackfill, []byte("t")), observerKey(PostgresID, "other"),
		} {
			value := observerEntry{table: d.ID, observer: id}.encode()
			require.NoError(t, tx.Set(key, value))
		}
		e := observerEntry{table: d.ID, observer: id, version: 5}
		return tx.Set(observerKey(PostgresID, "o"), e.encode())
	})
	var problems []string
	require.NoError(t, Check(f.ctx, f.store,
		func(p Problem) { p.Key = nil; problems = append(problems, p.String()) }))
	require.ElementsMatch(t, []string{
		`postgres.public.t: the name of observer "o" does not lead to it`,
		"name of an observer that no table has",
		fmt.Sprintf("acknowledgement of observer %d, which does not exist", id+1000),
		`postgres.public.t: dead letter of observer "o" for a key that is no row's`,
		"key of no observer",
	}, problems)
}

// Each notification, and what hangs together with it, is in its place, or is a problem.
func TestCheckFindsNotificationsThatAreNotInTheirPlace(t *testing.T) {
	f := memory(t)
	f.withRows("t", 2)
	f.withRows("u", 1)
	d := f.observe("t", table.Observer{Name: "o"})
	other := f.table("u").IndexSpan(table.RowIndexID).Start
	id := d.Observers[0].ID
	target := d.Target(&d.Observers[0])
	rows := d.IndexSpan(table.RowIndexID).Start
	row := func(n byte) []byte { return append(bytes.Clone(rows), 2, 0x88+n) }
	require.NoError(t, f.store.Announce(f.ctx, [][]byte{row(0)}, uint32(id)))
	f.must(func(tx *txn.Txn, _ *View) error { return target.NotifyWeakly(tx, row(7)) })
	f.check()

	require.NoError(t, f.store.Announce(f.ctx, [][]byte{row(0)}, 4711))
	require.NoError(t, f.store.Announce(f.ctx, [][]byte{append(other, 1)}, uint32(id)))
	unstamped := append(append([]byte{'n'}, mvcc.Row(row(1))...), 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 9)
	binary.BigEndian.PutUint32(unstamped[len(unstamped)-12:], uint32(id))
	require.NoError(t, f.store.Engine().Update(f.ctx, [][]byte{mvcc.Row(row(1))},
		func(_ kv.Reader, b *kv.Batch) error {
			b.Set(unstamped, append([]byte{1}, make([]byte, 11)...))
			return nil
		}))
	f.must(func(tx *txn.Txn, _ *View) error {
		return errors.Join(
			tx.Set(table.ObserverKey(id, table.ObserverAcknowledgement, row(8)), make([]byte, 8)),
			tx.Set(table.ObserverKey(id, table.ObserverAcknowledgement, row(9)), make([]byte, 8)),
			tx.Set(table.ObserverKey(id, table.ObserverGone, row(9)), make([]byte, 8)),
			tx.Set(table.ObserverKey(id, table.ObserverWeak, append([]byte{2, 0x88},
				make([]byte, 8)...)), []byte{1}))
	})
	var problems []string
	require.NoError(t, Check(f.ctx, f.store,
		func(p Problem) { problems = append(problems, p.What) }))
	require.Len(t, problems, 5, "%q", problems)
	for i, what := range []string{"for observer 4711 which does not exist",
		"is on a key that is not its", "has no stamp, and its transaction no lock",
		"acknowledgement of a row that is gone, and no mark leads to it",
		"weak notification that nothing delivers"} {
		require.Contains(t, problems[i], what)
	}
}

func TestKeysOfObserversHaveAText(t *testing.T) {
	f := memory(t)
	f.withRows("t", 1)
	d := f.observe("t", table.Observer{Name: "o", Version: 3})
	tx := f.begin()
	ds, err := NewDescriber(f.ctx, tx)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(f.ctx))
	id := d.Observers[0].ID
	row := append(d.IndexSpan(table.RowIndexID).Start, 2, 0x88)
	name := observerKey(PostgresID, "o")
	require.Equal(t, "/catalog/observer/5/o", ds.Key(name))
	require.Equal(t, "relation 16384, observer 16387, version 3",
		ds.Value(name, observerEntry{table: d.ID, observer: id, version: 3}.encode()))
	require.Equal(t, "/observer/16387 o/acknowledgement/table/16384 t/row/(0)",
		ds.Key(stateKey(id, table.ObserverAcknowledgement, row)))
	require.Equal(t, "/observer/16387 o/dead letter/table/16384 t/row/(0)",
		ds.Key(stateKey(id, table.ObserverDeadLetter, row)))
	require.Equal(t, "/observer/16387 o/backfill",
		ds.Key(stateKey(id, table.ObserverBackfill, nil)))
	require.Equal(t, "/observer/17/backfill", ds.Key(stateKey(17, table.ObserverBackfill, nil)))
}

// Salvage copies rows without what observers have seen of them.
func TestSalvageLeavesObserversOut(t *testing.T) {
	f := memory(t)
	f.withRows("t", 5)
	d := f.observe("t", table.Observer{Name: "o"})
	f.keep(d, &d.Observers[0], 1)
	to, err := txn.Open(f.ctx, memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, to.Close()) })
	var lost []string
	require.NoError(t, Salvage(f.ctx, f.store, to,
		SalvageOptions{Lost: func(p Problem) { lost = append(lost, p.String()) }}))
	require.Equal(t, []string{
		"postgres.public.t: observer o is left out: what it has seen is not copied"}, lost)
	out := &fixture{t: t, ctx: f.ctx, store: to}
	out.cat, err = Open(f.ctx, to)
	require.NoError(t, err)
	out.check()
	saved := out.table("t")
	require.Empty(t, saved.Observers)
	require.Nil(t, out.observer("o"))
	tx := out.begin()
	require.Equal(t, 5, out.count(tx, saved))
	require.NoError(t, tx.Rollback(f.ctx))
}

// TestAnObserverBesideACommitOfAnotherProcess: the writer has validated that there is no observer,
// and its locks are down, when the observer is created. A backfill would read past the locks, and
// the writer commit above that without a notification.
func TestAnObserverBesideACommitOfAnotherProcess(t *testing.T) {
	e := memkv.New(memkv.Options{Shared: true})
	oracle, err := tso.Open(t.Context(), e, mvcc.MetaKey("oracle"), tso.Options{})
	require.NoError(t, err)
	var between func()
	f := newFixture(t, e, txn.Options{Oracle: oracle, LockWait: time.Millisecond,
		CrashPoint: func(p txn.CrashPoint) bool {
			if run := between; run != nil && p == txn.AfterCommitTS {
				between = nil
				run()
			}
			return false
		}})
	d := f.simple("t")
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, d) })
	create := func() error {
		tx := f.begin()
		v := f.cat.View(tx)
		old, err := v.Relation(f.ctx, PostgresID, "public", "t")
		require.NoError(t, err)
		_, err = v.CreateObserver(f.ctx, old, table.Observer{Name: "o", Version: 1, Backfill: true})
		require.NoError(t, err)
		return tx.Commit(f.ctx)
	}
	writer := f.begin()
	writer.Validate(table.PointSpan(table.WritersKey(d.ID)))
	require.NoError(t, writer.Insert(append(d.IndexSpan(table.RowIndexID).Start, 1), []byte("row")))
	between = func() {
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, create(), &conflict)
	}
	require.NoError(t, writer.Commit(f.ctx))
	require.Nil(t, between, "it was created meanwhile")
	require.NoError(t, create())
}
