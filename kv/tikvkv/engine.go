package tikvkv

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tikv/client-go/v2/tikv"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Engine is a store on a cluster.
type Engine struct {
	store   *tikv.KVStore
	o       Options
	names   names
	oracle  pdOracle
	counts  counts
	latches latches
	closed  atomic.Bool
	// failing says that the last read was not answered within the patience.
	failing atomic.Bool
	// work is the reads that run, also those that nothing waits for any more.
	work sync.WaitGroup
}

// newEngine returns an engine without a connection.
func newEngine(o Options) *Engine {
	o.setDefaults()
	e := &Engine{o: o, names: names{prefix: o.Prefix}}
	e.oracle.e = e
	return e
}

// start makes sure that the cluster answers.
func (e *Engine) start(ctx context.Context, store *tikv.KVStore) error {
	e.store = store
	r := &reader{e: e}
	_, err := r.Get(ctx, nil)
	return err
}

// Limits implements kv.Limited.
func (e *Engine) Limits() kv.Limits { return limits }

// Exclusive reports that others may write too.
func (e *Engine) Exclusive() bool { return false }

// Oracle implements tso.Provider: it is the cluster's PD.
func (e *Engine) Oracle() tso.Source { return &e.oracle }

// Snapshot implements kv.Engine.
func (e *Engine) Snapshot() (kv.Snapshot, error) {
	if e.closed.Load() {
		return nil, kv.ErrClosed
	}
	return &reader{e: e}, nil
}

// Close implements kv.Engine. The keys stay.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return kv.ErrClosed
	}
	e.work.Wait()
	return e.store.Close()
}
