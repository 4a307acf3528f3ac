package mvcc_test

import (
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// rowQueue plays the steps of row locks on one row.
type rowQueue struct {
	t *testing.T
	e kv.Engine
}

func (q rowQueue) step(run func(r kv.Reader, b *kv.Batch, row []byte) error) error {
	return update(q.t, q.e, func(r kv.Reader, b *kv.Batch, rows [][]byte) error { return run(r, b, rows[0]) }, "k")
}

func (q rowQueue) lock(startTS int, mode rowlock.Mode) error {
	return q.step(func(r kv.Reader, b *kv.Batch, _ []byte) error {
		_, err := mvcc.LockRow(ctx, r, b, []byte("k"), mvcc.RowHolder{StartTS: ts(startTS), Mode: mode}, tso.Max,
			func(mvcc.RowHolder) bool { return false })
		return err
	})
}

func (q rowQueue) queue(startTS int, mode rowlock.Mode) {
	require.NoError(q.t, q.step(func(r kv.Reader, b *kv.Batch, row []byte) error {
		return mvcc.QueueRow(ctx, r, b, row, mvcc.RowHolder{StartTS: ts(startTS), Mode: mode})
	}))
}

func (q rowQueue) unlock(startTS int) {
	require.NoError(q.t, q.step(func(r kv.Reader, b *kv.Batch, row []byte) error {
		return mvcc.UnlockRows(ctx, r, b, ts(startTS), []mvcc.KeepRow{{Row: row}})
	}))
}

// waitsFor fails unless the answer was that these are in the way.
func (q rowQueue) waitsFor(err error, startTSs ...int) {
	q.t.Helper()
	var locked *mvcc.RowLockedError
	require.ErrorAs(q.t, err, &locked)
	var got []int
	for _, h := range locked.Holders {
		got = append(got, int(h.StartTS))
	}
	require.Equal(q.t, startTSs, got)
}

// TestAFreeRowGoesToWhoCameFirst: to its queue each comes once, in the order of arrival. Who holds the row
// goes before them, and so does who gets it beside a holder.
func TestAFreeRowGoesToWhoCameFirst(t *testing.T) {
	q := rowQueue{t, memkv.New(memkv.Options{})}
	require.NoError(t, q.lock(5, rowlock.KeyShare))
	q.queue(9, rowlock.Update)
	q.queue(4, rowlock.NoKeyUpdate)
	q.queue(9, rowlock.Update)
	q.waitsFor(q.lock(9, rowlock.Update), 5)
	require.NoError(t, q.lock(7, rowlock.KeyShare), "beside who holds it")
	q.unlock(7)
	require.NoError(t, q.lock(5, rowlock.Update), "who holds it already")
	q.unlock(5)

	q.waitsFor(q.lock(6, rowlock.Update), 9, 4)
	q.waitsFor(q.lock(6, rowlock.KeyShare), 9)
	q.waitsFor(q.lock(4, rowlock.NoKeyUpdate), 9)
	write := func(startTS int) error {
		return q.step(func(r kv.Reader, b *kv.Batch, row []byte) error {
			muts := []mvcc.Mutation{{Key: []byte("k"), Row: row, Kind: mvcc.KindPut}}
			return mvcc.ConvertRowLocks(ctx, r, b, ts(startTS), muts, func(*mvcc.Mutation) rowlock.Mode { return rowlock.NoKeyUpdate })
		})
	}
	q.waitsFor(write(6), 9, 4)
	require.NoError(t, q.lock(9, rowlock.Update), "the first")
	q.waitsFor(q.lock(4, rowlock.NoKeyUpdate), 9)
	require.NoError(t, write(9))
	require.NoError(t, write(4), "the next, which writes at once")
	require.NoError(t, q.lock(6, rowlock.Update), "nobody queues any more")
	require.Empty(t, problems(t, q.e))
}

// TestWhoGivesUpLeavesTheQueue, and keeps what it held.
func TestWhoGivesUpLeavesTheQueue(t *testing.T) {
	q := rowQueue{t, memkv.New(memkv.Options{})}
	require.NoError(t, q.lock(5, rowlock.KeyShare))
	require.NoError(t, q.lock(6, rowlock.KeyShare))
	q.queue(6, rowlock.Update)
	require.NoError(t, q.step(func(r kv.Reader, b *kv.Batch, row []byte) error {
		return mvcc.UnlockRows(ctx, r, b, 6, []mvcc.KeepRow{{Row: row, Mode: rowlock.KeyShare}})
	}))
	q.waitsFor(q.lock(5, rowlock.Update), 6)
	q.unlock(6)
	q.unlock(5)
	require.NoError(t, q.lock(7, rowlock.Update))
}
