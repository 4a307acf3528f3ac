package mvcc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// TestAScanGoesOnInAnotherSnapshot: the engine gives up one snapshot after the other, each after
// the same number of reads, and the scan shows what it does in a snapshot that stays. What it
// passes are rows, rows above its timestamp, and locks of a transaction that is known to have
// committed, of one that was rolled back, and of one that began after it, all of them on keys with
// and without a row.
func TestAScanGoesOnInAnotherSnapshot(t *testing.T) {
	const at, later, committed, rolledBack, above = 10, 12, 5, 6, 14
	p := mvcc.ReadParams{StartTS: ts(at), Decided: map[tso.Timestamp]tso.Timestamp{
		committed: at - 1, rolledBack: 0}}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var steps []func(e kv.Engine)
		do := func(key string, fill ...step) {
			for _, s := range fill {
				steps = append(steps, func(e kv.Engine) {
					require.NoError(t, update(t, e, s, key))
				})
			}
		}
		for i := range 40 {
			key := fmt.Sprintf("k%02d", i)
			value := []byte(key)
			if rng.IntN(2) == 0 {
				do(key, prewrite(1, key, value, key), commitStep(1, 2))
			}
			switch rng.IntN(5) {
			case 0:
				do(key, prewrite(later, key, value, key), commitStep(later, later+1))
			case 1:
				do(key, prewrite(committed, key, []byte("locked"), key))
			case 2:
				do(key, prewrite(rolledBack, key, []byte("locked"), key))
			case 3:
				do(key, prewrite(above, key, []byte("locked"), key))
			}
		}
		for _, reverse := range []bool{false, true} {
			want := scanOn(t, steps, 0, p, reverse)
			require.NotEmpty(t, want)
			for reads := 7; reads < 40; reads++ {
				require.Equal(t, want, scanOn(t, steps, reads, p, reverse),
					"seed %d, %d reads, reverse %t", seed, reads, reverse)
			}
		}
	}
}

// scanOn fills an engine, which gives a snapshot up after so many reads, and scans it.
func scanOn(t *testing.T, fill []func(kv.Engine), reads int, p mvcc.ReadParams,
	reverse bool) (out []string) {
	e := memkv.New(memkv.Options{Shared: true, Reads: reads})
	for _, f := range fill {
		f(e)
	}
	span, last := kv.Span{Start: []byte("k"), End: []byte("l")}, ""
	for range 200 {
		snap, err := e.Snapshot()
		require.NoError(t, err)
		var v mvcc.View
		v.Init(snap)
		sc, err := v.Scan(ctx, span, mvcc.ScanParams{ReadParams: p, Reverse: reverse})
		require.NoError(t, err)
		for sc.Next() {
			if last != string(sc.Key()) { // it may begin at the key that was shown last
				last = string(sc.Key())
				out = append(out, last+"="+string(sc.Value()))
			}
		}
		err = sc.Err()
		from, resumeErr := sc.Resume()
		require.NoError(t, resumeErr)
		require.NoError(t, errors.Join(sc.Close(), v.Close(), snap.Close()))
		if err == nil {
			return out
		}
		require.ErrorIs(t, err, kv.ErrSnapshotGone)
		switch {
		case from == nil:
		case reverse:
			span.End = append(slices.Clone(from), 0)
		default:
			span.Start = from
		}
	}
	require.Fail(t, "the scan does not come on")
	return nil
}
