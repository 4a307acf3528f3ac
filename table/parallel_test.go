package table_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// manyRows are more than a scan reads alone.
const manyRows = 30_000

// fillMany writes rows with keys that are spread unevenly, some of them long.
func fillMany(t *testing.T, d *db, desc *table.Desc) {
	t.Helper()
	ctx := context.Background()
	dice := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < manyRows; from += 1000 { // each in one phase
		d.must(func(tx *txn.Txn) error {
			w := table.NewWriter(desc, d.cat)
			for i := from; i < from+1000; i++ {
				id := int64(i)
				if i > 20_000 {
					id = id*7919 + int64(dice.IntN(1000))
				}
				text := fmt.Sprint("text ", i)
				if i%50 == 0 {
					text = fmt.Sprintf("%0400d", i)
				}
				row := []types.Datum{types.NewInt(id), types.NewInt(int64(i % 100)),
					types.NewString(text), types.Null}
				if err := w.Insert(ctx, tx, row); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// several lets two goroutines run at a time at least.
func several(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		before := runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	}
}

// both scans in one goroutine and in several, and compares.
func (d *db) both(tx *txn.Txn, spec table.ScanSpec) int {
	d.t.Helper()
	alone := d.scan(tx, spec)
	spec.Parallel = true
	rows := d.scan(tx, spec)
	require.Len(d.t, rows, len(alone))
	for i := range rows {
		if !slices.Equal(alone[i], rows[i]) { // require.Equal takes a thousand times as long
			require.Equal(d.t, alone[i], rows[i])
		}
	}
	ended()
	return len(rows)
}

// ended waits until no goroutine of a scan is left. A scan that is closed has waited until its
// readers are done, but the one that says so last may not be gone. One that was forgotten stays,
// and is among the stacks that are printed when the test has run for too long.
func ended() {
	stacks := make([]byte, 1<<20)
	for bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*parallelScan)")) {
		runtime.Gosched()
	}
}

// TestAScanBySeveral gives the rows that one goroutine gives, in their order: of tables and
// indexes, whole and in part, at the present and in the past, with the transaction's own writes.
func TestAScanBySeveral(t *testing.T) {
	several(t)
	ctx := context.Background()
	variants(t, func(t *testing.T, d *db) {
		desc := d.create(wide())
		fillMany(t, d, desc)
		old, err := d.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
		require.NoError(t, err)
		all, err := table.Spans(desc, nil, nil, false)
		require.NoError(t, err)
		low, high := types.NewInt(500), types.NewInt(1<<40)
		middle := []table.Range{{Low: &low, High: &high, LowIncl: true}}
		part, err := table.Spans(desc, nil, middle, false)
		require.NoError(t, err)
		index, err := table.Spans(desc, &desc.Indexes[1], nil, false)
		require.NoError(t, err)
		reads := func(tx *txn.Txn) []int {
			return []int{
				d.both(tx, table.ScanSpec{Desc: desc, Out: []int{0, 1, 2, 3}, Spans: all}),
				d.both(tx, table.ScanSpec{Desc: desc, Out: []int{2}, Spans: part}),
				d.both(tx, table.ScanSpec{Desc: desc, Spans: all}),
				d.both(tx, table.ScanSpec{Desc: desc, Index: &desc.Indexes[1], Out: []int{1, 0},
					Spans: index}),
				d.both(tx, table.ScanSpec{Desc: desc, Out: []int{0},
					Spans: slices.Concat(all, part)}),
			}
		}
		d.must(func(tx *txn.Txn) error {
			require.Equal(t, []int{manyRows, manyRows - 500, manyRows, manyRows,
				2*manyRows - 500}, reads(tx))
			return nil
		})
		d.must(func(tx *txn.Txn) error {
			w := table.NewWriter(desc, d.cat)
			for _, row := range d.scan(tx, table.ScanSpec{Desc: desc, Out: []int{0, 1, 2, 3},
				Spans: all})[9000:9100] {
				if err := w.Delete(ctx, tx, row); err != nil {
					return err
				}
			}
			require.Equal(t, manyRows-100, reads(tx)[0], "its own writes")
			return nil
		})
		d.must(func(tx *txn.Txn) error {
			require.Equal(t, manyRows-100, reads(tx)[0])
			return nil
		})
		require.Equal(t, manyRows, reads(old)[0], "the past")
		require.NoError(t, old.Rollback(ctx))
		serial, err := d.store.Begin(ctx, txn.BeginOptions{Serializable: true})
		require.NoError(t, err)
		require.Equal(t, manyRows-100, reads(serial)[0])
		require.NoError(t, serial.Rollback(ctx))
	})
}

// TestAScanBySeveralEndsEarly: by Close after a few rows, and when its context ends.
func TestAScanBySeveralEndsEarly(t *testing.T) {
	several(t)
	d := memory(t)
	desc := d.create(wide())
	fillMany(t, d, desc)
	all, err := table.Spans(desc, nil, nil, false)
	require.NoError(t, err)
	for stop := range 25 {
		d.must(func(tx *txn.Txn) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := table.OpenScan(ctx, tx, table.ScanSpec{Desc: desc, Out: []int{0, 2},
				Spans: all, Parallel: true})
			require.NoError(t, err)
			b := types.NewBatch([]*types.Type{types.TInt4, types.TText})
			for range stop {
				more, err := s.Next(ctx, b)
				require.NoError(t, err)
				require.True(t, more)
			}
			if stop > 10 {
				require.True(t, s.BySeveral())
			}
			if stop%2 == 1 {
				cancel()
				for err == nil {
					_, err = s.Next(ctx, b)
				}
				require.ErrorIs(t, err, context.Canceled)
			}
			require.NoError(t, s.Close())
			return nil
		})
	}
	ended()
}

// TestWritersBesideAScanBySeveral: each reader finds what was committed at its timestamp.
func TestWritersBesideAScanBySeveral(t *testing.T) {
	several(t)
	engine, err := pebblekv.Open("", pebblekv.Options{InMemory: true, MemTableBytes: 1 << 18})
	require.NoError(t, err)
	for name, d := range map[string]*db{"pebble": openDB(t, engine, txn.Options{}),
		"two phases": openDB(t, memkv.New(memkv.Options{HashGroups: 3}),
			txn.Options{Protocol: txn.TwoPhase}),
		"sections": openDB(t, memkv.New(memkv.Options{}), txn.Options{SectionRows: 16}),
		"sections, two phases": openDB(t, memkv.New(memkv.Options{HashGroups: 3}),
			txn.Options{Protocol: txn.TwoPhase, SectionRows: 16})} {
		t.Run(name, func(t *testing.T) {
			desc := d.create(wide())
			fillMany(t, d, desc)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { // moves a between rows of which the sum stays
				dice := rand.New(rand.NewPCG(3, 4))
				for ctx.Err() == nil {
					tx, err := d.store.Begin(context.Background(), txn.BeginOptions{})
					if err == nil {
						err = move(tx, d, desc, dice.IntN(20_000), dice.IntN(20_000))
					}
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
			all, err := table.Spans(desc, nil, nil, false)
			require.NoError(t, err)
			for range 15 {
				d.must(func(tx *txn.Txn) error {
					sum := int64(0)
					for _, row := range d.scan(tx, table.ScanSpec{Desc: desc, Out: []int{1},
						Spans: all, Parallel: true}) {
						sum += row[0].I
					}
					require.Equal(t, int64(manyRows/100*4950), sum)
					return nil
				})
			}
			stop()
			require.NoError(t, <-done)
		})
	}
}

// move takes one from a of a row and adds it to that of another.
func move(tx *txn.Txn, d *db, desc *table.Desc, from, to int) error {
	ctx := context.Background()
	w := table.NewWriter(desc, d.cat)
	for i, id := range []int{from, to} {
		b := types.NewBatch([]*types.Type{types.TInt4, types.TInt8, types.TText, types.TText})
		err := table.Lookup(ctx, tx, desc, nil, []int{0, 1, 2, 3},
			[][]types.Datum{{types.NewInt(int64(id))}}, b, nil)
		if err != nil {
			return err
		}
		old := make([]types.Datum, 4)
		for j, c := range b.Cols {
			old[j] = c.Get(0)
		}
		next := append([]types.Datum{}, old...)
		next[1] = types.NewInt(old[1].I + int64(2*i-1))
		if err := w.Update(ctx, tx, old, next); err != nil {
			return err
		}
		if from == to {
			return tx.Rollback(ctx)
		}
	}
	return tx.Commit(ctx)
}

// TestASerializableScanCounts: what it reads depends on a row that another transaction writes, and
// that on what the first writes. The two have no serial order.
func TestASerializableScanCounts(t *testing.T) {
	several(t)
	ctx := context.Background()
	d := memory(t)
	desc := d.create(wide())
	fillMany(t, d, desc)
	all, err := table.Spans(desc, nil, nil, false)
	require.NoError(t, err)
	begin := func() *txn.Txn {
		tx, err := d.store.Begin(ctx, txn.BeginOptions{Serializable: true})
		require.NoError(t, err)
		return tx
	}
	for range 3 { // the rows are in memory then
		d.must(func(tx *txn.Txn) error {
			d.scan(tx, table.ScanSpec{Desc: desc, Out: []int{0}, Spans: all, Parallel: true})
			return nil
		})
	}
	a, b := begin(), begin()
	d.scan(a, table.ScanSpec{Desc: desc, Out: []int{0}, Spans: all, Parallel: true})
	_, err = b.Get(ctx, []byte("x"))
	require.NoError(t, err)
	require.NoError(t, a.Set([]byte("x"), []byte("1")))
	err = table.NewWriter(desc, d.cat).Insert(ctx, b, []types.Datum{types.NewInt(20_001 * 7918),
		types.NewInt(0), types.NewString(""), types.Null}) // between rows
	for _, tx := range []*txn.Txn{a, b} {
		if err == nil {
			err = tx.Commit(ctx)
		}
		_ = tx.Rollback(ctx)
	}
	require.Error(t, err)
}
