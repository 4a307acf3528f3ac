package tikvkv

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"

	"github.com/minidb/minidb/txn/tso"
)

// pdOracle is PD as a tso.Source. Its timestamps are strictly increasing and unique in the cluster,
// also over a change of its leader, and laid out as a tso.Timestamp is.
type pdOracle struct {
	e      *Engine
	newest atomic.Pointer[reading]
	shown  tso.Forward // what Now returns
}

// reading is a timestamp, and when it was known.
type reading struct {
	ts tso.Timestamp
	at time.Time
}

// Next implements tso.Source.
func (o *pdOracle) Next(ctx context.Context) (tso.Timestamp, error) {
	o.e.counts.timestamps.Add(1)
	raw, err := reads(o.e, ctx, func(ctx context.Context) (uint64, error) {
		bo := tikv.NewBackofferWithVars(ctx, int(o.e.o.Patience.Milliseconds()), nil)
		return o.e.store.GetTimestampWithRetry(bo, oracle.GlobalTxnScope)
	})
	if err != nil {
		return 0, err
	}
	ts := tso.Timestamp(raw)
	o.note(&reading{ts: ts, at: time.Now()})
	return ts, nil
}

func (o *pdOracle) note(r *reading) {
	for {
		old := o.newest.Load()
		if old != nil && r.ts <= old.ts || o.newest.CompareAndSwap(old, r) {
			return
		}
	}
}

// Now returns about the oracle's time without asking for it: that of the newest timestamp and what
// has passed since. It never goes back. It judges how old something is, and orders nothing.
func (o *pdOracle) Now() tso.Timestamp {
	var now tso.Timestamp
	if r := o.newest.Load(); r != nil {
		now = r.ts + tso.New(time.Since(r.at).Milliseconds(), 0)
	}
	return o.shown.Time(now)
}
