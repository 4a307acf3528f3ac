package tikvkv

import (
	"context"
	"errors"
	"fmt"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/minidb/minidb/kv"
)

// passing are errors that another attempt may not meet.
var passing = []error{
	tikverr.ErrTiKVServerTimeout, tikverr.ErrTiKVServerBusy, tikverr.ErrTiKVStaleCommand,
	tikverr.ErrTiKVMaxTimestampNotSynced, tikverr.ErrResolveLockTimeout,
	tikverr.ErrRegionUnavailable, tikverr.ErrRegionDataNotReady, tikverr.ErrRegionNotInitialized,
	tikverr.ErrRegionRecoveryInProgress, tikverr.ErrRegionFlashbackInProgress,
	context.DeadlineExceeded,
}

// transient reports whether the cluster may answer another time. The caller's context has not
// ended.
func transient(err error) bool {
	for _, p := range passing {
		if errors.Is(err, p) {
			return true
		}
	}
	var pd *tikverr.ErrPDServerTimeout
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded:
		return true
	}
	return errors.As(err, &pd)
}

// conflict reports whether a transaction was not committed because another one was, or because
// others have rolled it back.
func conflict(err error) bool {
	var again *tikverr.ErrRetryable
	return tikverr.IsErrWriteConflict(err) || errors.As(err, &again)
}

// explain returns the error of the contract for one of the client.
func explain(err error) error {
	var collected *tikverr.ErrGCTooEarly
	switch {
	case err == nil:
		return nil
	case errors.As(err, &collected):
		return kv.ErrSnapshotGone
	case errors.Is(err, tikverr.ErrTiKVDiskFull):
		return errors.Join(kv.ErrDiskFull, fmt.Errorf("tikvkv: %w", err))
	case transient(err):
		return unavailable(err)
	}
	return fmt.Errorf("tikvkv: %w", err)
}

// unavailable returns the error for a cluster that did not answer within the patience. It is not
// one of a context: the caller's has not ended.
func unavailable(err error) error { return fmt.Errorf("%w: %v", kv.ErrUnavailable, err) }

// reads makes a read, again and again until the cluster answers or the patience is over. Once it
// was over, other reads are tried for as long as one request may take, so that a statement of many
// reads fails as early as one of a single read.
//
// client-go walks ranges in no context. So the read runs in a goroutine, which ends by itself when
// nothing waits for it: its requests are bounded.
func reads[T any](e *Engine, ctx context.Context,
	read func(ctx context.Context) (T, error)) (got T, err error) {
	if e.closed.Load() {
		return got, kv.ErrClosed
	}
	limit := e.o.Patience
	if e.failing.Load() {
		limit = min(limit, e.o.Try)
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for try := 0; ; try++ {
		got, err = apart(e, within, read)
		switch {
		case err == nil:
			e.failing.Store(false)
			return got, nil
		case ctx.Err() != nil:
			return got, ctx.Err()
		case within.Err() != nil, transient(err) && pause(within, try) != nil:
			e.failing.Store(true)
			return got, unavailable(err)
		case !transient(err):
			e.failing.Store(false)
			return got, explain(err)
		}
	}
}

// apart runs a read in a goroutine of its own, and returns when the context ends.
func apart[T any](e *Engine, ctx context.Context,
	read func(ctx context.Context) (T, error)) (got T, err error) {
	type answer struct {
		got T
		err error
	}
	done := make(chan answer, 1)
	e.work.Go(func() {
		got, err := read(ctx)
		done <- answer{got, err}
	})
	select {
	case a := <-done:
		return a.got, a.err
	case <-ctx.Done():
		return got, ctx.Err()
	}
}

// pause waits the longer the more attempts have failed.
func pause(ctx context.Context, try int) error {
	t := time.NewTimer(min(time.Millisecond<<min(try, 9), 500*time.Millisecond))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
