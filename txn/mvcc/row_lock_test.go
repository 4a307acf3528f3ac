package mvcc_test

import (
	"context"
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

	places map[int]tso.Timestamp // of those that queue
}

func newRowQueue(t *testing.T) rowQueue {
	return rowQueue{t, memkv.New(memkv.Options{}), map[int]tso.Timestamp{}}
}

// anyMode is for a transaction that has forgotten in which mode it holds a row.
var anyMode = mvcc.RowModes(0).With(rowlock.KeyShare).With(rowlock.Share).With(
	rowlock.NoKeyUpdate).With(rowlock.Update)

func (q rowQueue) step(run func(r kv.Reader, b *kv.Batch, row []byte) error) error {
	return update(q.t, q.e, func(r kv.Reader, b *kv.Batch,
		rows [][]byte) error {
		return run(r, b, rows[0])
	}, "k")
}

func (q rowQueue) lock(startTS int, mode rowlock.Mode) error {
	return q.step(func(r kv.Reader, b *kv.Batch, _ []byte) error {
		h := mvcc.RowHolder{StartTS: ts(startTS), Mode: mode, Place: q.places[startTS]}
		_, err := mvcc.LockRow(ctx, r, b, []byte("k"),
			mvcc.RowRequest{RowHolder: h, Since: tso.Max})
		return err
	})
}

func (q rowQueue) queue(startTS int, mode rowlock.Mode) {
	if q.places[startTS] == 0 {
		q.places[startTS] = ts(100 + len(q.places))
	}
	require.NoError(q.t, q.step(func(_ kv.Reader, b *kv.Batch, row []byte) error {
		mvcc.QueueRow(b, row, mvcc.RowHolder{StartTS: ts(startTS), Mode: mode,
			Place: q.places[startTS]})
		return nil
	}))
}

