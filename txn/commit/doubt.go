package commit

import (
	"context"
	"errors"
	"math"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/wait"
)

// A commit whose update returned an unknown result may be applied later (kv's contract), at a
// commit_ts that was drawn before. So it stays in the table of commits in flight until its status
// is known: a reader that was let through before would miss it, and see it on a second read (txn:
// I2). The coordinator asks for the status for a while. Then its caller gets ErrAmbiguous, and the
// background goes on asking.

// learn asks once for the status of a commit. Without an error it is known, and cannot change.
type learn func(ctx context.Context) error

// leaveLater takes commits out of the table in flight once their status is known, or can never be.
// Requires: the commit is under way, so that Wait has not been called.
func (co *Coordinator) leaveLater(doubtful []*hints.Pending, ask learn) {
	co.askers.Go(func() {
		err := co.learnAtLast(ask)
		for _, p := range doubtful {
			p.Lost = err
			co.o.Memory.InFlight.Leave(p)
		}
	})
}

// learnAtLast asks until the status is known. An error means that the store is closing or has
// failed, so that it is not read any more.
func (co *Coordinator) learnAtLast(ask learn) error {
	bo := wait.Backoff{Limit: math.MaxInt64, Closing: co.o.Closing}
	for {
		if _, err := bo.Wait(context.Background()); err != nil {
			return err
		}
		ctx, cancel := wait.Detached(context.Background())
		err := ask(ctx)
		cancel()
		if err == nil || errors.Is(err, kv.ErrFailed) || errors.Is(err, kv.ErrClosed) {
			return err
		}
	}
}
