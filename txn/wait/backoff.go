// Package wait paces the attempts to get past a lock, and describes waits for locks for views.
package wait

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// ErrClosed ends a wait when the store closes.
var ErrClosed = errors.New("transaction store is closed")

// Backoff spaces out attempts to get past a lock: from half a millisecond, doubled each time with
// jitter, up to a tenth of a second each, or Most, and Limit in total.
type Backoff struct {
	Most  time.Duration
	Spent time.Duration
	Limit time.Duration
	// Closing is closed when the store closes, which ends the wait; nil: it does not.
	Closing <-chan struct{}

	next time.Duration
}

const (
	backoffFirst = 500 * time.Microsecond
	backoffMost  = 100 * time.Millisecond
)

// Wait sleeps and reports whether another attempt is worthwhile. The limit counts what was slept,
// so no clock decides. When the store closes the error is ErrClosed.
func (b *Backoff) Wait(ctx context.Context) (bool, error) {
	if b.Spent >= b.Limit {
		return false, ctx.Err()
	}
	if b.next == 0 {
		b.next = backoffFirst
	}
	b.next = min(b.next, cmp.Or(b.Most, backoffMost))
	d := min(b.next/2+rand.N(b.next/2+1), b.Limit-b.Spent)
	b.next = min(2*b.next, cmp.Or(b.Most, backoffMost))
	b.Spent += d
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-b.Closing:
		return false, ErrClosed
	}
}

// Pause waits for d. It returns the error of ctx if that ends before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// UnknownAttempts and UnknownTime bound the attempts to learn the result of an update that the
// engine left unknown.
const (
	UnknownAttempts = 3
	UnknownTime     = 2 * time.Second
)

// Detached returns a context for what must be finished whether or not the caller still waits.
func Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), UnknownTime)
}
