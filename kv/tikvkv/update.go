package tikvkv

import (
	"context"
	"errors"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	tikvapi "github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/tikv"

	"github.com/minidb/minidb/kv"
)

// Update implements kv.Engine.
func (e *Engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if e.closed.Load() {
		return kv.NotApplied(kv.ErrClosed)
	}
	if len(rows) > limits.Rows {
		return limits.Check(len(rows), new(kv.Batch))
	}
	if err := ctx.Err(); err != nil {
		return kv.NotApplied(err)
	}
	release, err := e.latches.acquire(ctx, rows)
	if err != nil {
		return kv.NotApplied(err)
	}
	defer release()
	odd := 0
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return kv.NotApplied(err)
		}
		applied, err := e.attempt(ctx, rows, step)
		var refused *refusal
		if errors.As(err, &refused) && odd < oddMost {
			odd++
			continue
		}
		if applied || err != nil {
			return err
		}
		if try < 2 {
			continue
		}
		if err := pause(ctx, try-2); err != nil { // others write the same rows
			return kv.NotApplied(err)
		}
	}
}

// refusal is the error of a transaction that was certainly not committed, for a reason that has no
// type: that others have rolled it back, say, for which servers have several answers. So the step
// runs again, a few times.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

const oddMost = 3

// attempt runs the step once, and applies its batch unless a row has changed meanwhile.
func (e *Engine) attempt(ctx context.Context, rows [][]byte, step kv.Step) (applied bool,
	err error) {
	r := &stepReader{reader: reader{e: e}}
	var b kv.Batch
	err = step(r, &b)
	switch {
	case errors.Is(r.failed, kv.ErrSnapshotGone):
		return false, nil // it took too long
	case r.failed != nil:
		return false, kv.NotApplied(r.failed)
	case err != nil:
		return false, err
	}
	if err := b.CheckRows(rows); err != nil {
		return false, err
	}
	if err := limits.Check(len(rows), &b); err != nil {
		return false, err
	}
	if b.Empty() {
		return true, nil
	}
	switch err := r.pin(ctx); {
	case errors.Is(err, kv.ErrSnapshotGone):
		return false, nil
	case err != nil:
		return false, kv.NotApplied(err)
	}
	return e.commit(ctx, r.ts, rows, &b)
}

// commit applies a batch unless a row was written, or named by another update, since a timestamp.
func (e *Engine) commit(ctx context.Context, since uint64, rows [][]byte,
	b *kv.Batch) (applied bool, err error) {
	txn, err := e.store.Begin(tikv.WithStartTS(since))
	if err != nil {
		return false, kv.NotApplied(explain(err))
	}
	txn.SetEnableAsyncCommit(false)
	txn.SetEnable1PC(false)
	for i := range b.Len() {
		key, value, deleted := b.Op(i)
		name := e.names.cell(key)
		if deleted {
			err = txn.Delete(name)
		} else {
			err = txn.Set(name, encode(value))
		}
		if err != nil {
			return false, kv.NotApplied(explain(err))
		}
	}
	guards := make([][]byte, len(rows))
	for i, row := range rows {
		guards[i] = e.names.guard(row)
	}
	// In an optimistic transaction this asks the cluster for nothing: it makes a lock of each guard
	// a mutation of the commit.
	lock := tikvapi.NewLockCtx(since, tikvapi.LockNoWait, time.Now())
	if err := txn.LockKeys(ctx, lock, guards...); err != nil {
		return false, kv.NotApplied(explain(err))
	}
	if err := ctx.Err(); err != nil {
		return false, kv.NotApplied(err)
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.o.Patience)
	defer cancel()
	err = txn.Commit(within)
	switch {
	case err == nil:
		return true, nil
	case tikverr.IsErrorUndetermined(err):
		return false, unavailable(err)
	case conflict(err):
		return false, nil
	case within.Err() != nil:
		return false, kv.NotApplied(unavailable(err))
	}
	return false, kv.NotApplied(&refusal{explain(err)})
}

// stepReader is the reader of a step. Its failures are those of the engine, whatever the step makes
// of them.
type stepReader struct {
	reader
	failed error
}

func (s *stepReader) note(err error) error {
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return err
}

func (s *stepReader) Get(ctx context.Context, key []byte) ([]byte, error) {
	value, err := s.reader.Get(ctx, key)
	return value, s.note(err)
}

func (s *stepReader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	return s.reader.newIter(ctx, span, func(err error) { _ = s.note(err) })
}
