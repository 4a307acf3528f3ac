package tikvkv

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
)

// Requests is how many were sent, by what for.
type Requests struct {
	Reads     int64 // of keys and ranges
	Prewrites int64
	Commits   int64
	// Others settle locks of transactions that were met, or roll back.
	Others     int64
	Timestamps int64 // asked of PD; client-go asks for many with one request when it can
}

type counts struct{ reads, prewrites, commits, others, timestamps atomic.Int64 }

// Requests returns how many were sent since the engine was opened.
func (e *Engine) Requests() Requests {
	c := &e.counts
	return Requests{Reads: c.reads.Load(), Prewrites: c.prewrites.Load(), Commits: c.commits.Load(),
		Others: c.others.Load(), Timestamps: c.timestamps.Load()}
}

// client is between client-go and its connections: it counts and bounds requests.
type client struct {
	tikv.Client
	e *Engine
}

func (c *client) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request,
	timeout time.Duration) (*tikvrpc.Response, error) {
	n := &c.e.counts
	switch req.Type {
	case tikvrpc.CmdGet, tikvrpc.CmdBatchGet, tikvrpc.CmdScan:
		if c.e.closed.Load() {
			return nil, context.Canceled // which is not tried again
		}
		n.reads.Add(1)
	case tikvrpc.CmdPrewrite:
		n.prewrites.Add(1)
	case tikvrpc.CmdCommit:
		n.commits.Add(1)
	case tikvrpc.CmdStoreSafeTS:
	default:
		n.others.Add(1)
	}
	return c.Client.SendRequest(ctx, addr, req, min(timeout, c.e.o.Try))
}
