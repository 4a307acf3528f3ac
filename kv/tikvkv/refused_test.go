package tikvkv

import (
	"context"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/minidb/minidb/kv"
)

// aborter answers some prewrites with an error that has no type.
type aborter struct {
	tikv.Client
	left int
}

func (a *aborter) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request,
	timeout time.Duration) (*tikvrpc.Response, error) {
	if req.Type == tikvrpc.CmdPrewrite && a.left > 0 {
		a.left--
		return &tikvrpc.Response{Resp: &kvrpcpb.PrewriteResponse{
			Errors: []*kvrpcpb.KeyError{{Abort: "for some reason"}}}}, nil
	}
	return a.Client.SendRequest(ctx, addr, req, timeout)
}

// TestARefusalIsTriedAgain: a few times, and then the error says that nothing was written.
func TestARefusalIsTriedAgain(t *testing.T) {
	t.Parallel()
	n := &aborter{}
	e := newCluster(t).open(t, Options{Prefix: prefix}, func(below tikv.Client) tikv.Client {
		n.Client = below
		return n
	})
	for _, c := range []struct {
		refusals, runs int
		message        string
	}{{1, 2, ""}, {3, 4, ""}, {4, 4, "for some reason"}} {
		n.left = c.refusals
		runs := 0
		err := e.Update(context.Background(), rowsOf("a"), func(_ kv.Reader, b *kv.Batch) error {
			runs++
			b.Set(cellOf("a"), []byte("1"))
			return nil
		})
		require.Equal(t, c.runs, runs)
		if c.message == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.message)
		require.ErrorIs(t, err, kv.ErrNotApplied)
	}
	require.NoError(t, e.Close())
}
