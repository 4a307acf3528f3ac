package gc_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// put writes a committed version of a key.
func put(t *testing.T, e kv.Engine, key string, kind mvcc.Kind, startTS tso.Timestamp, size int) {
	row := mvcc.Row([]byte(key))
	m := []mvcc.Mutation{{Key: []byte(key), Row: row, Kind: kind, Value: make([]byte, size)}}
	require.NoError(t, e.Update(ctx, [][]byte{row}, func(_ kv.Reader, b *kv.Batch) error {
		mvcc.WriteOnePhase(b, startTS, startTS+1, m)
		return nil
	}))
}

// left returns what is in the store, as "key column ts".
func left(t *testing.T, e kv.Engine) (out []string) {
	snap, err := e.Snapshot()
	require.NoError(t, err)
	require.NoError(t, mvcc.Cells(ctx, snap, func(c mvcc.Cell) error {
		out = append(out, fmt.Sprintf("%s %s %s", c.Key, c.Column, c.TS))
		return nil
	}))
	require.NoError(t, snap.Close())
	return out
}

// settled is a Settler that must not be asked, or fails.
type settled struct{ err error }

func (s settled) Settle(context.Context, []byte, mvcc.Lock) ([]byte, int, error) {
	return nil, 0, s.err
}

func TestAPassKeepsTheNewestPutAtTheSafepoint(t *testing.T) {
	for name, opts := range map[string]memkv.Options{"one group": {}, "groups": {HashGroups: 4}} {
		t.Run(name, func(t *testing.T) {
			e := memkv.New(opts)
			put(t, e, "a", mvcc.KindPut, 1, 10)
			put(t, e, "a", mvcc.KindPut, 3, 500) // its data lies apart
			put(t, e, "a", mvcc.KindPut, 5, 10)
			put(t, e, "a", mvcc.KindPut, 9, 10)
			put(t, e, "b", mvcc.KindPut, 1, 500)
			put(t, e, "b", mvcc.KindDelete, 3, 0)
			put(t, e, "c", mvcc.KindPut, 1, 10)
			put(t, e, "c", mvcc.KindDelete, 9, 0)
			put(t, e, "d", mvcc.KindLock, 3, 0)
			put(t, e, "e", mvcc.KindPut, 1, 500)
			st, err := gc.Run(ctx, e, settled{errors.New("there is no lock")}, 7)
			require.NoError(t, err)
			require.Equal(t, []string{"e data 1", "a write 10", "a write 6", "c write 10", "c write 2", "e write 2"}, left(t, e))
			require.Equal(t, 5, st.Versions)
			again, err := gc.Run(ctx, e, settled{}, 7)
			require.NoError(t, err)
			require.Zero(t, again.Versions)
		})
	}
}

func TestALockThatCannotBeSettledStopsThePass(t *testing.T) {
	e := memkv.New(memkv.Options{})
	put(t, e, "a", mvcc.KindPut, 1, 10)
	put(t, e, "a", mvcc.KindPut, 3, 10)
	row := mvcc.Row([]byte("z"))
	require.NoError(t, e.Update(ctx, [][]byte{row}, func(r kv.Reader, b *kv.Batch) error {
		p := mvcc.PrewriteParams{StartTS: 4, Primary: []byte("z")}
		return mvcc.Prewrite(ctx, r, b, p, []mvcc.Mutation{{Key: []byte("z"), Row: row, Kind: mvcc.KindPut}})
	}))
	before := left(t, e)
	alive := errors.New("its owner lives")
	_, err := gc.Run(ctx, e, settled{alive}, 7)
	require.ErrorIs(t, err, alive)
	require.Equal(t, before, left(t, e), "locks first (txn: I6)")
	_, err = gc.Run(ctx, e, settled{alive}, 4)
	require.NoError(t, err, "the lock is not below this safepoint")
}
