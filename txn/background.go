package txn

import (
	"context"

	"github.com/minidb/minidb/kv"
)

// secondariesTogether is how many transactions' secondaries the background commits in one update.
const secondariesTogether = 32

// commitSecondaries is the background committer. What waits in the queue meanwhile is committed
// together. It ends when Close closes the queue, and has then committed what small transactions
// have left there, so that the next Open finds no locks of theirs. Large ones have a goroutine of
// their own (large_work.go).
func (s *Store) commitSecondaries(ctx context.Context) {
	ctx = context.WithoutCancel(ctx) // no update is broken off
	together := make([]secondaryWork, 0, secondariesTogether)
	for w := range s.secondaries {
		together = append(together[:0], w)
		for more := true; more && len(together) < secondariesTogether; {
			select {
			case w, more = <-s.secondaries:
				if more {
					together = append(together, w)
				}
			default:
				more = false
			}
		}
		s.commitTogether(ctx, together)
		clear(together)
	}
}

// commitTogether commits the secondaries of several transactions: the small ones of one group in
// one update. Of those that lock the same row one after the other only the present holder finds its
// lock.
func (s *Store) commitTogether(ctx context.Context, all []secondaryWork) {
	var rows [][]byte
	small := all[:0:0]
	for _, w := range all {
		if len(all) == 1 || !s.isSmall(w) ||
			len(rows) > 0 && kv.GroupOf(s.engine, rows[0]) != kv.GroupOf(s.engine,
				w.batches[0].rows[0]) {
			s.commitBatches(ctx, w)
			continue
		}
		small = append(small, w)
		rows = append(rows, w.batches[0].rows...)
	}
	for _, w := range small {
		s.memory.Recent.Resolving(w.startTS, w.commitTS, w.batches[0].rows)
	}
	err := s.lazily(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		for i := range small {
			if err := small[i].commit(ctx, r, b, &small[i].batches[0]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.opts.Logger.Warn("commit of secondaries left to readers", "transactions", len(small),
			"err", err)
		return
	}
	for _, w := range small {
		s.memory.LockHolders.Leave(w.startTS)
	}
}

// isSmall reports whether the work is a few rows of one group.
func (s *Store) isSmall(w secondaryWork) bool {
	return w.streamed.End == nil && len(w.batches) == 1 && len(w.batches[0].rows) > 0 &&
		len(w.batches[0].rows) <= s.opts.BatchKeys/secondariesTogether
}
