package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/backup"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

var long = strings.Repeat("long ", 200)

// TestABackupContinuesTheOneBefore, and has what changed, deletions among it.
func TestABackupContinuesTheOneBefore(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, engine(t))
			place := backup.Directory(t.TempDir())
			for i := range 100 {
				set(t, w.store, fmt.Sprintf("k%02d", i), fmt.Sprint(i), "long", long+fmt.Sprint(i))
			}
			full := backUp(t, w.store, place)
			require.True(t, full.Full())
			want := at(t, w.store, full.At)
			set(t, w.store, "k01", "changed", "k02", "-", "new", long)
			next := backUp(t, w.store, place)
			require.Equal(t, full.Name, next.Base)
			cells, _, _ := next.Totals()
			require.EqualValues(t, 4, cells) // three records, and a long value
			require.Equal(t, want, at(t, restore(t, place, full.Name, engine(t)), 0))
			to := restore(t, place, next.Name, engine(t))
			require.Equal(t, at(t, w.store, next.At), at(t, to, 0))
			require.Equal(t, want, at(t, to, full.At)) // the past is in the chain
			first, err := to.Now(context.Background())
			require.NoError(t, err)
			require.Greater(t, first, next.At)
		})
	}
}

// TestACollectedDeleteBreaksTheChain: once the source has not kept it, the next backup is a full
// one, and says why. Within its hold it is kept.
func TestACollectedDeleteBreaksTheChain(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, memkv.New(memkv.Options{}))
	place := backup.Directory(t.TempDir())
	set(t, w.store, "a", "1", "b", "1")
	first := backUp(t, w.store, place)
	collected := func(after int64) tso.Timestamp {
		w.clock.Add(after)
		require.NoError(t, w.store.RenewLease(ctx))
		st, err := w.store.CollectGarbage(ctx)
		require.NoError(t, err)
		return st.Safepoint
	}
	set(t, w.store, "a", "-")
	require.Equal(t, first.At, collected(50*minute))
	second := backUp(t, w.store, place)
	require.Equal(t, first.Name, second.Base)
	require.Equal(t, []string{"b=1"}, at(t, restore(t, place, second.Name, inPebble(t)), 0))

	set(t, w.store, "b", "-", "c", "1")
	require.Greater(t, collected(61*minute), second.At)
	third := backUp(t, w.store, place)
	require.True(t, third.Full())
	require.Contains(t, third.WhyFull, second.Name)
	require.Equal(t, []string{"c=1"}, at(t, restore(t, place, third.Name, inPebble(t)), 0))
}

// collecting collects all garbage of a store when the first file of an incremental backup is put.
type collecting struct {
	backup.Place
	collect func()
}

func (c *collecting) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if strings.Contains(name, "incremental/00000001") {
		c.collect()
	}
	return c.Place.Put(ctx, name, write)
}

// TestACollectionDuringABackup whose hold another process has ended makes it a full one.
func TestACollectionDuringABackup(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, memkv.New(memkv.Options{Shared: true}))
	place := backup.Directory(t.TempDir())
	set(t, w.store, "a", "1", "b", "1")
	first := backUp(t, w.store, place)
	set(t, w.store, "a", "-")
	other := w.open()
	var by *backup.Manifest
	broken := &collecting{Place: place, collect: func() {
		require.NoError(t, w.store.DropHold(ctx, first.Hold))
		names, err := os.ReadDir(string(place))
		require.NoError(t, err)
		require.Len(t, names, 2)
		all, err := backup.List(ctx, place)
		require.NoError(t, err)
		by = all[0]
		w.clock.Add(2 * minute) // the hold of the backup is not taken over by then
		require.NoError(t, errors.Join(w.store.RenewLease(ctx), other.RenewLease(ctx)))
		_, err = other.CollectGarbage(ctx)
		require.NoError(t, err)
	}}
	r := backUp(t, w.store, broken)
	require.NotNil(t, by)
	require.Equal(t, first.Name, r.Base) // the renewed hold kept it
	require.Equal(t, []string{"b=1"}, at(t, restore(t, place, r.Name, inPebble(t)), 0))
}

