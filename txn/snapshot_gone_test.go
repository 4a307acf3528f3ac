package txn_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
)

// forgetful is an engine that gives a snapshot up after a few reads.
func forgetful() kv.Engine { return memkv.New(memkv.Options{Shared: true, Reads: 16}) }

// TestReadsGoOnWithoutTheirSnapshot: a transaction reads what was there when it began, and what it
// has written itself, though the engine gives up one snapshot after the other and others commit.
func TestReadsGoOnWithoutTheirSnapshot(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, forgetful(), txn.Options{StreamBytes: 1 << 10})
	const n = 100
	var want []string
	fill := begin(t, s)
	for i := range n {
		key := fmt.Sprintf("k%03d", i)
		require.NoError(t, fill.Set([]byte(key), []byte("old")))
		want = append(want, key+"=old")
	}
	require.NoError(t, fill.Commit(ctx))
	tx := begin(t, s)
	walk := func(reverse bool) (out []string) {
		it, err := tx.Scan(ctx, prefixSpan("k"), txn.ScanOptions{Reverse: reverse})
		require.NoError(t, err)
		for it.Next() {
			key, value := string(it.Key()), string(it.Value())
			out = append(out, key+"="+value)
			if len(out)%10 == 0 {
				commit(t, s, key, "new", key+" too", "new")
			}
			require.Equal(t, value, get(t, tx, key))
		}
		require.NoError(t, it.Err())
		require.NoError(t, it.Close())
		return out
	}
	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	require.Equal(t, want, walk(false))
	require.Equal(t, backwards, walk(true))

	// Its own writes are streamed out, and others hold the rest.
	own := func(from, to int, value string) {
		for i := from; i < to; i++ {
			key := fmt.Sprintf("o%03d", i)
			require.NoError(t, tx.Set([]byte(key), bytes.Repeat([]byte(value), 20)))
		}
	}
	shown := func(reverse bool) (out []string) {
		for _, kv := range scan(t, tx, prefixSpan("o"), txn.ScanOptions{Reverse: reverse}) {
			out = append(out, kv[:6])
		}
		return out
	}
	own(0, n, "1")
	sp := tx.Savepoint()
	own(n/2, 2*n, "2")
	require.Len(t, shown(false), 2*n)
	require.Equal(t, "o199=2", shown(true)[0])
	tx.RollbackTo(sp)
	want = nil
	for i := range n {
		want = append(want, fmt.Sprintf("o%03d=1", i))
	}
	require.Equal(t, want, shown(false))
	slices.Reverse(want)
	require.Equal(t, want, shown(true))
	require.NoError(t, tx.Commit(ctx))
	require.Len(t, scan(t, begin(t, s), prefixSpan("o"), txn.ScanOptions{}), n)
}

// TestACursorWithoutItsSnapshotShowsNoLaterWrites: what a transaction has streamed out since it
// opened an iterator must not be shown, so the iterator fails after that.
func TestACursorWithoutItsSnapshotShowsNoLaterWrites(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, forgetful(), txn.Options{StreamBytes: 1 << 10})
	tx := begin(t, s)
	const n = 60
	write := func(value string) {
		for i := range n {
			require.NoError(t, tx.Set(fmt.Appendf(nil, "k%03d", i),
				bytes.Repeat([]byte(value), 50)))
		}
	}
	write("1")
	it, err := tx.Scan(ctx, prefixSpan("k"), txn.ScanOptions{})
	require.NoError(t, err)
	require.True(t, it.Next())
	write("2")
	passed := 1
	for ; it.Next(); passed++ {
		require.Equal(t, byte('1'), it.Value()[0])
	}
	require.Less(t, passed, n)
	require.ErrorIs(t, it.Err(), kv.ErrSnapshotGone)
	require.NoError(t, it.Close())
	require.NoError(t, tx.Rollback(ctx))
}

// TestALongValidationOutlivesItsSnapshot: it finds the change that was committed while it ran.
func TestALongValidationOutlivesItsSnapshot(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, forgetful(), txn.Options{})
	for i := range 50 {
		commit(t, s, fmt.Sprintf("k%03d", i), "v")
	}
	for _, changed := range []string{"", "k049", "k050"} {
		tx := begin(t, s)
		tx.Validate(prefixSpan("k"))
		require.NoError(t, tx.Set([]byte("mine"), []byte(changed)))
		if changed != "" {
			commit(t, s, changed, "new")
		}
		err := tx.Commit(ctx)
		if changed == "" {
			require.NoError(t, err)
			continue
		}
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, err, &conflict)
		require.Equal(t, changed, string(conflict.Key))
	}
	stats, err := s.CollectGarbage(ctx)
	require.NoError(t, err)
	require.NotZero(t, stats.Versions)
}

// TestAScanFindsItsPlaceAgain: wherever among committed rows, newer versions, its own locks and
// those of others a scan loses its snapshot, it leaves nothing out and shows nothing twice.
func TestAScanFindsItsPlaceAgain(t *testing.T) {
	ctx := context.Background()
	const n = 60
	key := func(i int) string { return fmt.Sprintf("m%03d", i) }
	for reads := 8; reads < 24; reads++ {
		e := memkv.New(memkv.Options{Shared: true, Reads: reads})
		s := openStore(t, e, txn.Options{StreamBytes: 200})
		var want []string
		old := begin(t, s)
		for i := range n {
			if i%2 == 0 {
				require.NoError(t, old.Set([]byte(key(i)), []byte("old")))
			}
		}
		require.NoError(t, old.Commit(ctx))
		tx, other := begin(t, s), begin(t, s)
		for i := range n {
			k := []byte(key(i))
			switch {
			case i%3 == 0:
				require.NoError(t, tx.Set(k, []byte("own")))
				want = append(want, key(i)+"=own")
				continue
			case i%5 == 0:
				commit(t, s, key(i), "new")
				commit(t, s, key(i), "newer")
			case i%7 == 0:
				require.NoError(t, other.Set(k, []byte("other")))
			}
			if i%2 == 0 {
				want = append(want, key(i)+"=old")
			}
		}
		for range 2 {
			require.Equal(t, want, scan(t, tx, prefixSpan("m"), txn.ScanOptions{}), reads)
			slices.Reverse(want)
			require.Equal(t, want, scan(t, tx, prefixSpan("m"), txn.ScanOptions{Reverse: true}))
			slices.Reverse(want)
			if other != nil { // the second time what it has locked is committed, above the reader
				require.NoError(t, other.Commit(ctx))
				other = nil
			}
		}
		require.NoError(t, tx.Rollback(ctx))
	}
}
