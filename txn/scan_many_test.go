package txn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
)

func scanMany(t testing.TB, tx *txn.Txn, spans []kv.Span) (out []string) {
	err := tx.ScanMany(context.Background(), spans, func(i int, key, value []byte) error {
		out = append(out, fmt.Sprintf("%d %s=%s", i, key, value))
		return nil
	})
	require.NoError(t, err)
	return out
}

// TestScanManyIsScanOfEach also of spans in any order, that overlap, are empty or without an end,
// among deleted keys and older versions, with and without own writes.
func TestScanManyIsScanOfEach(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		dice := rand.New(rand.NewPCG(1, 2))
		key := func() []byte { return []byte{'k', byte(dice.IntN(3)), byte('a' + dice.IntN(9))} }
		for step := range 60 {
			tx := begin(t, s)
			for range dice.IntN(6) {
				if dice.IntN(3) == 0 {
					require.NoError(t, tx.Delete(key()))
				} else {
					require.NoError(t, tx.Set(key(), []byte(fmt.Sprint(step))))
				}
			}
			if dice.IntN(2) == 0 {
				require.NoError(t, tx.Commit(context.Background()))
				tx = begin(t, s)
			}
			var spans []kv.Span
			var want []string
			for i := range 1 + dice.IntN(5) {
				span := kv.Span{Start: key(), End: key()}
				switch dice.IntN(8) {
				case 0:
					span.Start = nil
				case 1:
					span.End = nil
				}
				spans = append(spans, span)
				for _, row := range scan(t, tx, span, txn.ScanOptions{}) {
					want = append(want, fmt.Sprint(i, " ", row))
				}
			}
			require.Equal(t, want, scanMany(t, tx, spans), "%q", spans)
			require.NoError(t, tx.Rollback(context.Background()))
		}
	})
}

// TestScanManyOpensOneIterator for all its spans.
func TestScanManyOpensOneIterator(t *testing.T) {
	engine := record.New(memkv.New(memkv.Options{}))
	s := openStore(t, engine, txn.Options{})
	var kvs []string
	var spans []kv.Span
	for c := 'a'; c <= 'z'; c++ {
		kvs = append(kvs, string(c), string(c))
		spans = append(spans, prefixSpan(string(c)))
	}
	commit(t, s, kvs...)
	slices.Reverse(spans)
	tx := begin(t, s)
	before := engine.Counts()
	require.Len(t, scanMany(t, tx, spans), 26)
	require.Equal(t, int64(1), engine.Since(before).Iters)
	require.NoError(t, tx.Rollback(t.Context()))
}

// TestScanManyNotesEachSpan and nothing between them: of two serializable transactions, each of
// which writes what the other has read, one is refused.
func TestScanManyNotesEachSpan(t *testing.T) {
	ctx := t.Context()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		commit(t, s, "a", "1", "c", "1", "e", "1")
		for key, ok := range map[string]bool{"ab": false, "b": true, "c": true, "d": true,
			"ef": false} {
			tx := beginIn(t, s, serializable)
			require.Len(t, scanMany(t, tx, []kv.Span{prefixSpan("e"), prefixSpan("a")}), 2)
			other := beginIn(t, s, serializable)
			get(t, other, "z")
			require.NoError(t, other.Set([]byte(key), []byte("2")))
			require.NoError(t, other.Commit(ctx))
			err := tx.Set([]byte("z"), nil)
			if err == nil {
				err = tx.Commit(ctx)
			}
			require.Equal(t, ok, !unserializable(err), "%s: %v", key, err)
			require.NoError(t, tx.Rollback(ctx))
			clean := begin(t, s)
			for _, k := range []string{"ab", "b", "d", "ef", "z"} {
				require.NoError(t, clean.Delete([]byte(k)))
			}
			require.NoError(t, clean.Commit(ctx))
		}
	})
}
