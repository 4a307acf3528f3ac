package secondaries

import (
	"context"
	"log/slog"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
)

// Options is what the background committer works with.
type Options struct {
	Engine  kv.Engine
	Limits  kv.Limits // of one update; Rows is not zero
	Memory  *hints.Hints
	Logger  *slog.Logger
	Closing <-chan struct{} // closed when the store begins to close
	// AtOnce has every lock settled before the call that hands it in returns.
	AtOnce bool
	// AfterBatch is called after each batch. An error of it ends the work on that transaction.
	AfterBatch func() error
}

// Committer settles the locks of decided transactions in the background.
type Committer struct {
	opts  Options
	queue chan Work // of small transactions
	large largeWork
}

// New returns a committer that does nothing yet.
func New(opts Options) *Committer {
	return &Committer{opts: opts, queue: make(chan Work, 256),
		large: largeWork{wake: make(chan struct{}, 1)}}
}

// End makes Run return once it has settled what is in the queue. No work may be
// handed in any more.
func (c *Committer) End() { close(c.queue) }

// secondariesTogether is how many transactions' secondaries the background commits in one update.
const secondariesTogether = 32

// Run settles what small transactions leave, until End. What waits in the queue meanwhile is
// settled together. When it returns the queue is empty, so that the next Open finds no locks of
// theirs.
func (c *Committer) Run(ctx context.Context) {
	ctx = context.WithoutCancel(ctx) // no update is broken off
	together := make([]Work, 0, secondariesTogether)
	for w := range c.queue {
		together = append(together[:0], w)
		for more := true; more && len(together) < secondariesTogether; {
			select {
			case w, more = <-c.queue:
				if more {
					together = append(together, w)
				}
			default:
				more = false
			}
		}
		c.commitTogether(ctx, together)
		clear(together)
	}
}

// commitTogether commits the secondaries of several transactions: the small ones of one group in as
// few updates as the limits allow.
func (c *Committer) commitTogether(ctx context.Context, all []Work) {
	var updates []together
	for _, w := range all {
		if len(all) == 1 || !c.isSmall(w) {
			c.commitBatches(ctx, w)
			continue
		}
		takes := func(t *together) bool { return t.add(c.opts.Engine, c.opts.Limits, w) }
		i := 0
		for i < len(updates) && !takes(&updates[i]) {
			i++
		}
		if i == len(updates) {
			updates = append(updates, together{})
			takes(&updates[i])
		}
	}
	for i := range updates {
		c.commitSmall(ctx, &updates[i])
	}
}

// smallRows is how many rows a transaction may have whose secondaries are committed together with
// those of others.
const smallRows = 128

// isSmall reports whether the work is a few rows of one group.
func (c *Committer) isSmall(w Work) bool {
	return w.Streamed.End == nil && len(w.Batches) == 1 && len(w.Batches[0].Rows) > 0 &&
		len(w.Batches[0].Rows) <= min(smallRows, c.opts.Limits.Rows)
}

// together is the work of several transactions, of one batch each, in one group.
type together struct {
	works      []Work
	rows       [][]byte
	ops, bytes int // that it writes at most
}

// add takes the work of one more transaction, and reports whether it goes into the same update. The
// first one does.
func (t *together) add(e kv.Engine, l kv.Limits, w Work) bool {
	b := &w.Batches[0]
	ops, bytes := t.ops, t.bytes
	for i := range b.Muts {
		n, size := mvcc.MostWritten(&b.Muts[i], nil)
		ops, bytes = ops+n, bytes+size
	}
	rows := len(t.rows) + len(b.Rows)
	if len(t.works) > 0 && (!l.Holds(rows, ops, bytes) ||
		kv.GroupOf(e, b.Rows[0]) != kv.GroupOf(e, t.rows[0])) {
		return false
	}
	t.works, t.rows, t.ops, t.bytes = append(t.works, w), append(t.rows, b.Rows...), ops, bytes
	return true
}

// commitSmall commits in one update. Where several transactions have locked a row one after the
// other, only the present holder finds its lock.
func (c *Committer) commitSmall(ctx context.Context, t *together) {
	for _, w := range t.works {
		c.opts.Memory.Recent.Resolving(w.StartTS, w.CommitTS, w.Batches[0].Rows)
	}
	err := kv.UpdateLazy(ctx, c.opts.Engine, t.rows, func(r kv.Reader, b *kv.Batch) error {
		for i := range t.works {
			if err := t.works[i].commit(ctx, r, b, &t.works[i].Batches[0]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.opts.Logger.Warn("commit of secondaries left to readers", "transactions", len(t.works),
			"err", err)
		return
	}
	for _, w := range t.works {
		c.opts.Memory.LockHolders.Leave(w.StartTS)
	}
}

// Add hands work to the background. What is large never keeps the caller; a few rows are settled
// here when the queue is full.
func (c *Committer) Add(ctx context.Context, w Work) {
	if !c.opts.AtOnce {
		if !w.isFew() {
			c.large.add(w)
			return
		}
		select {
		case c.queue <- w:
			return
		default:
		}
	}
	c.commitBatches(context.WithoutCancel(ctx), w)
}
