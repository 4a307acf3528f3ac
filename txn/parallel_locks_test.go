package txn_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// ambush is an engine that calls a function before its first lazy update, which is a prewrite.
type ambush struct {
	kv.Engine
	once sync.Once
	call func()
}

func (e *ambush) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	if e.call != nil {
		e.once.Do(e.call)
	}
	return kv.UpdateLazy(ctx, e.Engine, rows, step)
}

func (e *ambush) Exclusive() bool         { return kv.IsExclusive(e.Engine) }
func (e *ambush) Group(row []byte) uint64 { return kv.GroupOf(e.Engine, row) }

// TestParallelPrewritesWaitForRowLocksInOnePlace: an owner waits in one place at a time, though the
// batches of its commit are prewritten side by side. A wait that is given up must find itself
// there.
func TestParallelPrewritesWaitForRowLocksInOnePlace(t *testing.T) {
	e := &ambush{Engine: memkv.New(memkv.Options{HashGroups: 4})}
	s, err := openTxn(context.Background(), e, txn.Options{Protocol: txn.TwoPhase, BatchKeys: 1})
	require.NoError(t, err)
	other := s.RowLocks().NewOwner(7)
	key := func(i int) []byte { return fmt.Appendf(nil, "k%d", i) }
	const keys = 6
	tx := begin(t, s)
	for i := range keys {
		require.NoError(t, tx.Set(key(i), []byte("1")))
	}
	e.call = func() { // the commit has found no row lock, and begins its prewrites
		for i := range keys {
			_, err := s.RowLocks().Lock(context.Background(), other, key(i),
				rowlock.Request{Mode: rowlock.Update})
			require.NoError(t, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- tx.Commit(ctx) }()
	for len(s.RowLocks().Waits()) == 0 {
		select {
		case err := <-done:
			t.Fatalf("the commit did not wait: %v", err)
		default:
		}
	}
	require.Len(t, s.RowLocks().Waits(), 1)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	other.ReleaseTo(0)
	require.True(t, s.RowLocks().Empty())
	require.NoError(t, s.Close())
	require.NoError(t, e.Engine.Close())
}
