package txn_test

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// distantOracle calls a function when a timestamp is drawn, before the answer is there.
type distantOracle struct {
	*tso.Oracle
	drawn atomic.Pointer[func()]
}

func (o *distantOracle) Next(ctx context.Context) (tso.Timestamp, error) {
	ts, err := o.Oracle.Next(ctx)
	if f := o.drawn.Load(); f != nil {
		(*f)()
	}
	return ts, err
}

// TestBeginsWaitForTheOracleTogether: none waits for the answer to another one.
func TestBeginsWaitForTheOracleTogether(t *testing.T) {
	sh := openShop(t, 0)
	o := &distantOracle{Oracle: sh.oracle}
	s := sh.store(func(opts *txn.Options) { opts.Oracle = o })
	const all = 64 // more than the registry has shards
	var waiting, most atomic.Int64
	drawn := func() {
		waiting.Add(1)
		// Where one waits for another the others never come.
		for spins := 0; waiting.Load() < all && spins < 1_000_000; spins++ {
			runtime.Gosched()
		}
		most.Store(max(most.Load(), waiting.Load()))
	}
	o.drawn.Store(&drawn)
	var begins sync.WaitGroup
	for range all {
		begins.Go(func() {
			tx, err := s.Begin(t.Context(), txn.BeginOptions{})
			if err == nil {
				err = tx.Rollback(t.Context())
			}
			require.NoError(t, err)
		})
	}
	begins.Wait()
	require.EqualValues(t, all, most.Load())
	require.Zero(t, s.Active())
}

// TestATransactionHoldsTheSafepointWhileItDraws: its start_ts is drawn, and the answer is not there
// yet, when the process publishes its oldest transaction.
func TestATransactionHoldsTheSafepointWhileItDraws(t *testing.T) {
	sh := openShop(t, 0)
	o := &distantOracle{Oracle: sh.oracle}
	s, other := sh.store(func(opts *txn.Options) { opts.Oracle = o }), sh.store(nil)
	commit(t, other, "a", "1")
	drawn := func() {
		o.drawn.Store(nil)
		sh.pass(shopLease / 2)
		require.NoError(t, s.RenewLease(t.Context()))
		require.Empty(t, s.Running())
		commit(t, other, "a", "2")
		stats, err := other.CollectGarbage(t.Context())
		require.NoError(t, err)
		require.Less(t, stats.Safepoint, sh.oracle.Last())
	}
	o.drawn.Store(&drawn)
	tx := begin(t, s)
	require.Equal(t, "1", get(t, tx, "a"))
	require.Len(t, s.Running(), 1)
	require.NoError(t, tx.Rollback(t.Context()))
}

// slowSession is an engine that does not answer to writes of a session's record.
type slowSession struct {
	kv.Wrapped
	row   atomic.Pointer[[]byte]
	asked chan struct{}
}

func (e *slowSession) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if row := e.row.Load(); row != nil && bytes.Equal(*row, rows[0]) {
		close(e.asked)
		<-ctx.Done()
		return kv.NotApplied(ctx.Err())
	}
	return e.Wrapped.Update(ctx, rows, step)
}

// TestAReaderOfThePastWaitsNoLongerThanItsContext for a renewal that the store does not answer.
func TestAReaderOfThePastWaitsNoLongerThanItsContext(t *testing.T) {
	sh := openShop(t, 0)
	e := &slowSession{Wrapped: kv.Wrapped{Engine: sh.engine}, asked: make(chan struct{})}
	s, err := openTxn(context.Background(), e, sh.opts)
	require.NoError(t, err)
	commit(t, s, "a", "1")
	row := kv.Row(lease.Key(s.SessionID()))
	e.row.Store(&row)
	renewal, endRenewal := context.WithCancel(t.Context())
	renewed := make(chan error, 1)
	go func() { renewed <- s.RenewLease(renewal) }()
	<-e.asked
	reading, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Begin(reading, txn.BeginOptions{StartTS: sh.oracle.Last()})
	require.ErrorIs(t, err, context.Canceled)
	endRenewal()
	require.ErrorIs(t, <-renewed, context.Canceled)
	e.row.Store(nil)
	require.NoError(t, s.Close())
}
