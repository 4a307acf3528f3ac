package gc_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
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
			st, err := runPass(ctx, e, settled{errors.New("there is no lock")}, 7)
			require.NoError(t, err)
			require.Equal(t, []string{"e data 1", "a write 10", "a write 6", "c write 10",
				"c write 2", "e write 2"}, left(t, e))
			require.Equal(t, 5, st.Versions)
			again, err := runPass(ctx, e, settled{}, 7)
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
		return mvcc.Prewrite(ctx, r, b, p,
			[]mvcc.Mutation{{Key: []byte("z"), Row: row, Kind: mvcc.KindPut}})
	}))
	before := left(t, e)
	alive := errors.New("its owner lives")
	_, err := runPass(ctx, e, settled{alive}, 7)
	require.ErrorIs(t, err, alive)
	require.Equal(t, before, left(t, e), "locks first (txn: I6)")
	_, err = runPass(ctx, e, settled{alive}, 4)
	require.NoError(t, err, "the lock is not below this safepoint")
}

// bounded is an engine that looks at each update of the collector.
type bounded struct {
	*memkv.Engine
	t       *testing.T
	updates int
	after   func()
}

func (e *bounded) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	err := e.Engine.UpdateLazy(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		err := step(r, b)
		require.LessOrEqual(e.t, b.Len(), 2*4096+2)
		return err
	})
	e.updates++
	e.after()
	return err
}

// TestAHotRowIsCollectedInBoundedUpdates: between two of them a reader at the safepoint sees what
// it saw before: a removal stays until all that it hides is gone.
func TestAHotRowIsCollectedInBoundedUpdates(t *testing.T) {
	for _, newest := range []mvcc.Kind{mvcc.KindPut, mvcc.KindDelete} {
		e := &bounded{Engine: memkv.New(memkv.Options{}), t: t}
		const versions = 10_000
		for i := range tso.Timestamp(versions) {
			kind := mvcc.KindPut
			if i == versions-1 {
				kind = newest
			}
			put(t, e.Engine, "hot", kind, 2*i+1, 5+300*int(i%50/49))
		}
		put(t, e.Engine, "hot", mvcc.KindPut, 2*versions+10, 5) // above the safepoint
		put(t, e.Engine, "z", mvcc.KindPut, 1, 5)
		put(t, e.Engine, "z", mvcc.KindPut, 3, 5)
		safepoint := tso.Timestamp(2*versions + 5)
		e.after = func() {
			snap, err := e.Snapshot()
			require.NoError(t, err)
			var v mvcc.View
			v.Init(snap)
			value, err := v.Get(ctx, []byte("hot"),
				mvcc.ReadParams{StartTS: safepoint, NoLocks: true})
			require.NoError(t, err)
			require.Equal(t, newest == mvcc.KindPut, value != nil)
			require.NoError(t, v.Close())
			require.NoError(t, snap.Close())
		}
		st, err := runPass(ctx, e, settled{errors.New("there is no lock")}, safepoint)
		require.NoError(t, err)
		// of hot the put at the safepoint stays, the later one, and z's
		dropped, cells := versions-1, 3
		if newest == mvcc.KindDelete {
			dropped, cells = versions, 2
		}
		require.Equal(t, dropped+1, st.Versions)
		require.Len(t, left(t, e.Engine), cells+newestData(newest))
		require.Greater(t, e.updates, 2)
	}
}

// newestData is how many data cells the newest version at the safepoint has: its value is long.
func newestData(kind mvcc.Kind) int {
	if kind == mvcc.KindPut {
		return 1
	}
	return 0
}

// TestDenseSpansAreRewritten: once almost all rows of a span are gone, a reader does not step over
// the marks of those (O23); where most are left, the engine is not asked to rewrite anything.
func TestDenseSpansAreRewritten(t *testing.T) {
	for _, gone := range []bool{true, false} {
		e := kvtest.NewSteps(memkv.New(memkv.Options{}))
		const rows = 20_000
		for i := range rows {
			key := fmt.Sprintf("k%06d", i)
			put(t, e, key, mvcc.KindPut, 1, 5)
			if gone && i%1000 != 0 {
				put(t, e, key, mvcc.KindDelete, 3, 0)
			} else {
				put(t, e, key, mvcc.KindPut, 3, 5)
			}
		}
		pass := gc.NewPass(7)
		for done := false; !done; {
			var err error
			done, err = pass.Step(ctx, e, settled{}, 4000)
			require.NoError(t, err)
		}
		before := e.Steps()
		cells := len(left(t, e))
		if gone {
			require.Equal(t, rows/1000, cells)
			require.Less(t, e.Steps()-before, int64(rows/10))
		} else {
			require.Equal(t, rows, cells)
			require.Greater(t, e.Steps()-before, int64(3*rows/2))
		}
	}
}

// runPass makes one pass at once.
func runPass(ctx context.Context, e kv.Engine, settler gc.Settler,
	safepoint tso.Timestamp) (gc.Stats, error) {
	p := gc.NewPass(safepoint)
	_, err := p.Step(ctx, e, settler, 0)
	return p.Stats, err
}
