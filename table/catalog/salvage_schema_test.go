package catalog

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

// damagedEngine fails to read the raw keys that are bad.
type damagedEngine struct {
	kv.Engine
	bad func(raw []byte) bool
}

// Exclusive implements kv.Exclusive.
func (*damagedEngine) Exclusive() bool { return true }

type damagedSnapshot struct {
	kv.Snapshot
	bad func(raw []byte) bool
}

type damagedIterator struct {
	kv.Iterator
	bad func(raw []byte) bool
	err error
}

func (e *damagedEngine) Snapshot() (kv.Snapshot, error) {
	s, err := e.Engine.Snapshot()
	return &damagedSnapshot{s, e.bad}, err
}

func (s *damagedSnapshot) Get(ctx context.Context, key []byte) ([]byte, error) {
	if s.bad(key) {
		return nil, &kv.CorruptionError{File: "a file"}
	}
	return s.Snapshot.Get(ctx, key)
}

func (s *damagedSnapshot) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	it, err := s.Snapshot.NewIter(ctx, span)
	return &damagedIterator{Iterator: it, bad: s.bad}, err
}

func (i *damagedIterator) at(valid bool) bool {
	if i.err = nil; valid && i.bad(i.Key()) {
		i.err = &kv.CorruptionError{File: "a file"}
	}
	return valid && i.err == nil
}

func (i *damagedIterator) SeekGE(key []byte) bool { return i.at(i.Iterator.SeekGE(key)) }
func (i *damagedIterator) SeekPrefixGE(key []byte) bool {
	return i.at(i.Iterator.SeekPrefixGE(key))
}
func (i *damagedIterator) SeekLT(key []byte) bool { return i.at(i.Iterator.SeekLT(key)) }
func (i *damagedIterator) First() bool            { return i.at(i.Iterator.First()) }
func (i *damagedIterator) Last() bool             { return i.at(i.Iterator.Last()) }
func (i *damagedIterator) Next() bool             { return i.at(i.Iterator.Next()) }
func (i *damagedIterator) Prev() bool             { return i.at(i.Iterator.Prev()) }
func (i *damagedIterator) NextPrefix() bool       { return i.at(i.Iterator.NextPrefix()) }
func (i *damagedIterator) Valid() bool {
	return i.err == nil && i.Iterator.Valid()
}

func (i *damagedIterator) Err() error {
	if i.err != nil {
		return i.err
	}
	return i.Iterator.Err()
}

// schemaRows is how many rows each table of damagedSchema has.
const schemaRows = 20

// damagedSchema makes a schema with references of every kind.
func damagedSchema(t *testing.T) *fixture {
	f := memory(t)
	parent, child, moved := f.simple("parent"), f.simple("child"), f.simple("moved")
	seq := f.sequence("seq", table.Sequence{Start: 1, Increment: 1, Min: 1, Max: 100, Cache: 1,
		OwnerTable: child.ID, OwnerColumn: 1})
	child.Columns[0].SequenceID, child.Columns[0].DefaultText = seq.ID,
		"nextval('public.seq'::regclass)"
	child.ForeignKeys = []table.ForeignKey{{OID: f.newID(), Name: "fk",
		Columns:  []table.ColumnID{1},
		RefTable: parent.ID, RefColumns: []table.ColumnID{1}, OnDelete: "no action",
		OnUpdate: "no action"}}
	parent.ReferencedBy = []table.ID{child.ID}
	view := &table.Desc{ID: f.newID(), DatabaseID: PostgresID, SchemaID: PublicID, Schema: "public",
		Name: "view",
		Kind: table.KindView, View: &table.View{Text: "SELECT id FROM parent",
			DependsOn: []table.ID{parent.ID}}}
	f.must(func(tx *txn.Txn, v *View) error {
		db, err := v.CreateDatabase(f.ctx, Database{Name: "apart"})
		require.NoError(t, err)
		sc, err := v.CreateSchema(f.ctx, Schema{Database: db.ID, Name: "inner"})
		require.NoError(t, err)
		moved.DatabaseID, moved.SchemaID, moved.Schema = db.ID, sc.ID, sc.Name
		for _, d := range []*table.Desc{parent, child, moved, view} {
			require.NoError(t, v.CreateRelation(f.ctx, d))
		}
		require.NoError(t, v.SetSystemSettings(f.ctx, []string{"work_mem=4MB"}))
		require.NoError(t, v.ExcludeWriters(parent.ID))
		return v.Truncate(f.ctx, moved)
	})
	f.must(func(tx *txn.Txn, v *View) error {
		for _, id := range []table.ID{parent.ID, child.ID, moved.ID} {
			d, err := v.RelationByID(f.ctx, id)
			require.NoError(t, err)
			w := table.NewWriter(d, f.cat)
			for i := range schemaRows {
				require.NoError(t,
					w.Insert(f.ctx, tx, []types.Datum{types.NewInt(int64(i)), types.Null}))
			}
		}
		return nil
	})
	f.check()
	return f
}

