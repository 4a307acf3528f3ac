package etcdkv

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// OpenWith is Open with options of the connection.
func OpenWith(ctx context.Context, o Options, dial ...grpc.DialOption) (*Engine, error) {
	return open(ctx, o, dial...)
}

// Client returns the connection.
func (e *Engine) Client() *clientv3.Client { return e.c }

// Between is between.
func Between(lo, hi []byte) []byte { return between(lo, hi) }
