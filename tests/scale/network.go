package scale

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
)

// Delays are how long requests take.
type Delays struct {
	// Trip is a round trip to a region or to the oracle.
	Trip time.Duration
	// Serve is how long a region is busy with an update; a region serves one at a time.
	Serve time.Duration
	// Draw is how long the oracle is busy with a request, for however many timestamps.
	Draw time.Duration
}

// Counts are requests.
type Counts struct {
	Reads, Updates, Draws int64
	// Keys are those that scans passed.
	Keys int64
	// Busy is how many of the updates found their region busy.
	Busy int64
}

func (c Counts) minus(d Counts) Counts {
	return Counts{c.Reads - d.Reads, c.Updates - d.Updates, c.Draws - d.Draws, c.Keys - d.Keys,
		c.Busy - d.Busy}
}

func (c Counts) all() int64 { return c.Reads + c.Updates + c.Draws }

// network is an engine in memory as if it were at a distance, in regions. All gateways share it.
type network struct {
	kv.Wrapped
	delays  Delays
	regions []chan struct{} // a region's has room while it is not busy

	reads, updates, draws, keys, busy atomic.Int64
}

func newNetwork(e kv.Engine, regions int, d Delays) *network {
	n := &network{Wrapped: kv.Wrapped{Engine: e}, delays: d,
		regions: make([]chan struct{}, regions)}
	for i := range n.regions {
		n.regions[i] = make(chan struct{}, 1)
	}
	return n
}

func (n *network) counts() Counts {
	return Counts{n.reads.Load(), n.updates.Load(), n.draws.Load(), n.keys.Load(), n.busy.Load()}
}

// pause waits for d, or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Snapshot implements kv.Engine.
func (n *network) Snapshot() (kv.Snapshot, error) {
	s, err := n.Engine.Snapshot()
	if err != nil {
		return nil, err
	}
	return distant{s, n}, nil
}

// distant is a snapshot of which each read of a key or a span is a request.
type distant struct {
	kv.Snapshot
	n *network
}

func (s distant) Get(ctx context.Context, key []byte) ([]byte, error) {
	s.n.reads.Add(1)
	if err := pause(ctx, s.n.delays.Trip); err != nil {
		return nil, err
	}
	return s.Snapshot.Get(ctx, key)
}

func (s distant) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	s.n.reads.Add(1)
	if err := pause(ctx, s.n.delays.Trip); err != nil {
		return nil, err
	}
	it, err := s.Snapshot.NewIter(ctx, span)
	return passing{it, s.n}, err
}

// passing counts the keys that an iterator comes to.
type passing struct {
	kv.Iterator
	n *network
}

func (i passing) count(found bool) bool {
	if found {
		i.n.keys.Add(1)
	}
	return found
}

func (i passing) SeekGE(key []byte) bool       { return i.count(i.Iterator.SeekGE(key)) }
func (i passing) SeekPrefixGE(key []byte) bool { return i.count(i.Iterator.SeekPrefixGE(key)) }
func (i passing) SeekLT(key []byte) bool       { return i.count(i.Iterator.SeekLT(key)) }
func (i passing) First() bool                  { return i.count(i.Iterator.First()) }
func (i passing) Last() bool                   { return i.count(i.Iterator.Last()) }
func (i passing) Next() bool                   { return i.count(i.Iterator.Next()) }
func (i passing) Prev() bool                   { return i.count(i.Iterator.Prev()) }
func (i passing) NextPrefix() bool             { return i.count(i.Iterator.NextPrefix()) }

// Update implements kv.Engine.
func (n *network) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	return n.update(ctx, rows, step, n.Engine.Update)
}

// UpdateLazy implements kv.Lazy: it saves no request.
func (n *network) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return n.update(ctx, rows, step, func(ctx context.Context, rows [][]byte, step kv.Step) error {
		return kv.UpdateLazy(ctx, n.Engine, rows, step)
	})
}

// update is a request that changes rows. One of which the step writes nothing is a read.
func (n *network) update(ctx context.Context, rows [][]byte, step kv.Step,
	apply func(context.Context, [][]byte, kv.Step) error) error {
	if err := pause(ctx, n.delays.Trip/2); err != nil {
		return kv.NotApplied(err)
	}
	region, waited := n.regions[n.Group(rows[0])], int64(0)
	select {
	case region <- struct{}{}:
	default:
		waited = 1
		select {
		case region <- struct{}{}:
		case <-ctx.Done():
			return kv.NotApplied(ctx.Err())
		}
	}
	wrote := false
	err := apply(ctx, rows, func(r kv.Reader, b *kv.Batch) error {
		err := step(r, b)
		wrote = err == nil && !b.Empty()
		return err
	})
	ctx = context.WithoutCancel(ctx)
	if wrote {
		n.updates.Add(1)
		n.busy.Add(waited)
		_ = pause(ctx, n.delays.Serve)
	} else {
		n.reads.Add(1)
	}
	<-region
	_ = pause(ctx, n.delays.Trip/2)
	return err
}
