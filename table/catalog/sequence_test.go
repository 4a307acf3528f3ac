package catalog

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

func (f *fixture) draw(d *table.Desc, n int) (out []int64) {
	f.t.Helper()
	for range n {
		v, err := f.cat.NextVal(f.ctx, d)
		require.NoError(f.t, err)
		out = append(out, v)
	}
	return out
}

func TestSequencesCountCycleAndEnd(t *testing.T) {
	f := memory(t)
	up := f.sequence("up", table.Sequence{Start: 1, Increment: 2, Min: 1, Max: 6, Cache: 1})
	require.Equal(t, []int64{1, 3, 5}, f.draw(up, 3))
	_, err := f.cat.NextVal(f.ctx, up)
	var se *sqlerr.Error
	require.ErrorAs(t, err, &se)
	require.Equal(t, "2200H", se.Code)
	require.Equal(t, `nextval: reached maximum value of sequence "up" (6)`, se.Message)

	down := f.sequence("down", table.Sequence{Start: -1, Increment: -1, Min: -3, Max: -1, Cache: 1})
	require.Equal(t, []int64{-1, -2, -3}, f.draw(down, 3))
	_, err = f.cat.NextVal(f.ctx, down)
	require.EqualError(t, err, `nextval: reached minimum value of sequence "down" (-3)`)

	cycle := f.sequence("cycle", table.Sequence{Start: 2, Increment: 1, Min: 1, Max: 3, Cache: 1,
		Cycle: true})
	require.Equal(t, []int64{2, 3, 1, 2, 3, 1}, f.draw(cycle, 6))

	wide := f.sequence("wide", table.Sequence{Start: math.MinInt64, Increment: math.MaxInt64,
		Min: math.MinInt64, Max: math.MaxInt64, Cache: 5})
	require.Equal(t, []int64{math.MinInt64, -1, math.MaxInt64 - 1}, f.draw(wide, 3))
	_, err = f.cat.NextVal(f.ctx, wide)
	require.ErrorAs(t, err, &se)
}

func TestSetvalMovesASequence(t *testing.T) {
	f := memory(t)
	s := f.sequence("s", table.Sequence{Start: 1, Increment: 1, Min: 1, Max: 100, Cache: 1})
	require.Equal(t, []int64{1, 2}, f.draw(s, 2))
	require.NoError(t, f.cat.SetVal(f.ctx, s, 50, true))
	require.Equal(t, []int64{51}, f.draw(s, 1))
	require.NoError(t, f.cat.SetVal(f.ctx, s, 50, false))
	last, called, err := f.cat.SequencePosition(f.ctx, s)
	require.NoError(t, err)
	require.Equal(t, int64(50), last)
	require.False(t, called)
	require.Equal(t, []int64{50}, f.draw(s, 1))
	require.EqualError(t, f.cat.SetVal(f.ctx, s, 101, true),
		`setval: value 101 is out of bounds for sequence "s" (1..100)`)
}

func TestSequencesGoOnWithoutAGapAfterAnOrderlyClose(t *testing.T) {
	f := memory(t)
	s := f.sequence("s", table.Sequence{Start: 1, Increment: 1, Min: 1, Max: math.MaxInt64,
		Cache: 1})
	require.Equal(t, []int64{1, 2, 3}, f.draw(s, 3))
	require.NoError(t, f.cat.Close(f.ctx))
	again, err := Open(f.ctx, f.store)
	require.NoError(t, err)
	f.cat = again
	require.Equal(t, []int64{4}, f.draw(s, 1))
	// A crash skips what was reserved, and repeats nothing.
	crashed, err := Open(f.ctx, f.store)
	require.NoError(t, err)
	f.cat = crashed
	require.Equal(t, []int64{36}, f.draw(s, 1))
}