func (f *fixture) newID() table.ID {
	f.t.Helper()
	id, err := f.cat.NewID(f.ctx)
	require.NoError(f.t, err)
	return id
}

// pairsOf returns the keys and values that a store shows under a prefix.
func pairsOf(t *testing.T, store *txn.Store, prefix []byte) map[string]string {
	ctx := context.Background()
	tx, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(t, err)
	out := map[string]string{}
	require.NoError(t, scan(ctx, tx, prefix, func(key, value []byte) error {
		out[string(key)] = string(value)
		return nil
	}))
	require.NoError(t, tx.Rollback(ctx))
	return out
}

// salvageOf salvages a fixture's store, of which the raw keys that are bad cannot be read. It
// returns the new store, nil when there is an error, and what is listed.
func salvageOf(t *testing.T, f *fixture, bad func(raw []byte) bool) (to *txn.Store, lost []string,
	err error) {
	from, err := txn.Open(f.ctx, &damagedEngine{f.engine, bad},
		txn.Options{Damaged: true, LeaveFoundLocks: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, from.Close()) }()
	to, err = txn.Open(f.ctx, memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(t, err)
	store := to
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	err = Salvage(f.ctx, from, to,
		SalvageOptions{Lost: func(p Problem) { lost = append(lost, p.String()) }})
	if err != nil {
		require.ErrorIs(t, err, kv.ErrCorruption)
		return nil, lost, err
	}
	_, err = Open(f.ctx, to)
	require.NoError(t, err)
	require.NoError(t, Check(f.ctx, to, func(p Problem) {
		t.Errorf("after the salvage, with %q "+
			"lost: %s", lost, p)
	}))
	return to, lost, nil
}

func TestASchemaThatIsWholeIsCopiedAsItIs(t *testing.T) {
	f := damagedSchema(t)
	to, lost, err := salvageOf(t, f, func([]byte) bool { return false })
	require.NoError(t, err)
	require.Empty(t, lost)
	for _, prefix := range []byte{table.PrefixCatalog, table.PrefixTable, table.PrefixSequence} {
		require.Equal(t, pairsOf(t, f.store, []byte{prefix}), pairsOf(t, to, []byte{prefix}))
	}
}

// TestASchemaWithDamageAnywhere makes each run of one, two, four, … cells of the schema unreadable.
// Every relation whose own cells can be read is there in full.
func TestASchemaWithDamageAnywhere(t *testing.T) {
	f := damagedSchema(t)
	var cells [][]byte
	snap, err := f.engine.Snapshot()
	require.NoError(t, err)
	for _, span := range mvcc.RawSpans(table.PrefixSpan([]byte{table.PrefixCatalog})) {
		_, err := kv.Readable(f.ctx, snap, span, func(key, _ []byte) error {
			cells = append(cells, bytes.Clone(key))
			return nil
		})
		require.NoError(t, err)
	}
	require.NoError(t, snap.Close())
	descs := pairsOf(t, f.store, []byte{table.PrefixCatalog, tagDesc})
	whole := 0
	for n := 1; n <= len(cells); n *= 2 {
		for from := 0; from+n <= len(cells); from += max(1, n/2) {
			bad := cells[from : from+n]
			to, lost, err := salvageOf(t, f, func(raw []byte) bool {
				return slices.ContainsFunc(bad,
					func(key []byte) bool { return bytes.Equal(key, raw) })
			})
			if err != nil {
				require.ErrorContains(t, err, "no descriptor of the schema can be read")
				require.NotEmpty(t, lost)
				continue
			}
			left := pairsOf(t, to, []byte{table.PrefixCatalog, tagDesc})
			if len(left) == len(descs) {
				whole++
			} else {
				require.NotEmpty(t, lost)
			}
			requireRelations(t, to, bad, descs, left, strings.Join(lost, "\n"))
		}
	}
	require.Greater(t, whole, len(cells)/2)
}

// requireRelations requires that the relations none of whose cells are bad are there with their
// rows, but for views over what is lost, and that the others are listed.
func requireRelations(t *testing.T, to *txn.Store, bad [][]byte, descs, left map[string]string,
	lost string) {
	for key, value := range descs {
		d, err := new(Catalog).decodeDesc([]byte(value), heldType, nil)
		require.NoError(t, err)
		damaged := slices.ContainsFunc(bad, func(raw []byte) bool {
			user, _, _ := mvcc.KeyOf(raw)
			// The first descriptor behind the damage is found by its name.
			return string(user) == key ||
				string(user) == string(nameKey(d.DatabaseID, d.SchemaID, d.Name))
		})
		_, there := left[key]
		if !damaged && d.View == nil {
			require.True(t, there, "%s is not there: %s", d.Name, lost)
		}
		if there && d.Kind == table.KindTable {
			now, err := new(Catalog).decodeDesc([]byte(left[key]), heldType, nil)
			require.NoError(t, err)
			require.Len(t, pairsOf(t, to, now.Span().Start), schemaRows)
		}
		if !there && d.Kind == table.KindTable {
			require.Contains(t, lost, "20 rows under storage ID")
		}
		if !there && d.View != nil {
			require.Contains(t, lost, "/catalog/desc/", lost)
		}
	}
}

// TestTheStatesOfAViewAreNoLostRows: what an incremental view keeps beside its rows is not copied,
// and not listed as the rows of a table that nothing is known of.
func TestTheStatesOfAViewAreNoLostRows(t *testing.T) {
	f := damagedSchema(t)
	desc := func(name string, kind table.Kind) *table.Desc {
		return &table.Desc{ID: f.newID(), DatabaseID: PostgresID, SchemaID: PublicID,
			Schema: "public", Name: name, Kind: kind,
			Columns:      []table.Column{{ID: 1, Name: "id", Type: types.TInt8, NotNull: true}},
			NextColumnID: 2, NextIndexID: 2, RowKey: []table.IndexColumn{{ColumnID: 1}}}
	}
	view, state := desc("following", table.KindMaterializedView), desc("", table.KindState)
	view.View = &table.View{Text: "SELECT 1",
		Incremental: &table.Incremental{States: []*table.Desc{state}}}
	f.must(func(tx *txn.Txn, v *View) error {
		require.NoError(t, v.CreateRelation(f.ctx, view))
		for _, d := range []*table.Desc{view, state} {
			w := table.NewWriter(d, f.cat)
			require.NoError(t, w.Insert(f.ctx, tx, []types.Datum{types.NewInt(1)}))
		}
		return nil
	})
	var lostKey []byte
	for key := range pairsOf(t, f.store, []byte{table.PrefixCatalog, tagDesc}) {
		if bytes.HasSuffix([]byte(key), table.DescKey(view.ID)[2:]) {
			continue
		}
		lostKey = []byte(key)
	}
	spans := mvcc.RawSpans(table.PointSpan(lostKey))
	_, lost, err := salvageOf(t, f, func(raw []byte) bool {
		return slices.ContainsFunc(spans, func(s kv.Span) bool { return s.Contains(raw) })
	})
	require.NoError(t, err)
	require.Contains(t, strings.Join(lost, "\n"), "following: the materialized view is not")
	require.NotContains(t, strings.Join(lost, "\n"), fmt.Sprintf("storage ID %d", state.ID))
}
