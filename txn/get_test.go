package txn_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

func getNewest(t testing.TB, s *txn.Store, key string) any {
	v, err := s.Get(context.Background(), []byte(key))
	require.NoError(t, err)
	if v == nil {
		return nil
	}
	return string(v)
}

// TestAReadWithoutATimestampDrawsNone counts draws and snapshots.
func TestAReadWithoutATimestampDrawsNone(t *testing.T) {
	for name, c := range map[string]struct {
		opts      memkv.Options
		snapshots int64 // of four reads
	}{
		"exclusive": {memkv.Options{}, 0}, "shared": {memkv.Options{Shared: true}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			rec := record.New(memkv.New(c.opts))
			oracle := &stepOracle{}
			s, err := openTxn(context.Background(), rec, txn.Options{Oracle: oracle})
			require.NoError(t, err)
			commit(t, s, "a", "1", "long", string(make([]byte, 1000)))
			tx := begin(t, s)
			require.NoError(t, tx.Set([]byte("gone"), nil))
			require.NoError(t, tx.Delete([]byte("gone")))
			require.NoError(t, tx.Commit(context.Background()))
			settled(t, s)
			require.Equal(t, "1", readOne(t, s, "a"))

			before, drawn := rec.Counts(), oracle.Now()
			require.Equal(t, "1", getNewest(t, s, "a"))
			require.Len(t, getNewest(t, s, "long"), 1000)
			require.Nil(t, getNewest(t, s, "gone"))
			require.Nil(t, getNewest(t, s, "absent"))
			require.Equal(t, c.snapshots, rec.Since(before).Snapshots)
			require.Equal(t, drawn, oracle.Now())

			commit(t, s, "a", "2")
			require.Equal(t, "2", getNewest(t, s, "a"))
			require.NoError(t, s.Close())
			_, err = s.Get(context.Background(), []byte("a"))
			require.ErrorIs(t, err, txn.ErrClosed)
		})
	}
}

// settled waits until no key is locked.
func settled(t testing.TB, s *txn.Store) {
	for locked := 1; locked > 0; {
		snap, err := s.Engine().Snapshot()
		require.NoError(t, err)
		locked = 0
		require.NoError(t, mvcc.Locks(context.Background(), snap, kv.Span{},
			func([]byte, mvcc.Lock) error {
				locked++
				return nil
			}))
		require.NoError(t, snap.Close())
	}
}

// TestAReadWithoutATimestampSettlesALock: the secondary of a committed transaction is locked still,
// and the commit was acknowledged.
func TestAReadWithoutATimestampSettlesALock(t *testing.T) {
	for _, shared := range []bool{false, true} {
		e := memkv.New(memkv.Options{Shared: shared})
		s, err := openTxn(context.Background(), e, txn.Options{Protocol: txn.TwoPhase})
		require.NoError(t, err)
		commit(t, s, "a", "1", "b", "1")
		settled(t, s)
		require.Equal(t, "1", readOne(t, s, "b"))
		require.NoError(t, s.Close())
		dying, err := openTxn(context.Background(), e, txn.Options{Protocol: txn.TwoPhase,
			CrashPoint: func(p txn.CrashPoint) bool { return p == txn.AfterCommitPoint }})
		require.NoError(t, err)
		require.Equal(t, "1", readOne(t, dying, "b"))
		tx := begin(t, dying)
		require.NoError(t, tx.Set([]byte("a"), []byte("2")))
		require.NoError(t, tx.Set([]byte("b"), []byte("2")))
		require.ErrorIs(t, tx.Commit(context.Background()), txn.ErrAbandoned)
		require.Equal(t, "2", getNewest(t, dying, "b"))
		require.NoError(t, dying.Close())
	}
}