func TestARestartCanBeRolledBack(t *testing.T) {
	f := memory(t)
	s := f.sequence("s", table.Sequence{Start: 1, Increment: 1, Min: 1, Max: 1000, Cache: 1})
	require.Equal(t, []int64{1, 2}, f.draw(s, 2))
	restart := func(tx *txn.Txn) *table.Desc {
		next := s.Clone()
		v := f.cat.View(tx)
		require.NoError(t, v.Restart(f.ctx, next, next.Sequence, 500))
		require.NoError(t, v.UpdateRelation(f.ctx, s, next))
		return next
	}
	tx := f.begin()
	require.Equal(t, []int64{500, 501}, f.draw(restart(tx), 2))
	require.NoError(t, tx.Rollback(f.ctx))
	require.Equal(t, []int64{3}, f.draw(s, 1))

	// A changed increment goes on from the sequence's position.
	tx = f.begin()
	next := s.Clone()
	next.Sequence.Increment = 10
	require.NoError(t, f.cat.View(tx).NextEpoch(f.ctx, s, next.Sequence))
	require.NoError(t, f.cat.View(tx).UpdateRelation(f.ctx, s, next))
	require.NoError(t, tx.Commit(f.ctx))
	require.Equal(t, []int64{13, 23}, f.draw(next, 2))
}

func TestDrawingFromTheOldEpochFailsTheChange(t *testing.T) {
	f := memory(t)
	s := f.sequence("s", table.Sequence{Start: 1, Increment: 1, Min: 1, Max: 1000, Cache: 1})
	tx := f.begin()
	next := s.Clone()
	next.Sequence.Increment = 10
	require.NoError(t, f.cat.View(tx).NextEpoch(f.ctx, s, next.Sequence))
	require.NoError(t, f.cat.View(tx).UpdateRelation(f.ctx, s, next))
	f.draw(s, 1)
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, tx.Commit(f.ctx), &conflict)
}

func TestConcurrentDrawsNeverRepeat(t *testing.T) {
	f := memory(t)
	s := f.sequence("s", table.Sequence{Start: 1, Increment: 1, Min: 1, Max: math.MaxInt64,
		Cache: 1})
	other, err := Open(f.ctx, f.store) // a second process on the same store
	require.NoError(t, err)
	var mu sync.Mutex
	var all, rows []int64
	var wg sync.WaitGroup
	for g := range 8 {
		cat := f.cat
		if g%2 == 0 {
			cat = other
		}
		wg.Go(func() {
			for range 200 {
				v, err := cat.NextVal(f.ctx, s)
				assertNoError(t, err)
				r, err := cat.NextRowID(f.ctx, 77)
				assertNoError(t, err)
				mu.Lock()
				all, rows = append(all, v), append(rows, r)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, vs := range [][]int64{all, rows} {
		slices.Sort(vs)
		require.Len(t, slices.Compact(vs), 1600)
	}
}

func TestDroppedSequencesAreForgotten(t *testing.T) {
	f := memory(t)
	n := f.keys()
	drop := func(tx *txn.Txn, v *View, name string) {
		d, err := v.Relation(f.ctx, PostgresID, "public", name)
		require.NoError(t, err)
		require.NoError(t, v.DropRelation(f.ctx, d))
		require.NoError(t, tx.Commit(f.ctx))
	}
	s := f.sequence("s", table.Sequence{Start: 1, Increment: 1, Min: 1, Max: 10, Cache: 1})
	f.draw(s, 1)
	tx := f.begin()
	drop(tx, f.cat.View(tx), "s")
	require.Equal(t, n+1, f.keys(), "only the counter of object IDs is new")

	// One that was drawn from since the transaction began leaves its position, and no conflict.
	s = f.sequence("s", table.Sequence{Start: 1, Increment: 1, Min: 1, Max: 10, Cache: 1})
	tx = f.begin()
	f.draw(s, 1)
	drop(tx, f.cat.View(tx), "s")
	require.Equal(t, n+2, f.keys())
	require.NoError(t, f.cat.Sweep(f.ctx))
	require.Equal(t, n+1, f.keys())
}
