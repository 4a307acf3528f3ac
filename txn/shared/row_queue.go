package shared

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/wait"
)

// The queue of a row in the store, for transactions that have waited there for long (txn: I22).

const (
	// queueAfter is how long a transaction tries to get a row before it queues for it in the
	// store. Until then a transaction that tries at the right moment gets the row, and need not
	// wait for the next attempt of another one. But without a queue, a process whose own
	// transactions hand a row on to each other in memory would keep all others from it for ever.
	queueAfter = 100 * time.Millisecond
	// queuedBackoff is the longest pause between its attempts from then on, because others wait
	// for it, if it is the next. For each transaction that queues before it the pause is as much
	// longer, up to queuedFar times: of a long queue few ask the store at a time.
	queuedBackoff = 10 * time.Millisecond
	queuedFar     = 10
)

// queuedPause is the longest pause between the attempts of a transaction that queues behind so many
// others.
func queuedPause(before int) time.Duration {
	return queuedBackoff * time.Duration(min(1+before, queuedFar))
}

// queueInStore puts the transaction into the row's queue, where LockRow finds it.
func (l *RowLocks) queueInStore(ctx context.Context, q *Request) error {
	h, err := l.rowHolder(ctx, q)
	if err != nil {
		return err
	}
	if h.Place, err = l.p.o.Source.Next(ctx); err != nil {
		return err
	}
	row := mvcc.Row(q.Key)
	rows := [][]byte{row}
	unknown, err := kv.AttemptLazy(ctx, l.p.o.Engine, rows, func(_ kv.Reader, b *kv.Batch) error {
		mvcc.QueueRow(b, row, h)
		return nil
	})
	if err == nil || unknown {
		q.place = h.Place
	}
	if unknown && ctx.Err() == nil {
		return nil // without a place the transaction waits as before
	}
	return err
}

// leaveQueue takes the transaction out of the queue, without the row.
func (l *RowLocks) leaveQueue(q *Request) {
	ctx, cancel := wait.Detached(context.Background())
	defer cancel()
	k := mvcc.KeepRow{
		Row: mvcc.Row(q.Key), Mode: q.before, Had: mvcc.RowModes(0).With(q.stored()),
		Place: q.place, Queued: q.stored(),
	}
	err := l.p.unlockRows(ctx, l.startTS, []mvcc.KeepRow{k})
	if err == nil || errors.Is(err, kv.ErrClosed) {
		return
	}
	l.p.o.Logger.Warn("a place in the queue of a row could not be given back yet",
		"start_ts", l.startTS, "err", err)
	// The row lock itself, if there is one, is in the log. The transaction may take it again.
	k.Mode, k.Had = rowlock.Update, 0
	l.p.leave([]leftRows{{startTS: l.startTS, rows: []mvcc.KeepRow{k}}})
}
