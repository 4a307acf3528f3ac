package txn

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/txn/tso"
)

// registryShards spreads registration over several mutexes. A power of two.
const registryShards = 16

// registry knows the running transactions, so that none falls below the safepoint. A draw and its
// registration happen under one shard's mutex, or the registration comes first: a safepoint
// computed from a timestamp drawn before that mutex is taken is below every transaction that it
// does not see there.
type registry struct {
	shards [registryShards]shard
	// drawn is the newest timestamp that is known to have been drawn, for joinAhead.
	drawn tso.Forward

	// safe is held while the safepoint moves, and while a historical reader joins below the
	// present time; ordinary transactions join without it.
	safe struct {
		sync.Mutex
		point tso.Timestamp
	}
}

type shard struct {
	sync.Mutex
	head *registration
	_    [40]byte // a cache line each
}

// registration is a transaction's link in its shard's list.
type registration struct {
	startTS    tso.Timestamp
	drawing    bool        // startTS is not drawn yet, and what is there is a bound below it
	session    int64       // BeginOptions.Session
	wrote      atomic.Bool // the transaction has called for a write
	shard      *shard
	prev, next *registration
}

// join draws a start timestamp and registers it.
func (g *registry) join(ctx context.Context, r *registration, source tso.Source) error {
	sh := &g.shards[rand.Uint32()%registryShards]
	sh.Lock()
	defer sh.Unlock()
	ts, err := source.Next(ctx)
	if err != nil {
		return err
	}
	r.startTS = ts
	sh.link(r)
	return nil
}

// joinAhead is join with a source at a distance: no other transaction, and no renewal of the lease,
// waits for its answer. The transaction is registered before the draw, with a timestamp that was
// drawn earlier and is therefore below its own.
func (g *registry) joinAhead(ctx context.Context, r *registration, source tso.Source) error {
	sh := &g.shards[rand.Uint32()%registryShards]
	sh.Lock()
	r.startTS, r.drawing = g.drawn.Time(0), true
	sh.link(r)
	sh.Unlock()
	ts, err := source.Next(ctx)
	if err != nil {
		g.leave(r)
		return err
	}
	g.drawn.Time(ts)
	sh.Lock()
	defer sh.Unlock()
	r.startTS, r.drawing = ts, false
	return nil
}

// joinAt registers a historical reader, unless it is below the safepoint.
func (g *registry) joinAt(r *registration, startTS tso.Timestamp) error {
	g.safe.Lock()
	defer g.safe.Unlock()
	if startTS < g.safe.point {
		return &SafepointError{StartTS: startTS, Safepoint: g.safe.point}
	}
	g.link(r, startTS)
	return nil
}

func (sh *shard) link(r *registration) {
	r.shard, r.prev, r.next = sh, nil, sh.head
	if sh.head != nil {
		sh.head.prev = r
	}
	sh.head = r
}

func (g *registry) leave(r *registration) {
	sh := r.shard
	if sh == nil {
		return
	}
	sh.Lock()
	defer sh.Unlock()
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		sh.head = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.shard, r.prev, r.next = nil, nil, nil
}

// each calls visit with every registered transaction, under its shard's mutex.
func (g *registry) each(visit func(r *registration)) {
	for i := range g.shards {
		sh := &g.shards[i]
		sh.Lock()
		for r := sh.head; r != nil; r = r.next {
			visit(r)
		}
		sh.Unlock()
	}
}

// oldest returns the lowest registered start timestamp that is below bound, or bound. Requires:
// no timestamp at or below bound is drawn from now on.
func (g *registry) oldest(bound tso.Timestamp) tso.Timestamp {
	g.drawn.Time(bound) // so that what joinAhead registers is not far below
	g.each(func(r *registration) { bound = min(bound, r.startTS) })
	return bound
}

// active counts the registered transactions.
func (g *registry) active() (n int) {
	g.each(func(*registration) { n++ })
	return n
}

// advance moves the safepoint up to candidate, or to the oldest running transaction if that is
// lower, and returns it. Requires: candidate was drawn before the call. The safepoint never falls.
func (g *registry) advance(candidate tso.Timestamp) tso.Timestamp {
	g.safe.Lock()
	defer g.safe.Unlock()
	g.safe.point = max(g.safe.point, g.oldest(candidate))
	return g.safe.point
}

// link registers a reader of the past, without asking whether it is below the safepoint.
func (g *registry) link(r *registration, startTS tso.Timestamp) {
	sh := &g.shards[0]
	sh.Lock()
	defer sh.Unlock()
	r.startTS = startTS
	sh.link(r)
}

// note remembers a safepoint that the store has.
func (g *registry) note(point tso.Timestamp) {
	g.safe.Lock()
	defer g.safe.Unlock()
	g.safe.point = max(g.safe.point, point)
}

func (g *registry) safepoint() tso.Timestamp {
	g.safe.Lock()
	defer g.safe.Unlock()
	return g.safe.point
}
