package tikvkv

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/minidb/minidb/kv"
)

// cutter cuts the connection from a kind of request on, until it is mended.
type cutter struct {
	tikv.Client
	from atomic.Int64 // the kind; zero: none
	cut  atomic.Bool
}

func (c *cutter) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request,
	timeout time.Duration) (*tikvrpc.Response, error) {
	if int64(req.Type) == c.from.Load() {
		c.cut.Store(true)
	}
	if c.cut.Load() {
		return nil, errCut
	}
	return c.Client.SendRequest(ctx, addr, req, timeout)
}

// mend lets requests through again.
func (c *cutter) mend() {
	c.from.Store(0)
	c.cut.Store(false)
}

// TestACutConnection: reads fail when the patience is over, and of an update it is known that it
// was not applied unless its commit was sent.
func TestACutConnection(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newCluster(t)
	n := &cutter{}
	e := c.open(t, Options{Prefix: prefix, Try: 200 * time.Millisecond,
		Patience: time.Second}, func(below tikv.Client) tikv.Client {
		n.Client = below
		return n
	})
	require.NoError(t, put(e, "a", "0"))
	read := func(r kv.Reader, b *kv.Batch) error {
		_, err := r.Get(ctx, cellOf("a"))
		b.Set(cellOf("a"), []byte("1"))
		return err
	}
	for _, from := range []tikvrpc.CmdType{tikvrpc.CmdGet, tikvrpc.CmdPrewrite, tikvrpc.CmdCommit} {
		n.from.Store(int64(from))
		err := e.Update(ctx, rowsOf("a"), read)
		require.ErrorIs(t, err, kv.ErrUnavailable, from)
		if from == tikvrpc.CmdCommit {
			require.NotErrorIs(t, err, kv.ErrNotApplied)
		} else {
			require.ErrorIs(t, err, kv.ErrNotApplied, from)
		}
		s, err := e.Snapshot()
		require.NoError(t, err)
		_, err = s.Get(ctx, cellOf("a"))
		require.ErrorIs(t, err, kv.ErrUnavailable, from)
		it, err := s.NewIter(ctx, kv.Span{})
		require.NoError(t, err)
		require.False(t, it.First())
		require.ErrorIs(t, it.Err(), kv.ErrUnavailable, from)
		require.NoError(t, it.Close())
		require.NoError(t, s.Close())
		n.mend()
		c.pd.ahead.Add(expiry)
		for comesBack(t, e) != nil { // client-go may still wait for what it thinks is gone
		}
		require.Equal(t, "0", get(t, e, "a"), from)
	}
	require.NoError(t, e.Update(ctx, rowsOf("a"), read))
	require.Equal(t, "1", get(t, e, "a"))
	require.NoError(t, e.Close())
}

// comesBack reads, and fails as long as the cluster seems not to answer.
func comesBack(t *testing.T, e *Engine) error {
	_, err := (&reader{e: e}).Get(context.Background(), cellOf("a"))
	if err != nil {
		require.ErrorIs(t, err, kv.ErrUnavailable)
	}
	return err
}

// stopper keeps reads until it is released.
type stopper struct {
	tikv.Client
	stop    atomic.Bool
	arrived chan struct{}
	release chan struct{}
}

func (s *stopper) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request,
	timeout time.Duration) (*tikvrpc.Response, error) {
	if s.stop.Load() && (req.Type == tikvrpc.CmdGet || req.Type == tikvrpc.CmdScan) {
		s.arrived <- struct{}{}
		<-s.release
	}
	return s.Client.SendRequest(ctx, addr, req, timeout)
}

// TestACancelledReadReturns: also from a walk, which client-go does not cancel.
func TestACancelledReadReturns(t *testing.T) {
	t.Parallel()
	n := &stopper{arrived: make(chan struct{}), release: make(chan struct{})}
	e := newCluster(t).open(t, Options{Prefix: prefix}, func(below tikv.Client) tikv.Client {
		n.Client = below
		return n
	})
	n.stop.Store(true)
	for _, read := range []func(ctx context.Context, r kv.Reader) error{
		func(ctx context.Context, r kv.Reader) error {
			_, err := r.Get(ctx, cellOf("a"))
			return err
		},
		func(ctx context.Context, r kv.Reader) error {
			it, err := r.NewIter(ctx, kv.Span{})
			require.NoError(t, err)
			it.First()
			return it.Err()
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-n.arrived
			cancel()
		}()
		require.ErrorIs(t, read(ctx, &reader{e: e}), context.Canceled)
		err := e.Update(ctx, rowsOf("a"), func(r kv.Reader, _ *kv.Batch) error {
			return read(ctx, r)
		})
		require.ErrorIs(t, err, kv.ErrNotApplied)
	}
	close(n.release)
	n.stop.Store(false)
	require.NoError(t, e.Close())
}
