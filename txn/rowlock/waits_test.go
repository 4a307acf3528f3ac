package rowlock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/txn/rowlock"
)

// The batches of one commit wait side by side, and no wait is lost.
func TestWaitsOfSeveralGoroutinesAreCounted(t *testing.T) {
	const goroutines, waits = 8, 10_000
	o := new(rowlock.Table).NewOwner(1)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range waits {
				o.CountWait(time.Millisecond, true)
				o.CountWait(time.Millisecond, false)
			}
		})
	}
	wg.Wait()
	require.Equal(t, rowlock.Waits{
		Number: goroutines * waits,
		Time:   2 * goroutines * waits * time.Millisecond,
	}, o.Waits())
}
