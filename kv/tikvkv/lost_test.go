package tikvkv

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
)

// loser is between an engine and the cluster. Of a commit of which it loses the answer, it loses
// the request too, or sends it late: before, between or after the next commits.
type loser struct {
	tikv.Client
	c *cluster

	mu    sync.Mutex
	dice  *rand.Rand
	lose  bool
	after int // how many commits come before the late one
	late  func()
	sent  [3]int // late ones, by after
}

// expiry is longer than locks of small transactions live.
const expiry = 4000

func (l *loser) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request,
	timeout time.Duration) (*tikvrpc.Response, error) {
	if req.Type != tikvrpc.CmdCommit {
		return l.Client.SendRequest(ctx, addr, req, timeout)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lose {
		l.lose = false
		if n := l.dice.IntN(4); n < 3 {
			l.after = n
			l.late = func() {
				_, _ = l.Client.SendRequest(context.Background(), addr, req, timeout)
				l.sent[n]++
			}
			l.send()
		}
		l.c.pd.ahead.Add(expiry)     // so that nothing has to wait for the lock that it leaves
		return nil, context.Canceled // after which the client gives up
	}
	resp, err := l.Client.SendRequest(ctx, addr, req, timeout)
	l.after--
	l.send()
	return resp, err
}

func (l *loser) send() {
	if late := l.late; late != nil && l.after == 0 {
		l.late = nil
		late()
	}
}

// TestALostAnswerLeavesOneResult: whether the transaction was committed or not, it is not committed
// any more once a later update has named its row.
func TestALostAnswerLeavesOneResult(t *testing.T) {
	t.Parallel()
	kvtest.RunUnknown(t, func(t *testing.T) (kv.Engine, func()) {
		c := newCluster(t)
		l := &loser{c: c, dice: rand.New(rand.NewPCG(1, 2))}
		e := c.open(t, Options{Prefix: prefix}, func(below tikv.Client) tikv.Client {
			l.Client = below
			return l
		})
		t.Cleanup(func() {
			for after, n := range l.sent {
				require.Positive(t, n, "commits that came after %d others", after)
			}
		})
		return e, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.lose = true
		}
	})
}
