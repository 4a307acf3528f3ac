package tikvkv

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/testutils"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	pd "github.com/tikv/pd/client"
)

// cluster is client-go's mock of a cluster, in this process.
type cluster struct {
	*testutils.MockCluster
	client *testutils.MockClient
	pd     *clock
	splits sync.Mutex
}

// newCluster starts a cluster of one region.
func newCluster(t testing.TB) *cluster {
	client, mock, pd, err := testutils.NewMockTiKV("", nil)
	require.NoError(t, err)
	c := &cluster{MockCluster: mock, client: client, pd: &clock{Client: pd}}
	testutils.BootstrapWithSingleStore(mock)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return c
}

// open opens a store on the cluster. wrap may put something between the engine and the network.
func (c *cluster) open(t testing.TB, o Options, wrap func(tikv.Client) tikv.Client) *Engine {
	e := newEngine(o)
	store, err := tikv.NewTestTiKVStore(servers{c.client}, c.pd,
		func(below tikv.Client) tikv.Client {
			if wrap != nil {
				below = wrap(below)
			}
			return &client{Client: below, e: e}
		}, nil, 0)
	require.NoError(t, err)
	require.NoError(t, e.start(context.Background(), store))
	return e
}

// servers are what engines connect to. They outlive each engine.
//
// A reader that has met the lock of a committed transaction has it removed in the background, and
// asks again at once, saying that it may look through the lock. The mock does not know that, and
// the reader would ask thousands of times.
type servers struct{ tikv.Client }

func (s servers) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request,
	timeout time.Duration) (*tikvrpc.Response, error) {
	if len(req.CommittedLocks) > 0 {
		<-time.After(200 * time.Microsecond)
	}
	return s.Client.SendRequest(ctx, addr, req, timeout)
}

func (servers) Close() error { return nil }

// clock is the mock's PD, of which the time can be set forwards.
type clock struct {
	pd.Client
	ahead atomic.Int64 // milliseconds
}

func (c *clock) GetTS(ctx context.Context) (physical, logical int64, err error) {
	physical, logical, err = c.Client.GetTS(ctx)
	return physical + c.ahead.Load(), logical, err
}

func (c *clock) GetTSAsync(ctx context.Context) pd.TSFuture { return future{c, ctx} }

type future struct {
	c   *clock
	ctx context.Context
}

func (f future) Wait() (physical, logical int64, err error) { return f.c.GetTS(f.ctx) }
