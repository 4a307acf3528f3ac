package tikvkv

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
)

// TestUpdatesOfARowWaitInTheirProcess: without a conflict in the cluster, and no longer than their
// context; of what they waited for nothing stays.
func TestUpdatesOfARowWaitInTheirProcess(t *testing.T) {
	t.Parallel()
	e := newCluster(t).open(t, Options{Prefix: prefix}, nil)
	running, end := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		first <- e.Update(context.Background(), rowsOf("b", "a", "b"),
			func(_ kv.Reader, b *kv.Batch) error {
				close(running) // a second run would panic
				<-end
				b.Set(cellOf("a"), []byte("1"))
				return nil
			})
	}()
	<-running
	require.NoError(t, put(e, "c", "1"), "another row")
	cancelled, cancel := context.WithCancel(context.Background())
	second := make(chan error, 1)
	go func() {
		second <- e.Update(cancelled, rowsOf("0", "b"), func(kv.Reader, *kv.Batch) error {
			t.Error("it runs beside the first one")
			return nil
		})
	}()
	cancel()
	err := <-second
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, kv.ErrNotApplied)
	third := make(chan error, 1)
	go func() { third <- put(e, "b", "2") }()
	close(end)
	require.NoError(t, <-first)
	require.NoError(t, <-third)
	require.Empty(t, e.latches.rows)
	require.NoError(t, e.Close())
}