// TestLocksOfCommitsAreInTheBackup: a commit whose process died behind its commit point is settled
// first, and one that runs is pushed above the timestamp and is in the next backup.
func TestLocksOfCommitsAreInTheBackup(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, memkv.New(memkv.Options{Shared: true, HashGroups: 2}))
	place := backup.Directory(t.TempDir())
	set(t, w.store, "a", "1")
	backUp(t, w.store, place)
	w.opts.CrashPoint = func(p txn.CrashPoint) bool { return p == txn.AfterCommitPoint }
	dead := w.open()
	tx, err := dead.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for _, k := range []string{"k01", "k02", "k03"} {
		tx.Notify([]byte(k), 7, []byte("before"))
		require.NoError(t, tx.Set([]byte(k), []byte(long)))
	}
	require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
	r := backUp(t, w.store, place)
	require.False(t, r.Full())
	to := restore(t, place, r.Name, inPebble(t))
	require.Equal(t, []string{"a=1", "k01=" + long, "k02=" + long, "k03=" + long}, at(t, to, 0))
	require.Contains(t, notes(t, to), "k03 was before")
}

// TestLoadsAreInTheChainWhole: their records are older than their commit. One that was taken back
// leaves nothing.
func TestLoadsAreInTheChainWhole(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, inPebble(t))
	place := backup.Directory(t.TempDir())
	load := func(tx *txn.Txn, table string) {
		l, err := tx.NewLoad(ctx, tableSpan(table))
		require.NoError(t, err)
		for i := range 300 {
			key := fmt.Appendf(nil, "%s/%05d", table, i)
			require.NoError(t, l.Add(ctx, key, []byte(long)))
		}
		require.NoError(t, l.Finish(ctx))
		require.NoError(t, tx.Set([]byte("map/"+table), nil))
	}
	kept, err := w.store.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	load(kept, "t01")
	gone, err := w.store.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	load(gone, "t02")
	late, err := w.store.Begin(ctx, txn.BeginOptions{}) // below the first backup, as its files are
	require.NoError(t, err)
	big := backup.Options{Source: w.store, To: place, Protect: time.Hour}
	first, err := backup.Run(ctx, big)
	require.NoError(t, err)
	require.Empty(t, at(t, restore(t, place, first.Name, inPebble(t)), 0))
	load(late, "t03")
	require.NoError(t, errors.Join(kept.Commit(ctx), gone.Rollback(ctx), late.Commit(ctx)))
	next, err := backup.Run(ctx, big)
	require.NoError(t, err)
	require.Equal(t, first.Name, next.Base)
	e := inPebble(t)
	to := restore(t, place, next.Name, e)
	have := at(t, to, 0)
	require.Equal(t, 300*2+2, len(have))
	require.Equal(t, at(t, w.store, next.At), have)
	require.Zero(t, rawCells(t, e, tableSpan("t02")))
}

// TestAnIncrementalBackupReadsWhatChanged: blocks of tables without versions of its time are passed
// over, whatever the store's size.
func TestAnIncrementalBackupReadsWhatChanged(t *testing.T) {
	ctx := context.Background()
	e, ok := inPebble(t).(*pebblekv.Engine)
	require.True(t, ok)
	counted := record.New(e)
	counted.Stepping = true
	w := newWorld(t, counted)
	place := backup.Directory(t.TempDir())
	fill := func(name string, n int) {
		for from := 0; from < n; from += 500 {
			commit(t, w.store, func(tx *txn.Txn) error {
				for i := from; i < from+500; i++ {
					key := fmt.Appendf(nil, "%s%06d", name, i)
					if err := tx.Set(key, []byte(strings.Repeat("v", 20))); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	big := func() backup.Result {
		r, err := backup.Run(ctx, backup.Options{Source: w.store, To: place, Protect: time.Hour})
		require.NoError(t, err)
		return r
	}
	steps := map[string]int64{}
	for _, n := range []int{20_000, 40_000} {
		fill(fmt.Sprint("k", n, "-"), 20_000)
		big()
		require.NoError(t, errors.Join(e.Flush(), e.Compact(ctx)))
		set(t, w.store, "k20000-000005", "changed", "k20000-010000", "-")
		require.NoError(t, e.Flush())
		before := counted.Counts()
		r := big()
		require.False(t, r.Full())
		cells, _, _ := r.Totals()
		require.EqualValues(t, 2, cells)
		steps[fmt.Sprint(n)] = counted.Since(before).Steps
	}
	// Whole blocks are read that have a changed row. Where blocks end depends on the timestamps in
	// them, so that the two numbers differ by a part of a block.
	t.Log(steps)
	require.Less(t, steps["20000"], int64(1000))
	require.Less(t, steps["40000"], steps["20000"]+100)
}
