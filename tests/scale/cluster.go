package scale

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// delays are those of all simulations: machines in neighbouring buildings, and updates that are
// written to disks.
var delays = Delays{
	Trip: time.Millisecond, Serve: 400 * time.Microsecond, Draw: 20 * time.Microsecond,
}

// lease is that of gateways (package minidb).
const lease = 4 * time.Second

// cluster is a store in regions, with its oracle.
type cluster struct {
	*network
	engine *memkv.Engine
	oracle *oracle
}

func newCluster(ctx context.Context, regions int) (*cluster, error) {
	// Stores on the network keep snapshots for minutes.
	e := memkv.New(memkv.Options{Shared: true, HashGroups: regions, Keeps: -1})
	// What the oracle writes is elsewhere, as in a cluster that has one.
	mark := memkv.New(memkv.Options{Shared: true})
	source, err := tso.Open(ctx, mark, []byte("mark"), tso.Options{Clock: clock})
	if err != nil {
		return nil, err
	}
	n := newNetwork(e, regions, delays)
	return &cluster{n, e, &oracle{Oracle: source, n: n, busy: make(chan struct{}, 1)}}, nil
}

// stores opens the transaction layers of gateways.
func (c *cluster) stores(ctx context.Context, gateways int) (all []*txn.Store, err error) {
	for range gateways {
		s, err := txn.Open(ctx, c.network, txn.Options{Oracle: &asker{o: c.oracle}, Lease: lease})
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, s)
	}
	return all, nil
}

func closeAll[T io.Closer](all []T) (err error) {
	for _, c := range all {
		err = errors.Join(err, c.Close())
	}
	return err
}

// door is the cluster's engine as one gateway has it.
type door struct {
	*network
	source tso.Source
}

// Oracle implements tso.Provider.
func (d door) Oracle() tso.Source { return d.source }

// Close leaves the engine to the other gateways.
func (d door) Close() error { return nil }

// open opens a whole gateway.
func (c *cluster) open() (*minidb.DB, error) {
	engine := func(context.Context, kv.URL) (kv.Engine, error) {
		return door{c.network, &asker{o: c.oracle}}, nil
	}
	return minidb.Open("simulated://127.0.0.1/store", minidb.Engine("simulated", engine),
		minidb.Logger(slog.New(slog.DiscardHandler)))
}
