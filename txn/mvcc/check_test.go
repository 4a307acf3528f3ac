package mvcc_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/mvcc/mvcctest"
	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

// update runs a step on the rows of the keys.
func update(t testing.TB, e kv.Engine, step func(r kv.Reader, b *kv.Batch, rows [][]byte) error,
	keys ...string) error {
	var rows [][]byte
	for _, k := range keys {
		rows = append(rows, mvcc.Row([]byte(k)))
	}
	return e.Update(ctx, rows, func(r kv.Reader, b *kv.Batch) error { return step(r, b, rows) })
}

func prewrite(startTS int, primary string, value []byte, keys ...string) func(kv.Reader, *kv.Batch,
	[][]byte) error {
	return func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
		var muts []mvcc.Mutation
		for i, k := range keys {
			muts = append(muts,
				mvcc.Mutation{Key: []byte(k), Row: rows[i], Kind: mvcc.KindPut, Value: value})
		}
		p := mvcc.PrewriteParams{StartTS: ts(startTS), Primary: []byte(primary), TTLMillis: 1000}
		return mvcc.Prewrite(ctx, r, b, p, muts)
	}
}

func problems(t *testing.T, e kv.Engine) (out []string) {
	snap, err := e.Snapshot()
	require.NoError(t, err)
	require.NoError(t, mvcctest.Check(ctx, snap, func(p string) { out = append(out, p) }))
	require.NoError(t, snap.Close())
	return out
}

func TestCheckFindsWhatShouldNotBe(t *testing.T) {
	e := memkv.New(memkv.Options{})
	require.NoError(t, update(t, e, prewrite(1, "a", make([]byte, 300), "a", "b"), "a", "b"))
	require.NoError(t, update(t, e, func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
		return mvcc.Commit(ctx, r, b, 1, 2, rows)
	}, "a"))
	require.Empty(t, problems(t, e), "a secondary that waits to be rolled forward is in order")

	require.NoError(t, update(t, e, prewrite(3, "nowhere", []byte("v"), "c"), "c"))
	require.Equal(t, []string{`key "c": orphan lock of transaction 3, primary "nowhere"`},
		problems(t, e))

	// Take the data of a away.
	snap, err := e.Snapshot()
	require.NoError(t, err)
	it, err := snap.NewIter(ctx, kv.Span{Start: []byte("d"), End: []byte("e")})
	require.NoError(t, err)
	require.True(t, it.First())
	dataKey := append([]byte(nil), it.Key()...)
	require.NoError(t, it.Close())
	require.NoError(t, snap.Close())
	require.NoError(t, e.Update(ctx, [][]byte{kv.Row(dataKey)},
		func(_ kv.Reader, b *kv.Batch) error {
			b.Delete(dataKey)
			b.Set(append(append([]byte(nil), dataKey[:len(dataKey)-1]...), 0), []byte("stray"))
			return nil
		}))
	require.Equal(t, []string{
		`key "a": no data at 1`,
		`key "a": data at 255 that nothing points at`,
		`key "c": orphan lock of transaction 3, primary "nowhere"`,
	}, problems(t, e))
}

// TestALateLookLeavesARollbackBesideANotification: a resolver that met a lock long ago asks the
// primary when its record has been collected. What it leaves there says nothing about the
// notification, which has the stamp of the commit.
func TestALateLookLeavesARollbackBesideANotification(t *testing.T) {
	e := memkv.New(memkv.Options{})
	write := func(startTS, commitTS int, note bool) {
		require.NoError(t, update(t, e, func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
			m := mvcc.Mutation{Key: []byte("a"), Row: rows[0], Kind: mvcc.KindPut}
			if note {
				m.Notes = []mvcc.Note{{Observer: 1}}
			}
			mvcc.WriteOnePhase(b, ts(startTS), ts(commitTS), []mvcc.Mutation{m})
			return nil
		}, "a"))
	}
	write(1, 2, true)
	write(3, 4, false)
	require.NoError(t, update(t, e, func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
		_, err := mvcc.Collect(ctx, r, b, 4, rows)
		return err
	}, "a"))
	require.NoError(t, update(t, e, func(r kv.Reader, b *kv.Batch, _ [][]byte) error {
		st, err := mvcc.CheckStatus(ctx, r, b, mvcc.StatusParams{Primary: []byte("a"), StartTS: 1,
			Now: 5, RollBackMissing: true})
		require.True(t, st.RolledBack)
		return err
	}, "a"))
	require.Empty(t, problems(t, e))

	require.NoError(t, update(t, e, func(r kv.Reader, b *kv.Batch, rows [][]byte) error {
		return mvcc.Rollback(ctx, r, b, 6, rows, false)
	}, "a"))
	require.NoError(t, update(t, e, func(_ kv.Reader, b *kv.Batch, rows [][]byte) error {
		mvcc.Announce(b, rows, 1, 6)
		return nil
	}, "a"))
	require.Equal(t, []string{`key "a": notification of transaction 6 is stamped 6, its record ` +
		`is at 0`}, problems(t, e))
}
