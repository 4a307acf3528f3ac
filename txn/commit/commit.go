package commit

import (
	"context"

	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/tso"
)

// Commit commits a transaction that has streamed nothing out, and returns its commit_ts. With an
// error other than ErrAmbiguous and ErrAbandoned nothing of it is in the store, or will be seen.
func (co *Coordinator) Commit(ctx context.Context, tx Transaction, w Writes,
	checks Checks) (tso.Timestamp, error) {
	c := co.committer(tx, w)
	c.validate, c.reads = checks.Validate, checks.Reads
	defer func() { c.liveness.End() }()
	if err := c.run(ctx); err != nil {
		return 0, err
	}
	co.counts.routes[c.route].Add(1)
	return c.commitTS, nil
}

// Validate checks what must not have been changed, for a transaction that writes nothing.
func (co *Coordinator) Validate(ctx context.Context, tx Transaction, all []Validation) error {
	c := co.committer(tx, Writes{})
	c.validate = all
	return c.validateLocked(ctx, &lockwait.Backoff{})
}

// run chooses the protocol of the commit, once (txn: I15). Each step of it may be repeated: the
// second run finds the lock, the record or the rollback of the first. A commit in one phase whose
// result was lost is looked up and, if it is not there, prevented by a rollback record. It is never
// tried again in two phases, which would not find its record.
func (c *committer) run(ctx context.Context) error {
	if c.tx.Node != nil {
		if err := c.awaitRowLocks(ctx, c.Muts); err != nil {
			return err
		}
		if err := c.prepare(); err != nil {
			return err
		}
	}
	protocol := c.protocol()
	c.route = protocol
	if protocol == OnePhase {
		return c.onePhase(ctx)
	}
	if err := c.awaitRowLocks(ctx, c.Muts); err != nil {
		return err
	}
	c.prewriting = true
	if protocol == Async {
		return c.asyncCommit(ctx)
	}
	return c.twoPhase(ctx)
}

// protocol decides how the commit reaches the store. It is asked once (txn: I15).
func (c *committer) protocol() Protocol {
	switch p := c.tx.Protocol; {
	case p == OnePhase, p == Async && c.fewKeys():
		return p
	case p == Auto && c.drawer != nil && c.oneBatch() && c.oneGroup():
		return OnePhase
	}
	return TwoPhase
}

// fewKeys reports whether the keys of the commit fit into the primary's lock, and whether what it
// validates stays true until all locks are there: with one update that is the update itself, with
// several it cannot be known.
func (c *committer) fewKeys() bool {
	if len(c.Muts) > asyncKeysMax {
		return false
	}
	size := 0
	for i := range c.Muts[1:] {
		size += len(c.Muts[i+1].Key)
	}
	return size <= asyncBytesMax && (len(c.validate) == 0 || c.oneBatch() && c.oneGroup())
}
