package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// deadLocks leaves so many locks of a transaction that died behind its commit point, or before it,
// and returns the store that was opened then.
func deadLocks(t *testing.T, keys int, committed bool, opts txn.Options) (*txn.Store,
	*kvtest.Steps) {
	t.Helper()
	ctx := context.Background()
	e := kvtest.NewSteps(memkv.New(memkv.Options{}))
	at := txn.AfterPrewrite
	if committed {
		at = txn.AfterCommitPoint
	}
	s, err := openTxn(ctx, e, txn.Options{
		Protocol: txn.TwoPhase, CrashPoint: func(p txn.CrashPoint) bool { return p == at },
	})
	require.NoError(t, err)
	tx := begin(t, s)
	for i := range keys {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "k%06d", i), []byte("v")))
	}
	require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
	require.NoError(t, s.Close())
	s, err = openTxn(ctx, e, opts)
	require.NoError(t, err)
	return s, e
}

// TestSettlingIsLinear counts the keys, and the marks of deleted ones, that are passed when the
// locks of a large transaction are settled by the collector, and by scans in both directions (O5).
func TestSettlingIsLinear(t *testing.T) {
	ctx := context.Background()
	scan := func(reverse bool) func(t *testing.T, s *txn.Store) {
		return func(t *testing.T, s *txn.Store) {
			tx := begin(t, s)
			it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{Reverse: reverse})
			require.NoError(t, err)
			for it.Next() {
			}
			require.NoError(t, it.Err())
			require.NoError(t, it.Close())
			require.NoError(t, tx.Rollback(ctx))
		}
	}
	for name, settle := range map[string]func(t *testing.T, s *txn.Store){
		"collection": func(t *testing.T, s *txn.Store) {
			_, err := s.CollectGarbage(ctx)
			require.NoError(t, err)
		},
		"scan":       scan(false),
		"reverse":    scan(true),
		"background": func(_ *testing.T, s *txn.Store) { s.AwaitSecondaries() },
	} {
		for _, committed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", name, committed), func(t *testing.T) {
				const keys = 4000
				s, e := deadLocks(t, keys, committed,
					txn.Options{LeaveFoundLocks: name != "background"})
				before := e.Steps()
				settle(t, s)
				require.Less(t, e.Steps()-before, int64(20*keys))
				require.NoError(t, s.Close())
			})
		}
	}
}

// TestACollectionBesideTheBackgroundIsLinear: of the two that settle the locks found at Open
// neither walks over what the other has settled.
func TestACollectionBesideTheBackgroundIsLinear(t *testing.T) {
	const keys = 4000
	for _, committed := range []bool{true, false} {
		s, e := deadLocks(t, keys, committed, txn.Options{})
		_, err := s.CollectGarbage(context.Background())
		require.NoError(t, err)
		s.AwaitSecondaries()
		require.Less(t, e.Steps(), int64(30*keys))
		require.NoError(t, s.Close())
	}
}

// TestSettlingBesideACommitIsLinear: between the first lock that a collection or a scan meets and
// the next one, another goroutine settles them all, as the background does behind a large commit.
func TestSettlingBesideACommitIsLinear(t *testing.T) {
	ctx := context.Background()
	for _, reverse := range []bool{false, true} {
		for _, collecting := range []bool{false, true} {
			t.Run(fmt.Sprintf("reverse %v/collecting %v", reverse, collecting), func(t *testing.T) {
				const keys = 4000
				var other *txn.Store
				opts := txn.Options{LeaveFoundLocks: true}
				beside := opts
				beside.CrashPoint = func(p txn.CrashPoint) bool {
					if o := other; o != nil && p == txn.AfterStatus {
						other = nil
						collect(t, o)
					}
					return false
				}
				s, e := deadLocks(t, keys, true, beside)
				o, err := openTxn(ctx, e, opts)
				require.NoError(t, err)
				before := e.Steps()
				other = o
				if collecting {
					collect(t, s)
				} else {
					tx := begin(t, s)
					it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{Reverse: reverse})
					require.NoError(t, err)
					n := 0
					for it.Next() {
						n++
					}
					require.NoError(t, errors.Join(it.Err(), it.Close(), tx.Rollback(ctx)))
					require.Equal(t, keys, n)
				}
				require.Less(t, e.Steps()-before, int64(20*keys))
				require.NoError(t, errors.Join(s.Close(), o.Close()))
			})
		}
	}
}
