package secondaries

import (
	"context"
	"log/slog"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
)

// Options is what the background committer works with.
type Options struct {
	Engine    kv.Engine
	Memory    *hints.Hints
	BatchKeys int // locks that one update settles at most
	Logger    *slog.Logger
	Closing   <-chan struct{} // closed when the store begins to close
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

// commitTogether commits the secondaries of several transactions: the small ones of one group in
// one update. Where several have locked a row one after the other, only the present holder finds
// its lock.
func (c *Committer) commitTogether(ctx context.Context, all []Work) {
	var rows [][]byte
	small := all[:0:0]
	for _, w := range all {
		if len(all) == 1 || !c.isSmall(w) ||
			len(rows) > 0 && kv.GroupOf(c.opts.Engine, rows[0]) != kv.GroupOf(c.opts.Engine,
				w.Batches[0].Rows[0]) {
			c.commitBatches(ctx, w)
			continue
		}
		small = append(small, w)
		rows = append(rows, w.Batches[0].Rows...)
	}
	for _, w := range small {
		c.opts.Memory.Recent.Resolving(w.StartTS, w.CommitTS, w.Batches[0].Rows)
	}
	err := c.lazily(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		for i := range small {
			if err := small[i].commit(ctx, r, b, &small[i].Batches[0]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.opts.Logger.Warn("commit of secondaries left to readers", "transactions", len(small),
			"err", err)
		return
	}
	for _, w := range small {
		c.opts.Memory.LockHolders.Leave(w.StartTS)
	}
}

// isSmall reports whether the work is a few rows of one group.
func (c *Committer) isSmall(w Work) bool {
	return w.Streamed.End == nil && len(w.Batches) == 1 && len(w.Batches[0].Rows) > 0 &&
		len(w.Batches[0].Rows) <= c.opts.BatchKeys/secondariesTogether
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
