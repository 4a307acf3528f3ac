package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// collectors is how many processes collect on a shared engine, each with a store of its own.
const collectors = 2

// leases makes owners renew when they move, and not by a clock of their own: a coordinator that
// pauses outlives its lease.
func (r *run) leases(opts *txn.Options) {
	opts.Lease = time.Duration(50+r.dice.IntN(800)) * time.Millisecond
	opts.LeaseRenewal = -1
}

// renew is a sign of life, now and then.
func (r *run) renew(ctx context.Context, s *txn.Store, dice *rand.Rand) {
	if dice.IntN(4) == 0 {
		return
	}
	if err := s.RenewLease(ctx); err != nil && !errors.Is(err, errLost) {
		r.report(Unexpected, "a lease is renewed: %v", err)
	}
}

// lease returns the end of the lease under which the client's store locks rows now. Where it has
// none it lasts. Nothing is said of one that streams and whose prewrites take the place of row
// locks while it goes on, on a shared store or because it gives those in memory back: once the
// primary's time to live is over others may roll it back.
func (c *client) lease(ctx context.Context) tso.Timestamp {
	switch o := c.r.config.Options; {
	case o.StreamBytes > 0 && (c.r.config.StorePerCoordinator || o.RowLocks > 0):
		return 0
	case !c.r.config.StorePerCoordinator:
		return tso.Max
	}
	rec, _, _ := sessionOf(ctx, c.s.Engine(), c.s.SessionID()) // of one that has ended, zero
	return rec.LeaseEnd
}

// exchange comes before a commit, whose prewrites take the place of row locks in the store: from
// then on their time to live counts, though the lease may be longer.
func (c *client) exchange() {
	if !c.r.config.StorePerCoordinator {
		return
	}
	now := c.s.Oracle().(*tso.Oracle).Now()
	expired := tso.New(now.Physical()+c.r.opts.LockTTL.Milliseconds(), 0)
	for i := range c.rec.Locks {
		c.rec.Locks[i].Until = min(c.rec.Locks[i].Until, expired)
	}
}

// reborn gives a coordinator the store of another process. The old one is closed, or dies with its
// lease.
func (r *run) reborn(ctx context.Context, s **txn.Store, w *watched, dice *rand.Rand) bool {
	next, err := txn.Open(ctx, w, r.opts)
	if errors.Is(err, errLost) {
		return true // it tries again another time
	}
	if err == nil && dice.IntN(2) == 0 {
		err = (*s).Close()
	} else {
		r.mu.Lock()
		r.dead = append(r.dead, *s)
		r.mu.Unlock()
	}
	if err != nil {
		r.report(Unexpected, "a store is opened again: %v", err)
		return false
	}
	*s = next
	return true
}

// collect is a collector's life.
func (r *run) collect(s *txn.Store, actor int, dice *rand.Rand) {
	ctx := withActor(context.Background(), actor)
	for range 3 {
		for range 20 + dice.IntN(100) {
			r.t.Pass(actor)
		}
		_, err := s.CollectGarbage(ctx)
		var locked *txn.LockedError
		if err != nil && !errors.As(err, &locked) && !errors.Is(err, txn.ErrAbandoned) &&
			!errors.Is(err, errLost) &&
			!errors.Is(err, gc.ErrClaimed) {
			r.report(Unexpected, "collection: %v", err)
		}
	}
}

// sessionOf returns what a snapshot of the engine has of a session.
func sessionOf(ctx context.Context, e kv.Engine, id uint64) (rec lease.Record, found bool,
	err error) {
	snap, err := kv.Latest(e)
	if err != nil {
		return rec, false, err
	}
	rec, found, err = lease.Get(ctx, snap, id)
	return rec, found, errors.Join(err, snap.Close())
}

// refused checks whether a transaction had to fail because it is below the safepoint: it must not
// while the session under which it began has not been ended. Readers of the past that did not begin
// are none of its.
func (r *run) refused(s *txn.Store, id uint64, err error) {
	var below *txn.SafepointError
	if !errors.As(err, &below) || kv.IsExclusive(s.Engine()) {
		return
	}
	_, found, err := sessionOf(context.Background(), s.Engine(), id)
	if err != nil || found {
		r.report(Forsaken, "a transaction of the living session %s: %v (%v)", tso.Timestamp(id),
			below, err)
	}
}

// judgeEnd checks whether another process's session is ended before its lease is past.
func (w *watched) judgeEnd(ctx context.Context, r kv.Reader, actor int, key []byte,
	of *judgement) error {
	prefix := mvcc.MetaKey("session/")
	if actor == 1<<20 || !bytes.HasPrefix(key, prefix) {
		return nil
	}
	var id uint64
	if _, err := fmt.Sscanf(string(key[len(prefix):]), "%x", &id); err != nil {
		return err
	}
	rec, found, err := lease.Get(ctx, r, id)
	if now := w.now(); err == nil && found && !rec.Expired(now) {
		of.found = append(of.found, Violation{Impatience, fmt.Sprintf(
			"session %s ended at %s, its lease ends at %s", tso.Timestamp(id), now, rec.LeaseEnd)})
	}
	return err
}

// ownerLives reports whether the owner of a lock has a session whose lease is not past, or is not
// named by the lock. On an exclusive engine every owner that is not known to be dead may live.
func (w *watched) ownerLives(ctx context.Context, r kv.Reader, l *mvcc.Lock,
	now tso.Timestamp) (bool, error) {
	if w.Exclusive() || l.Owner == 0 {
		return l.StartTS > w.started(-1), nil
	}
	rec, found, err := lease.Get(ctx, r, l.Owner)
	return found && !rec.Expired(now), err
}
