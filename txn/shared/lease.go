package shared

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// session is this process as the owner of locks: its id is in each of them, and as long as its
// lease lasts no other process takes its owner for dead (txn: I19).
//
// A session lives while its record is in the store. A process that finds the lease expired, by a
// timestamp that the oracle has given out, removes the record before it touches a lock; the owner
// renews only a record that is there. One of the two wins. An owner whose lease has expired takes a
// new session before it writes a lock or begins a transaction. Its running transactions go on
// unless their primaries were rolled back, which the commit point finds out.
//
// A goroutine renews the record. It also publishes the oldest start_ts of the transactions that run
// here. That is at or below the start_ts of each to come as well, for they draw theirs later
// (Options.Oldest). So nothing is written when a transaction begins or ends, and what is published
// merely lags.
type session struct {
	now atomic.Pointer[lease.Record] // as last written
	// turn is held while the record is written.
	turn turn
	// unsure says that a write of the record failed, so that the store may have a later Oldest. It
	// is under turn.
	unsure bool
}

// SessionID returns the id of the session, which locks have.
func (p *Peers) SessionID() uint64 { return p.session.now.Load().ID }

// Owner returns the id for a lock that is to be written now. A process whose lease has expired,
// because it was paused, takes a new session: others may take locks with the old id.
func (p *Peers) Owner(ctx context.Context) (uint64, error) {
	rec := p.session.now.Load()
	now, err := p.o.Now(ctx)
	if err != nil {
		return 0, err
	}
	if !rec.Expired(now) {
		return rec.ID, nil
	}
	rec, err = p.renew(ctx)
	if err != nil {
		return 0, err
	}
	return rec.ID, nil
}

// RenewLease does once what goroutines do otherwise, each Options.Renewal: it extends the lease of
// the session, publishes its oldest start_ts, and its waits while any transaction here looks for
// deadlock cycles, and gives back what locks are left.
func (p *Peers) RenewLease(ctx context.Context) error {
	if p == nil {
		return nil
	}
	err := p.extend(ctx)
	p.giveBackLeft(ctx)
	return err
}

func (p *Peers) extend(ctx context.Context) error {
	err := p.publishWaits(ctx)
	_, renewal := p.renew(ctx)
	return errors.Join(renewal, err)
}

// Lasts reports whether the lease lasts beyond a start_ts that was drawn now. If not it is renewed,
// and the transaction draws another.
func (p *Peers) Lasts(ctx context.Context, startTS tso.Timestamp) (bool, error) {
	if p == nil || !p.session.now.Load().Expired(startTS) {
		return true, nil
	}
	_, err := p.renew(ctx)
	return false, errors.Join(err, ctx.Err())
}

// renew renews the session, or begins a new one when there is none or it has ended.
func (p *Peers) renew(ctx context.Context) (*lease.Record, error) {
	if err := p.session.turn.take(ctx); err != nil {
		return nil, err
	}
	defer p.session.turn.leave()
	return p.renewLocked(ctx)
}

func (p *Peers) renewLocked(ctx context.Context) (*lease.Record, error) {
	now, err := p.o.Source.Next(ctx)
	if err != nil {
		return nil, err
	}
	old := p.session.now.Load()
	rec := lease.Record{
		LeaseEnd: tso.New(now.Physical()+max(1, p.o.Lease.Milliseconds()), 0),
		// now was drawn before: a transaction that is not registered yet gets a later start_ts.
		Oldest:    p.o.Oldest(now),
		Published: p.publication.number.Load(),
	}
	if old != nil && (!old.Expired(now) || p.session.unsure) {
		rec.ID = old.ID
		err := p.writeSession(ctx, rec, func(r kv.Reader, b *kv.Batch) error {
			return lease.Renew(ctx, r, b, rec, now)
		})
		if !errors.Is(err, lease.ErrEnded) {
			return &rec, err
		}
	}
	rec.ID = uint64(now)
	err = p.writeSession(ctx, rec, func(_ kv.Reader, b *kv.Batch) error {
		lease.Start(b, rec)
		return nil
	})
	if err == nil && old != nil {
		_ = p.removeSession(ctx, old.ID) // or the process that meets a lock of it does
	}
	return &rec, err
}

