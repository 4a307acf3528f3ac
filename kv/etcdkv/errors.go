package etcdkv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/minidb/minidb/kv"
)

// codeOf returns the gRPC code of an error of the client.
func codeOf(err error) codes.Code {
	var e rpctypes.EtcdError
	if errors.As(err, &e) {
		return e.Code()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return codes.DeadlineExceeded
	}
	return status.Code(err)
}

// transient reports whether the cluster may answer another time: a member is down, or the cluster
// has no leader at the moment.
func transient(err error) bool {
	switch codeOf(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	}
	return errors.Is(err, rpctypes.ErrTooManyRequests)
}

// readError waits before a read is tried again, or returns why it is not.
func (e *Engine) readError(ctx context.Context, err error, try int) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case e.closed.Load():
		return kv.ErrClosed
	case errors.Is(err, rpctypes.ErrCompacted):
		return kv.ErrSnapshotGone
	case !transient(err):
		return fmt.Errorf("etcdkv: %w", err)
	}
	return pause(ctx, try)
}

// pause waits the longer the more attempts have failed.
func pause(ctx context.Context, try int) error {
	t := time.NewTimer(min(5*time.Millisecond<<min(try, 8), 500*time.Millisecond))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// updateError returns the error of a transaction that was sent once. Those that the cluster has
// refused before it proposed them are marked as not applied; of all others nothing is known.
func updateError(err error) error {
	wrapped := fmt.Errorf("etcdkv: %w", err)
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return kv.NotApplied(errors.Join(kv.ErrDiskFull, wrapped))
	case errors.Is(err, rpctypes.ErrRequestTooLarge), errors.Is(err, rpctypes.ErrTooManyOps):
		return kv.NotApplied(errors.Join(kv.ErrTooLarge, wrapped))
	case errors.Is(err, rpctypes.ErrTooManyRequests), errors.Is(err, rpctypes.ErrNoLeader),
		errors.Is(err, rpctypes.ErrPermissionDenied), errors.Is(err, rpctypes.ErrNotCapable),
		errors.Is(err, rpctypes.ErrLeaseNotFound), errors.Is(err, rpctypes.ErrDuplicateKey):
		return kv.NotApplied(wrapped)
	case transient(err):
		// Not as an error of a context: the caller's has not ended.
		return fmt.Errorf("%w: %v", kv.ErrUnavailable, err)
	}
	return wrapped
}
