package mvcc_test

import (
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

func ts(n int) tso.Timestamp { return tso.Timestamp(n) }

type step = func(kv.Reader, *kv.Batch, [][]byte) error

func commitStep(startTS, commitTS int) step {
	return func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
		return mvcc.Commit(ctx, r, b, ts(startTS), ts(commitTS), rows)
	}
}

func rollbackStep(startTS int) step {
	return func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
		return mvcc.Rollback(ctx, r, b, ts(startTS), rows, false)
	}
}

func resolveStep(startTS, commitTS int) step {
	return func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
		return mvcc.Resolve(ctx, r, b, ts(startTS), ts(commitTS), rows)
	}
}

// TestStepsMayBeRepeated runs each step twice: the second run succeeds and changes nothing.
func TestStepsMayBeRepeated(t *testing.T) {
	locked := func(t *testing.T, e kv.Engine) {
		require.NoError(t, update(t, e, prewrite(5, "a", []byte("v"), "a", "b"), "a", "b"))
	}
	for name, c := range map[string]struct {
		setup func(*testing.T, kv.Engine)
		step  step
	}{
		"prewrite": {func(*testing.T, kv.Engine) {},
			prewrite(5, "a", make([]byte, 300), "a", "b")},
		"commit":              {locked, commitStep(5, 6)},
		"rollback":            {locked, rollbackStep(5)},
		"rollback of nothing": {func(*testing.T, kv.Engine) {}, rollbackStep(5)},
		"roll forward":        {locked, resolveStep(5, 6)},
		"roll back":           {locked, resolveStep(5, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			e := memkv.New(memkv.Options{})
			c.setup(t, e)
			require.NoError(t, update(t, e, c.step, "a", "b"))
			once := kvtest.Dump(t, e)
			require.NotEmpty(t, once)
			require.NoError(t, update(t, e, c.step, "a", "b"))
			require.Equal(t, once, kvtest.Dump(t, e))
			require.Empty(t, problems(t, e))
		})
	}
}

// TestTheEndOfATransactionIsFinal tries to turn each end into the other (txn: I3).
func TestTheEndOfATransactionIsFinal(t *testing.T) {
	var (
		rolled    *mvcc.RolledBackError
		committed *mvcc.CommittedError
	)
	e := memkv.New(memkv.Options{})
	require.NoError(t, update(t, e, prewrite(5, "a", []byte("v"), "a"), "a"))
	require.NoError(t, update(t, e, commitStep(5, 6), "a"))
	require.ErrorAs(t, update(t, e, rollbackStep(5), "a"), &committed)
	require.Equal(t, ts(6), committed.CommitTS)
	require.ErrorAs(t, update(t, e, prewrite(5, "a", []byte("v"), "a"), "a"), &committed)

	require.NoError(t, update(t, e, prewrite(7, "b", []byte("v"), "b"), "b"))
	require.NoError(t, update(t, e, rollbackStep(7), "b"))
	require.ErrorAs(t, update(t, e, commitStep(7, 8), "b"), &rolled)
	require.ErrorAs(t, update(t, e, prewrite(7, "b", []byte("v"), "b"), "b"), &rolled)
	require.ErrorAs(t, update(t, e, commitStep(9, 10), "c"), &rolled, "never prewritten")
	require.Empty(t, problems(t, e))
}

// TestAnInsertLooksThroughLocksAndRollbacks: records of these kinds hide no value.
func TestAnInsertLooksThroughLocksAndRollbacks(t *testing.T) {
	insert := func(startTS int) step {
		return func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
			m := mvcc.Mutation{Key: []byte("a"), Row: rows[0], Kind: mvcc.KindPut,
				MustNotExist: true}
			return mvcc.Prewrite(ctx, r, b,
				mvcc.PrewriteParams{StartTS: ts(startTS), Primary: m.Key}, []mvcc.Mutation{m})
		}
	}
	lockOnly := func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
		m := mvcc.Mutation{Key: []byte("a"), Row: rows[0], Kind: mvcc.KindLock}
		return mvcc.Prewrite(ctx, r, b, mvcc.PrewriteParams{StartTS: 7, Primary: m.Key},
			[]mvcc.Mutation{m})
	}
	e := memkv.New(memkv.Options{})
	require.NoError(t, update(t, e, prewrite(5, "a", []byte("v"), "a"), "a"))
	require.NoError(t, update(t, e, commitStep(5, 6), "a"))
	require.NoError(t, update(t, e, lockOnly, "a"))
	require.NoError(t, update(t, e, commitStep(7, 8), "a"))
	require.NoError(t, update(t, e, rollbackStep(9), "a"))
	var exists *mvcc.AlreadyExistsError
	require.ErrorAs(t, update(t, e, insert(10), "a"), &exists)

	var conflict *mvcc.WriteConflictError
	require.ErrorAs(t, update(t, e, prewrite(6, "a", []byte("v"), "a"), "a"), &conflict)
	require.Equal(t, ts(8), conflict.ConflictTS, "conflict checks see a record of kind lock")

	snap, err := e.Snapshot()
	require.NoError(t, err)
	var v mvcc.View
	v.Init(snap)
	got, err := v.Get(ctx, []byte("a"), mvcc.ReadParams{StartTS: 20})
	require.NoError(t, err)
	require.Equal(t, "v", string(got), "readers look through it")
	require.NoError(t, v.Close())
	require.NoError(t, snap.Close())
}

func TestHeartbeatExtendsOnlyTheLiving(t *testing.T) {
	beat := func(startTS int, ttl uint64) step {
		return func(r kv.Reader, b *kv.Batch, _ [][]byte) error {
			return mvcc.Heartbeat(ctx, r, b,
				mvcc.PrewriteParams{Primary: []byte("a"), StartTS: ts(startTS), TTLMillis: ttl})
		}
	}
	ttl := func(e kv.Engine) (out uint64) {
		snap, err := e.Snapshot()
		require.NoError(t, err)
		require.NoError(t, mvcc.Locks(ctx, snap, kv.Span{}, func(_ []byte, l mvcc.Lock) error {
			out = l.TTLMillis
			return nil
		}))
		require.NoError(t, snap.Close())
		return out
	}
	e := memkv.New(memkv.Options{})
	require.NoError(t, update(t, e, prewrite(5, "a", []byte("v"), "a"), "a"))
	require.NoError(t, update(t, e, beat(5, 9000), "a"))
	require.Equal(t, uint64(9000), ttl(e))
	require.NoError(t, update(t, e, beat(5, 10), "a"))
	require.Equal(t, uint64(9000), ttl(e), "never shortened")
	require.NoError(t, update(t, e, commitStep(5, 6), "a"))
	var committed *mvcc.CommittedError
	require.ErrorAs(t, update(t, e, beat(5, 9000), "a"), &committed)
	var rolled *mvcc.RolledBackError
	require.ErrorAs(t, update(t, e, beat(7, 9000), "a"), &rolled)
}
