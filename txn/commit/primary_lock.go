package commit

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/wait"
)

// ttl returns the time to live of a lock that is written now, counted from start_ts: the lock of a
// transaction that began long ago must not have expired when it is written.
func (c *committer) ttl(ctx context.Context) (uint64, error) {
	now, err := c.o.Now(ctx)
	if err != nil {
		return 0, err
	}
	age := max(0, now.Physical()-c.startTS.Physical())
	return uint64(age + c.o.LockTTL.Milliseconds()), nil
}

// beat extends the time to live of the primary's lock when half of it is over: a transaction of
// many batches needs longer than the first prewrite allowed.
func (c *committer) beat(ctx context.Context) error {
	if c.o.Peers == nil {
		return nil
	}
	now, err := c.o.Now(ctx)
	if err != nil {
		return err
	}
	if c.lastBeat.CompareAndSwap(0, now.Physical()) ||
		now.Physical()-c.lastBeat.Load() < c.o.LockTTL.Milliseconds()/2 {
		return nil
	}
	c.lastBeat.Store(now.Physical())
	return c.heartbeat(ctx)
}

// heartbeat shows that the owner lives, which on an exclusive engine is known.
func (c *committer) heartbeat(ctx context.Context) error {
	if c.o.Peers == nil {
		return nil
	}
	ttl, err := c.ttl(ctx)
	if err != nil {
		return err
	}
	owner, err := c.o.Owner(ctx)
	if err != nil {
		return err
	}
	p := mvcc.PrewriteParams{StartTS: c.startTS, Primary: c.primary(), TTLMillis: ttl, Owner: owner}
	rows := [][]byte{c.first()[0].Row}
	err = kv.UpdateLazy(ctx, c.o.Engine, rows, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.Heartbeat(ctx, r, b, p)
	})
	var rolled *mvcc.RolledBackError
	if errors.As(err, &rolled) {
		return nil // not there yet, or rolled back: the next prewrite or the commit point fails
	}
	return err
}

// decides notes in the primary's lock that the owner is about to draw commit_ts, so that readers at
// or above its lowest commit timestamp wait, or that it is not any more. Requires for yes: all is
// prewritten.
func (c *committer) decides(ctx context.Context, yes bool) error {
	if c.deciding == yes {
		return nil
	}
	first := c.first()[0]
	for attempts := 1; ; attempts++ {
		unknown, err := kv.AttemptLazy(ctx, c.o.Engine, [][]byte{first.Row},
			func(r kv.Reader, b *kv.Batch) error {
				return mvcc.Decide(ctx, r, b, first.Key, c.startTS, yes)
			})
		if err == nil {
			c.deciding = yes
			return c.beat(ctx)
		}
		if !unknown || attempts == wait.UnknownAttempts || ctx.Err() != nil {
			return err
		}
	}
}
