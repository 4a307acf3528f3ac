package shared

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/tso"
)

// The safepoint of a store that several processes share (txn: I20). Versions are dropped only after
// the safepoint that allows it is in the store. So a reader reads the safepoint in the very state
// of the store in which it reads, or checks, anything else. If the safepoint is at or below the
// reader's timestamp, nothing that it should find is gone. That alone keeps results right, whatever
// a process believes of its lease. Sessions publish their oldest start_ts only so that readers are
// not refused.
//
// Readers of the past publish their start_ts and then look for a raise under way; a collector
// announces its target and then looks for readers. One process collects at a time. One that lost
// its claim while it was paused drops nothing that the recorded safepoint does not allow.
//
// A transaction does not begin below a safepoint. Its start_ts is drawn under a lease that lasts
// beyond it, so the session's record was there. A collector draws its target first and reads the
// sessions then. If it finds the record, that bounds the transaction. If it finds none, the record
// was written later, and start_ts drawn later still, so start_ts is above the target. If it finds
// the lease expired, by a time drawn after the lease's end, start_ts is below that time, and the
// transaction has outlived its lease.

// CheckSafepoint refuses a timestamp below the safepoint of the reader's state.
func (p *Peers) CheckSafepoint(ctx context.Context, r kv.Reader, ts tso.Timestamp) error {
	point, err := p.SafepointIn(ctx, r)
	if err == nil && ts < point {
		err = &gc.SafepointError{StartTS: ts, Safepoint: point}
	}
	return err
}

// SafepointIn returns the safepoint of the reader's state: zero for a process that is alone, whose
// registry of transactions holds the safepoint back instead.
func (p *Peers) SafepointIn(ctx context.Context, r kv.Reader) (tso.Timestamp, error) {
	if p == nil {
		return 0, nil
	}
	safe, err := gc.ReadSafepoint(ctx, r)
	return safe.Point, err
}

// JoinPast admits a reader of the past that is registered (Options.Oldest): it publishes start_ts
// and then looks at the safepoint, so that either the collector sees it, or it sees the collector
// (gc.Safepoint).
func (p *Peers) JoinPast(ctx context.Context, startTS tso.Timestamp) error {
	if err := p.publish(ctx, startTS); err != nil {
		return err
	}
	safe, err := p.readSafepoint(ctx)
	if err == nil && safe.Bars(startTS) {
		err = &gc.SafepointError{StartTS: startTS, Safepoint: max(safe.Point, safe.Target)}
	}
	return err
}

// Safepoint reads the safepoint of the store.
func (p *Peers) Safepoint(ctx context.Context) (tso.Timestamp, error) {
	safe, err := p.readSafepoint(ctx)
	return safe.Point, err
}

func (p *Peers) readSafepoint(ctx context.Context) (safe gc.Safepoint, err error) {
	err = kv.Repeat(ctx, p.o.Engine, func(r kv.Reader) (err error) {
		safe, err = gc.ReadSafepoint(ctx, r)
		return err
	})
	p.o.NoteSafepoint(safe.Point)
	return safe, err
}

// claim makes this process the collector, and announces the target. A collector whose session has
// ended loses its claim.
func (p *Peers) claim(ctx context.Context, own uint64, target, now tso.Timestamp) error {
	dead := uint64(0)
	for {
		var found gc.Safepoint
		err := p.o.Engine.Update(ctx, [][]byte{gc.SafepointRow()},
			func(r kv.Reader, b *kv.Batch) (err error) {
				found, err = gc.Claim(ctx, r, b, own, dead, target)
				return err
			})
		if !errors.Is(err, gc.ErrClaimed) {
			return err
		}
		gone, judged := p.Dead(ctx, found.Collector, now)
		if judged != nil || !gone {
			return errors.Join(err, judged)
		}
		dead = found.Collector
	}
}

// Raise moves the safepoint up to candidate, or to the oldest start_ts that a session has published
// whose lease lasts. Requires: candidate is at or below now, which was drawn before. The claim
// stays.
func (p *Peers) Raise(ctx context.Context, candidate, now tso.Timestamp) (tso.Timestamp, error) {
	rec, err := p.renew(ctx) // so that the own record does not hold the safepoint back
	if err != nil {
		return 0, err
	}
	if err := p.claim(ctx, rec.ID, candidate, now); err != nil {
		return 0, err
	}
	oldest, err := p.oldestOfAll(ctx, candidate, now)
	if err != nil {
		return 0, err
	}
	var point tso.Timestamp
	// Durable, and before anything is dropped.
	err = p.o.Engine.Update(ctx, [][]byte{gc.SafepointRow()},
		func(r kv.Reader, b *kv.Batch) (err error) {
			point, err = gc.Raise(ctx, r, b, rec.ID, oldest)
			return err
		})
	if err != nil {
		return 0, err
	}
	p.o.NoteSafepoint(point)
	return point, nil
}

// ReleaseClaim gives the claim up after a pass.
func (p *Peers) ReleaseClaim(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return kv.UpdateLazy(ctx, p.o.Engine, [][]byte{gc.SafepointRow()},
		func(r kv.Reader, b *kv.Batch) error {
			return gc.Release(ctx, r, b, p.SessionID())
		})
}
