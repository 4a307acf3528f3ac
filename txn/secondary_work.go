package txn

import (
	"context"
	"slices"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// batch is what one Update prewrites or commits: mutations of one group, and their rows.
type batch struct {
	muts []mvcc.Mutation
	rows [][]byte
	// uncertain: an earlier attempt to prewrite it may have succeeded.
	uncertain bool
}

// secondaryWork is what is left of a decided transaction: locks to be replaced by records, or
// removed.
type secondaryWork struct {
	startTS, commitTS tso.Timestamp
	// rows of the batches may never have been locked, and must not be any more
	undo       bool
	batches    []batch
	lockHolder *hints.LockHolder // nil: the locks are looked at
	streamed   kv.Span           // instead of batches: every lock of the transaction in it
}

// commit turns the locks of a batch into records, inside a step.
func (w *secondaryWork) commit(ctx context.Context, r kv.Reader, kb *kv.Batch, b *batch) error {
	if w.lockHolder.Pristine() {
		mvcc.CommitKnown(kb, w.startTS, w.commitTS, b.muts)
		return nil
	}
	return mvcc.Resolve(ctx, r, kb, w.startTS, w.commitTS, b.rows)
}

// uncertain reports whether a prewrite of one of the batches may still land.
func (w *secondaryWork) uncertain() bool {
	return slices.ContainsFunc(w.batches, func(b batch) bool { return b.uncertain })
}

// fewRows is how many rows a transaction may have whose secondaries Close waits for.
const fewRows = 128

// isFew reports whether the work is that of a small transaction.
func (w *secondaryWork) isFew() bool {
	rows := 0
	for i := range w.batches {
		rows += len(w.batches[i].rows)
	}
	return w.streamed.End == nil && rows <= fewRows
}

// largeWork is what large transactions have left: locks to be settled in the background, a batch of
// each transaction in turn. It has a goroutine of its own, so that neither COMMIT nor ROLLBACK of a
// large transaction waits for it, and small ones do not queue behind it.
type largeWork struct {
	mu   sync.Mutex
	all  []secondaryWork
	wake chan struct{} // holds one while there may be work
}

// largeInMemory is how many of them keep in memory which locks they have. The locks of the others
// are looked for in the store, where all of them are, but for what a prewrite of an unknown result
// may yet bring.
const largeInMemory = 4

// add adds work at the end.
func (l *largeWork) add(w secondaryWork) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) >= largeInMemory && w.streamed.End == nil && !w.uncertain() {
		for i := range w.batches {
			if muts := w.batches[i].muts; len(muts) > 0 {
				w.streamed = hints.Widened(w.streamed, muts)
			}
		}
		w.batches = nil
	}
	l.all = append(l.all, w)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// next takes out the first.
func (l *largeWork) next() (w secondaryWork, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		return secondaryWork{}, false
	}
	w = l.all[0]
	l.all = append(l.all[:0:0], l.all[1:]...)
	return w, true
}
