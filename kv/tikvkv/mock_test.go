package tikvkv

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/testutils"
	"github.com/tikv/client-go/v2/tikv"
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
	store, err := tikv.NewTestTiKVStore(unclosed{c.client}, c.pd,
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

// unclosed is a connection that outlives the engines on it.
type unclosed struct{ tikv.Client }

func (unclosed) Close() error { return nil }

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
