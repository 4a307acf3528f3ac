package txn

import (
	"context"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
)

// Streamed is what a large transaction has streamed out so far.
type Streamed struct {
	Keys, Bytes int64
}

// stream is a transaction that outgrew Options.StreamBytes: its writes go out as prewrites under
// the primary of the first batch, whenever the buffer is full again (txn: I13). Until the commit
// point they are locks like any other: other transactions wait for them or push them. On an engine
// that is not exclusive they are rolled back once the primary's time to live is over, which a
// goroutine extends while the transaction runs.
//
// Memory. What stays in memory is the buffer, the row locks (both bounded by Options.MaxTxnBytes),
// and a filter that recognizes most keys that were not streamed out (streamed_keys.go). Past
// Options.RowLocks, on an exclusive engine, the row locks of streamed keys are given back, for the
// locks in the store replace them.
//
// Reads. A key that was streamed out is read back from the transaction's own lock, and written
// again over it. If such a read finds the primary's lock gone, a resolver has begun to remove the
// locks, and the transaction fails.
//
// Failures. A write may now meet what otherwise only a commit meets: conflicts, and locks of
// others. Such a failure fails the transaction. The end of a statement's context does not, once the
// primary is prewritten: a savepoint takes back what went out, and that cannot be cancelled.
type stream struct {
	c *committer
	// from the lowest key streamed out, or about to be, to just above the highest
	span       kv.Span
	keys       streamedKeys
	lockHolder *hints.LockHolder
	sum        Streamed
	failed     error // the first failure; it fails the transaction (but see prewriteStream)
	begun      bool  // the primary was prewritten
	doubt      bool  // some of the buffer may have been prewritten: write.held may be wrong
	undone     bool  // it was rolled back, as far as it could be
	// whole is the newest snapshot known to show the primary's lock, and so all that was streamed
	whole *hints.Snapshot

	cancel context.CancelFunc
	beats  sync.WaitGroup
}

// stop ends the heartbeats. It may be repeated.
func (st *stream) stop() {
	if st.cancel != nil {
		st.cancel()
		st.beats.Wait()
	}
}
