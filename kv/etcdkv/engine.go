package etcdkv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/kv"
)

// Engine is a store on a cluster.
type Engine struct {
	c      *clientv3.Client
	o      Options
	limits kv.Limits
	names  names
	closed atomic.Bool

	ofSteps, ofSnapshots struct {
		habits
		favourites favourites
	}
	ofShown favourites // of the snapshots that show the state after an update
	follows follows
	memory  memory
	news    news

	reads, transactions atomic.Int64
	// failing is when the first of the reads began that were tried in vain since the last that was
	// answered, in nanoseconds; zero: the last was answered.
	failing atomic.Int64
}

// Open connects to a cluster. It writes nothing.
func Open(ctx context.Context, o Options) (*Engine, error) { return open(ctx, o) }

func open(ctx context.Context, o Options, dial ...grpc.DialOption) (*Engine, error) {
	o.setDefaults()
	e := &Engine{o: o, limits: o.limits(), names: names{prefix: o.Prefix},
		memory: memory{lru.New[string, *remembered](rowsRemembered)}}
	if l := kv.LeastLimits; e.limits.Rows < l.Rows || e.limits.Ops < l.Ops ||
		e.limits.Bytes < l.Bytes || e.limits.Value < l.Value {
		return nil, fmt.Errorf("etcdkv: a cluster that takes %d operations and %d bytes in a "+
			"request is too small: raise --max-txn-ops and --max-request-bytes", o.MaxOps,
			o.MaxBytes)
	}
	c, err := clientv3.New(clientv3.Config{
		Endpoints:            o.Endpoints,
		TLS:                  o.TLS,
		Username:             o.User,
		Password:             o.Password,
		DialTimeout:          o.Patience, // of the login
		Context:              context.WithoutCancel(ctx),
		DialKeepAliveTime:    time.Second,
		DialKeepAliveTimeout: o.Try,
		// The answer to a read of many long values may be larger than a request.
		MaxCallSendMsgSize: 2 * o.MaxBytes,
		MaxCallRecvMsgSize: maxAnswer,
		Logger:             zap.NewNop(),
		DialOptions: append(dial, grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6,
				Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: o.Try,
		})),
	})
	if err != nil {
		return nil, fmt.Errorf("etcdkv: %w", err)
	}
	e.c = c
	if _, err := e.get(ctx, e.names.cell(nil), clientv3.WithCountOnly()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return e, nil
}

// maxAnswer bounds an answer: a page of cells, or the named rows of an update. A page of the
// longest values, read behind one of short values, has 384 MiB with the members' usual settings.
const maxAnswer = math.MaxInt32

// Limits implements kv.Limited.
func (e *Engine) Limits() kv.Limits { return e.limits }

// Exclusive reports that others may write too.
func (e *Engine) Exclusive() bool { return false }

// Requests returns how many reads and how many transactions were sent.
func (e *Engine) Requests() (reads, transactions int64) {
	return e.reads.Load(), e.transactions.Load()
}

// Snapshot implements kv.Engine.
func (e *Engine) Snapshot() (kv.Snapshot, error) {
	if e.closed.Load() {
		return nil, kv.ErrClosed
	}
	return &reader{e: e, habits: &e.ofSnapshots.habits, favours: &e.ofSnapshots.favourites}, nil
}

// Close implements kv.Engine. The keys stay.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return kv.ErrClosed
	}
	return e.c.Close()
}

// get reads one range.
func (e *Engine) get(ctx context.Context, key string,
	opts ...clientv3.OpOption) (got *clientv3.GetResponse, err error) {
	err = e.reading(ctx, func(ctx context.Context) (err error) {
		got, err = e.c.Get(ctx, key, opts...)
		return err
	})
	return got, err
}

// getAll reads several ranges at one revision.
func (e *Engine) getAll(ctx context.Context, ops []clientv3.Op) (got *clientv3.TxnResponse,
	err error) {
	err = e.reading(ctx, func(ctx context.Context) (err error) {
		got, err = e.c.Txn(ctx).Then(ops...).Commit()
		return err
	})
	return got, err
}

// reading makes a read, again and again until the cluster answers or the patience is over. That is
// counted from the first failure of any read, so that a statement of many reads fails as early as
// one of a single read.
func (e *Engine) reading(ctx context.Context, read func(ctx context.Context) error) error {
	for try := 0; ; try++ {
		if e.closed.Load() {
			return kv.ErrClosed
		}
		e.reads.Add(1)
		once, cancel := context.WithTimeout(ctx, e.o.Try)
		begun := time.Now()
		err := read(once)
		cancel()
		if err == nil || !transient(err) {
			e.failing.Store(0)
		}
		if err == nil {
			return nil
		}
		if transient(err) && ctx.Err() == nil && e.lost(begun) {
			return fmt.Errorf("%w, for more than %s: %v", kv.ErrUnavailable, e.o.Patience,
				err)
		}
		if err = e.readError(ctx, err, try); err != nil {
			return err
		}
	}
}

// lost notes that a read which began at a time was not answered, and reports whether the patience
// is over.
func (e *Engine) lost(begun time.Time) bool {
	e.failing.CompareAndSwap(0, begun.UnixNano())
	since := e.failing.Load()
	return since != 0 && time.Now().UnixNano()-since > int64(e.o.Patience)
}
