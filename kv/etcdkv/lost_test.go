package etcdkv_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/etcdkv"
	"github.com/minidb/minidb/kv/kvtest"
)

// loser is between a client and the cluster. Of a transaction of which it loses the answer, it
// loses the request too, or sends it late: before, between or after the next two.
type loser struct {
	t     *testing.T
	dice  *rand.Rand
	lose  bool
	after int // how many transactions come before the late one
	late  func()
}

func (l *loser) intercept(ctx context.Context, method string, req, reply any, c *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if r, ok := req.(*etcdserverpb.TxnRequest); !ok || len(r.Compare) == 0 { // it only reads
		return invoke(ctx, method, req, reply, c, opts...)
	}
	if l.lose {
		l.lose = false
		if n := l.dice.IntN(4); n < 3 {
			l.after = n
			l.late = func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				if err := invoke(ctx, method, req, reply, c, opts...); err != nil {
					l.t.Error(err)
				}
			}
			l.send()
		}
		return status.Error(codes.Unavailable, "the answer is lost")
	}
	err := invoke(ctx, method, req, reply, c, opts...)
	l.after--
	l.send()
	return err
}

func (l *loser) send() {
	if late := l.late; late != nil && l.after == 0 {
		l.late = nil
		late()
	}
}

// TestALostAnswerLeavesOneResult: whether the transaction was applied or not, it is not applied any
// more once a later update has written its row.
func TestALostAnswerLeavesOneResult(t *testing.T) {
	kvtest.RunUnknown(t, func(t *testing.T) (kv.Engine, func()) {
		l := &loser{t: t, dice: rand.New(rand.NewPCG(1, 2))}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		e, err := etcdkv.OpenWith(ctx, etcdkv.Options{Endpoints: members, Prefix: newPrefix()},
			grpc.WithChainUnaryInterceptor(l.intercept))
		require.NoError(t, err)
		return e, func() { l.lose = true }
	})
}
