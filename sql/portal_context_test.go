package sql

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPortalContextEndsWithTheStatementThatRunsIt, whether anything waits for its channel before
// the statement begins, while it runs, or never; and no statement before it ends it.
func TestAPortalContextEndsWithTheStatementThatRunsIt(t *testing.T) {
	type key struct{}
	opener := context.WithValue(context.Background(), key{}, "opener")
	cause := errors.New("the cause")
	for _, waits := range []string{"before", "while", "never"} {
		l := newPortalContext(opener)
		if waits == "before" {
			l.Done()
		}
		for range 3 {
			run, end := context.WithCancelCause(context.Background())
			ctx, leave := l.within(run)
			require.NoError(t, ctx.Err())
			require.Equal(t, "opener", ctx.Value(key{}))
			if waits != "never" {
				select {
				case <-ctx.Done():
					t.Fatal("it has ended")
				default:
				}
			}
			leave()
			end(errors.New("of a statement that does not run it any more"))
			require.NoError(t, l.Err())
		}
		run, end := context.WithCancelCause(context.Background())
		ctx, leave := l.within(run)
		child, stop := context.Background(), context.CancelFunc(func() {})
		if waits == "while" {
			child, stop = context.WithCancel(ctx)
		}
		end(cause)
		require.ErrorIs(t, ctx.Err(), context.Canceled, waits)
		if waits != "never" {
			<-ctx.Done()
		}
		require.Equal(t, cause, context.Cause(ctx), waits)
		if waits == "while" {
			<-child.Done()
			require.Equal(t, cause, context.Cause(child))
		}
		stop()
		leave()
	}
}

// TestAPortalContextEndsWithItsPortal, for good.
func TestAPortalContextEndsWithItsPortal(t *testing.T) {
	for _, waits := range []bool{false, true} {
		l := newPortalContext(context.Background())
		if waits {
			l.Done()
		}
		l.cancel()
		require.ErrorIs(t, l.Err(), context.Canceled)
		<-l.Done()
		ctx, leave := l.within(context.Background())
		require.ErrorIs(t, ctx.Err(), context.Canceled)
		leave()
	}
}

// TestAPortalContextAllocatesLittle: each query of the embedded handle has one.
func TestAPortalContextAllocatesLittle(t *testing.T) {
	run, end := context.WithCancelCause(context.Background())
	defer end(nil)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		l := newPortalContext(run)
		for range 2 {
			ctx, leave := l.within(run)
			require.NoError(t, ctx.Err())
			leave()
		}
		l.cancel()
	}), 6.0)
}
