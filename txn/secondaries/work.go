package secondaries

import (
	"context"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Batch is what one Update prewrites or commits: mutations of one group, and their rows.
type Batch struct {
	Muts []mvcc.Mutation
	Rows [][]byte
	// Uncertain is set when an earlier attempt to prewrite the batch may have succeeded.
	Uncertain bool
}

// Work is what is left of a decided transaction: locks to be replaced by records, or removed.
type Work struct {
	StartTS, CommitTS tso.Timestamp
	// Undo is set for a transaction that was rolled back. Rows of the batches may never have been
	// locked, and must not be any more.
	Undo       bool
	Batches    []Batch
	LockHolder *hints.LockHolder // nil: the locks are looked at
	Streamed   kv.Span           // instead of batches: every lock of the transaction in it
}

// commit turns the locks of a batch into records, inside a step.
func (w *Work) commit(ctx context.Context, r kv.Reader, kb *kv.Batch, b *Batch) error {
	if w.LockHolder.Pristine() {
		mvcc.CommitKnown(kb, w.StartTS, w.CommitTS, b.Muts)
		return nil
	}
	return mvcc.Resolve(ctx, r, kb, w.StartTS, w.CommitTS, b.Rows)
}

// uncertain reports whether a prewrite of one of the batches may still be applied.
func (w *Work) uncertain() bool {
	return slices.ContainsFunc(w.Batches, func(b Batch) bool { return b.Uncertain })
}

// fewRows is how many rows a transaction may have whose secondaries Close waits for.
const fewRows = 128

// isFew reports whether the work is that of a small transaction.
func (w *Work) isFew() bool {
	rows := 0
	for i := range w.Batches {
		rows += len(w.Batches[i].Rows)
	}
	return w.Streamed.End == nil && rows <= fewRows
}

// Part returns the mutations of a batch from one index up to another.
func (b Batch) Part(from, to int) Batch {
	return Batch{Muts: b.Muts[from:to:to], Rows: b.Rows[from:to:to]}
}