// writeSession runs a step on the record. It runs the step again when the result is unknown, and
// takes the record as written only once it is known to be.
func (p *Peers) writeSession(ctx context.Context, rec lease.Record, step kv.Step) error {
	p.session.unsure = true
	for attempts := 1; ; attempts++ {
		unknown, err := kv.Attempt(ctx, p.o.Engine, [][]byte{kv.Row(lease.Key(rec.ID))}, step)
		if err == nil {
			p.session.now.Store(&rec)
			p.session.unsure = false
			return nil
		}
		if !unknown || attempts == wait.UnknownAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// publish makes sure that the session's record has an oldest start_ts at or below startTS.
// Requires: it is registered.
func (p *Peers) publish(ctx context.Context, startTS tso.Timestamp) error {
	now, err := p.o.Now(ctx)
	if err != nil {
		return err
	}
	if err := p.session.turn.take(ctx); err != nil {
		return err
	}
	defer p.session.turn.leave()
	rec := p.session.now.Load()
	if rec.Oldest <= startTS && !rec.Expired(now) && !p.session.unsure {
		return nil
	}
	_, err = p.renewLocked(ctx)
	return err
}

// keepSession renews the lease until Close.
func (p *Peers) keepSession(ctx context.Context) {
	ticker := time.NewTicker(p.o.Renewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := p.extend(ctx); err != nil && ctx.Err() == nil {
			p.o.Logger.Warn("renewal of the owner's lease", "err", err)
		}
	}
}

// endSession removes the record, so that no process waits for locks that may be left.
func (p *Peers) endSession(ctx context.Context) error {
	err := errors.Join(p.publishWaits(ctx), p.removeSession(ctx, p.SessionID()))
	if err != nil && !errors.Is(err, kv.ErrClosed) {
		return fmt.Errorf("end of the owner's session: %w", err)
	}
	return nil
}

func (p *Peers) removeSession(ctx context.Context, id uint64) error {
	return kv.UpdateLazy(ctx, p.o.Engine, [][]byte{kv.Row(lease.Key(id))},
		func(_ kv.Reader, b *kv.Batch) error {
			lease.End(b, id)
			return nil
		})
}

// Dead reports whether the owner of a lock is dead, by the oracle's time: its session has ended, or
// its lease has expired. In the second case the session is ended first, so that all processes come
// to the same result, its owner too, should it come back. A lock without an owner is judged by its
// time to live.
func (p *Peers) Dead(ctx context.Context, owner uint64, now tso.Timestamp) (bool, error) {
	_, dead, err := p.judge(ctx, owner, now)
	return dead, err
}

// judge is Dead, with the record of an owner that is alive.
func (p *Peers) judge(ctx context.Context, owner uint64, now tso.Timestamp) (rec lease.Record,
	dead bool, err error) {
	own := p.session.now.Load()
	switch {
	case owner == 0:
		return lease.Record{}, false, nil
	case owner == own.ID && !own.Expired(now):
		return *own, false, nil
	}
	rec, found, err := p.readSession(ctx, owner)
	if err != nil || !found {
		return rec, err == nil, err
	}
	if !rec.Expired(now) {
		return rec, false, nil
	}
	rec, alive, err := p.checkLiveness(ctx, owner)
	return rec, !alive && err == nil, err
}

// readSession reads the record of a session.
func (p *Peers) readSession(ctx context.Context, id uint64) (rec lease.Record, found bool,
	err error) {
	err = kv.Repeat(ctx, p.o.Engine, func(r kv.Reader) (err error) {
		rec, found, err = lease.Get(ctx, r, id)
		return err
	})
	return rec, found, err
}

// checkLiveness ends the session if its lease has expired, by a timestamp that is drawn for this.
// Options.Now may be an estimate, which is ahead of the oracle's timestamps when the oracle stood
// still or the clock here is fast. The owner could then draw a commit_ts below the end of its lease
// when others have its row locks already (RowLocks.Check).
func (p *Peers) checkLiveness(ctx context.Context, id uint64) (rec lease.Record, alive bool,
	err error) {
	now, err := p.o.Source.Next(ctx)
	if err != nil {
		return rec, false, err
	}
	// Durable: a crash must not take the end back while what followed from it stays.
	err = p.o.Engine.Update(ctx, [][]byte{kv.Row(lease.Key(id))},
		func(r kv.Reader, b *kv.Batch) (err error) {
			rec, alive, err = lease.CheckLiveness(ctx, r, b, id, now)
			return err
		})
	return rec, alive, err
}

// oldestOfAll returns the lowest start_ts that a session has published whose lease lasts, or bound
// if that is lower. Sessions whose lease has expired are ended, and do not count.
func (p *Peers) oldestOfAll(ctx context.Context, bound, now tso.Timestamp) (tso.Timestamp, error) {
	snap, err := kv.Latest(p.o.Engine)
	if err != nil {
		return 0, err
	}
	all, err := lease.All(ctx, snap)
	if err := errors.Join(err, snap.Close()); err != nil {
		return 0, err
	}
	for _, rec := range all {
		if rec.Expired(now) {
			var alive bool
			if rec, alive, err = p.checkLiveness(ctx, rec.ID); err != nil {
				return 0, err
			} else if !alive {
				continue
			}
		}
		bound = min(bound, rec.Oldest)
	}
	return bound, nil
}
