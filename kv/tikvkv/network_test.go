package tikvkv

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/util/codec"
)

// network is between an engine and the cluster. One of some requests meets an event.
type network struct {
	tikv.Client
	c     *cluster
	every int

	mu   sync.Mutex
	dice *rand.Rand
	next int // of the events, which come in turn
	hits map[string]int
}

var errCut = errors.New("the connection was cut")

// events are what a request may meet, each on its way to the cluster or from there.
var events = []struct {
	name string
	rare bool // it comes each fourth time, for the client waits for long after it
	meet func(n *network, req *tikvrpc.Request, send sender) (*tikvrpc.Response, error)
}{
	{name: "split", meet: func(n *network, req *tikvrpc.Request,
		send sender) (*tikvrpc.Response, error) {
		n.c.splitAt(keyOf(req))
		return send()
	}},
	{name: "the leader moved",
		meet: refused(&errorpb.Error{NotLeader: &errorpb.NotLeader{}})},
	{name: "the region changed",
		meet: refused(&errorpb.Error{EpochNotMatch: &errorpb.EpochNotMatch{}})},
	{name: "the region is not there",
		meet: refused(&errorpb.Error{RegionNotFound: &errorpb.RegionNotFound{}})},
	{name: "the server is busy", rare: true,
		meet: refused(&errorpb.Error{ServerIsBusy: &errorpb.ServerIsBusy{}})},
	{name: "the command is stale",
		meet: refused(&errorpb.Error{StaleCommand: &errorpb.StaleCommand{}})},
	{name: "lost", meet: func(*network, *tikvrpc.Request, sender) (*tikvrpc.Response, error) {
		return nil, errCut
	}},
	{name: "the answer is lost", meet: func(_ *network, _ *tikvrpc.Request,
		send sender) (*tikvrpc.Response, error) {
		if _, err := send(); err != nil {
			return nil, err
		}
		return nil, errCut
	}},
	{name: "it is sent twice", meet: func(_ *network, _ *tikvrpc.Request,
		send sender) (*tikvrpc.Response, error) {
		if _, err := send(); err != nil {
			return nil, err
		}
		return send()
	}},
}

type sender func() (*tikvrpc.Response, error)

func refused(with *errorpb.Error) func(*network, *tikvrpc.Request, sender) (*tikvrpc.Response,
	error) {
	return func(_ *network, req *tikvrpc.Request, _ sender) (*tikvrpc.Response, error) {
		return tikvrpc.GenRegionErrorResp(req, with)
	}
}

func (n *network) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request,
	timeout time.Duration) (*tikvrpc.Response, error) {
	send := func() (*tikvrpc.Response, error) {
		return n.Client.SendRequest(ctx, addr, req, timeout)
	}
	n.mu.Lock()
	hit := n.dice.IntN(n.every) == 0
	event := events[n.next%len(events)]
	if hit {
		n.next++
		n.hits[event.name]++
		hit = !event.rare || n.hits[event.name]%4 == 1
	}
	n.mu.Unlock()
	if !hit {
		return send()
	}
	return event.meet(n, req, send)
}

// newNetwork returns a network by the seed that it logs.
func newNetwork(t *testing.T, c *cluster, below tikv.Client, every int) *network {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return &network{Client: below, c: c, every: every, dice: rand.New(rand.NewPCG(seed, 0)),
		hits: map[string]int{}}
}

// keyOf returns a key of a request, or nil.
func keyOf(req *tikvrpc.Request) []byte {
	switch req.Type {
	case tikvrpc.CmdGet:
		return req.Get().Key
	case tikvrpc.CmdScan:
		return req.Scan().StartKey
	case tikvrpc.CmdPrewrite:
		all := req.Prewrite().Mutations
		return all[len(all)-1].Key
	case tikvrpc.CmdCommit:
		all := req.Commit().Keys
		return all[len(all)-1]
	}
	return nil
}

// splitAt makes a key the first one of a region.
func (c *cluster) splitAt(key []byte) {
	c.splits.Lock()
	defer c.splits.Unlock()
	encoded := codec.EncodeBytes(nil, key)
	region, _, _ := c.GetRegionByKey(encoded)
	if len(key) == 0 || bytes.Equal(region.StartKey, encoded) {
		return
	}
	ids := c.AllocIDs(2)
	c.Split(region.Id, ids[0], bytes.Clone(key), ids[1:], ids[1])
}