func (q rowQueue) unlock(startTS int) {
	require.NoError(q.t, q.step(func(r kv.Reader, b *kv.Batch, row []byte) error {
		return mvcc.UnlockRows(ctx, r, b, ts(startTS), []mvcc.KeepRow{{Row: row, Had: anyMode}})
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

// TestAFreeRowGoesToTheFirstInItsQueue: each gets the row once, in the order of arrival. Holders of
// the row go before them, and so do requests that the holders allow.
func TestAFreeRowGoesToTheFirstInItsQueue(t *testing.T) {
	q := newRowQueue(t)
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
			return mvcc.ConvertRowLocks(ctx, r, b, ts(startTS), true, muts,
				func(*mvcc.Mutation) rowlock.Mode { return rowlock.NoKeyUpdate })
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

// TestATransactionLearnsHowManyQueueBeforeIt, so that it asks less often, whether the row has a
// holder or not. A long queue is not counted to its end.
func TestATransactionLearnsHowManyQueueBeforeIt(t *testing.T) {
	q := newRowQueue(t)
	before := func(startTS int) int {
		var locked *mvcc.RowLockedError
		require.ErrorAs(t, q.lock(startTS, rowlock.Update), &locked)
		return locked.Before
	}
	require.NoError(t, q.lock(1, rowlock.Update))
	require.Zero(t, before(2), "it does not queue")
	for startTS := 2; startTS < 40; startTS++ {
		q.queue(startTS, rowlock.Update)
	}
	for range 2 {
		require.Equal(t, 1, before(3))
		require.Equal(t, 7, before(9))
		require.Equal(t, before(38), before(39))
		q.unlock(1)
	}
	require.NoError(t, q.lock(2, rowlock.Update))
	require.Zero(t, before(3))
}

// TestWhoGivesUpLeavesTheQueue, and keeps what it held.
func TestWhoGivesUpLeavesTheQueue(t *testing.T) {
	q := newRowQueue(t)
	require.NoError(t, q.lock(5, rowlock.KeyShare))
	require.NoError(t, q.lock(6, rowlock.KeyShare))
	q.queue(6, rowlock.Update)
	require.NoError(t, q.step(func(r kv.Reader, b *kv.Batch, row []byte) error {
		k := mvcc.KeepRow{Row: row, Mode: rowlock.KeyShare, Had: anyMode, Place: q.places[6],
			Queued: rowlock.Update}
		return mvcc.UnlockRows(ctx, r, b, 6, []mvcc.KeepRow{k})
	}))
	q.waitsFor(q.lock(5, rowlock.Update), 6)
	q.unlock(6)
	q.unlock(5)
	require.NoError(t, q.lock(7, rowlock.Update))
}

// walked is a reader that counts the cells which its iterators stand on.
type walked struct {
	kv.Reader
	cells *int
}

type walkedIter struct {
	kv.Iterator
	cells *int
}

func (w walked) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	it, err := w.Reader.NewIter(ctx, span)
	return walkedIter{it, w.cells}, err
}

func (w walkedIter) count(ok bool) bool {
	if ok {
		*w.cells++
	}
	return ok
}

func (w walkedIter) SeekPrefixGE(key []byte) bool { return w.count(w.Iterator.SeekPrefixGE(key)) }
func (w walkedIter) Next() bool                   { return w.count(w.Iterator.Next()) }

// work is what a step writes, in bytes, and how many cells it walks over.
type work struct{ written, walked int }

func (q rowQueue) work(run func(r kv.Reader, b *kv.Batch, row []byte) error) (w work, err error) {
	err = q.step(func(r kv.Reader, b *kv.Batch, row []byte) error {
		w = work{}
		if err := run(walked{r, &w.walked}, b, row); err != nil {
			return err
		}
		for i := range b.Len() {
			key, value, _ := b.Op(i)
			w.written += len(key) + len(value)
		}
		return nil
	})
	return w, err
}

// TestALockThatIsThereIsWrittenAgain, so that an update which gives it back is not applied later.
func TestALockThatIsThereIsWrittenAgain(t *testing.T) {
	q := newRowQueue(t)
	for range 2 {
		w, err := q.work(func(r kv.Reader, b *kv.Batch, _ []byte) error {
			h := mvcc.RowHolder{StartTS: 5, Owner: 1, Mode: rowlock.Update}
			_, err := mvcc.LockRow(ctx, r, b, []byte("k"),
				mvcc.RowRequest{RowHolder: h, Since: tso.Max})
			return err
		})
		require.NoError(t, err)
		require.NotZero(t, w.written)
	}
}

// TestALateLockDoesNotFollowItsRelease: a lock that was made stronger is to be weaker again, but
// the update that made it so has not arrived. The release writes the row, so that it never does.
func TestALateLockDoesNotFollowItsRelease(t *testing.T) {
	q := newRowQueue(t)
	require.NoError(t, q.lock(1, rowlock.KeyShare))
	require.NoError(t, q.step(func(r kv.Reader, b *kv.Batch, row []byte) error {
		k := mvcc.KeepRow{Row: row, Mode: rowlock.KeyShare,
			Had: mvcc.RowModes(0).With(rowlock.KeyShare).With(rowlock.Update)}
		require.NoError(t, mvcc.UnlockRows(ctx, r, b, 1, []mvcc.KeepRow{k}))
		require.False(t, b.Empty())
		return nil
	}))
	require.Error(t, q.lock(2, rowlock.Update), "the weaker lock stays")
}

// TestAHolderCostsTheSameBesideAnyNumber: to lock a row that others have locked in a mode that goes
// together, to lock it anew, to update the row, and to give the lock back cost the same beside ten
// key share locks and beside ten thousand (B16).
func TestAHolderCostsTheSameBesideAnyNumber(t *testing.T) {
	const last = 1 << 20
	locks := func(mode, had rowlock.Mode) func(r kv.Reader, b *kv.Batch, row []byte) error {
		return func(r kv.Reader, b *kv.Batch, _ []byte) error {
			h := mvcc.RowHolder{StartTS: last, Owner: 1, Mode: mode, Client: 7,
				Statement: "SELECT 1"}
			_, err := mvcc.LockRow(ctx, r, b, []byte("k"),
				mvcc.RowRequest{RowHolder: h, Had: had, Since: tso.Max})
			return err
		}
	}
	steps := []func(r kv.Reader, b *kv.Batch, row []byte) error{
		locks(rowlock.KeyShare, rowlock.None),
		locks(rowlock.KeyShare, rowlock.KeyShare),
		locks(rowlock.NoKeyUpdate, rowlock.KeyShare),
		func(r kv.Reader, b *kv.Batch, row []byte) error {
			k := mvcc.KeepRow{Row: row, Mode: rowlock.KeyShare, Had: anyMode}
			return mvcc.UnlockRows(ctx, r, b, last, []mvcc.KeepRow{k})
		},
		func(r kv.Reader, b *kv.Batch, row []byte) error {
			muts := []mvcc.Mutation{{Key: []byte("k"), Row: row, Kind: mvcc.KindPut}}
			return mvcc.ConvertRowLocks(ctx, r, b, last, true, muts,
				func(*mvcc.Mutation) rowlock.Mode { return rowlock.NoKeyUpdate })
		},
		locks(rowlock.KeyShare, rowlock.None),
		func(r kv.Reader, b *kv.Batch, row []byte) error {
			k := mvcc.KeepRow{Row: row, Had: mvcc.RowModes(0).With(rowlock.KeyShare)}
			return mvcc.UnlockRows(ctx, r, b, last, []mvcc.KeepRow{k})
		},
	}
	q := newRowQueue(t)
	var want []work
	holders := 0
	for _, n := range []int{10, 10_000} {
		for ; holders < n; holders++ {
			require.NoError(t, q.lock(1+holders, rowlock.KeyShare))
		}
		var got []work
		for _, run := range steps {
			w, err := q.work(run)
			require.NoError(t, err)
			got = append(got, w)
		}
		if want == nil {
			want = got
		}
		require.Equal(t, want, got, "beside %d", n)
	}
	require.Empty(t, problems(t, q.e))
	for _, w := range want {
		require.Less(t, w.written, 200)
		require.Less(t, w.walked, 3)
	}
	_, err := q.work(locks(rowlock.Update, rowlock.None))
	var locked *mvcc.RowLockedError
	require.ErrorAs(t, err, &locked)
	require.Len(t, locked.Holders, holders)
}
