package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// ErrHoldEnded is returned for a hold whose lease has ended: what it held may be gone.
var ErrHoldEnded = errors.New("the hold on the store's past has ended")

// Hold keeps the state of a store at one timestamp for a reader that takes long, and begins again
// when it is interrupted (txn: I33):
//
//   - the safepoint stays at or below the timestamp, and so does what package gc drops;
//   - notifications that were stamped up to it are not removed. Other keys have versions,
//     notifications have not: one that was pending at the timestamp would be gone once its observer
//     has run.
//
// It is a record in the store with a lease (package lease), which outlives the process.
//
// A notification that was pending at the timestamp is removed after a run that commits above it.
// The hold keeps all of them before the timestamp is drawn (NewHold, then At). So whatever removes
// one has committed, and looks at the holds, when the record is there.
type Hold struct {
	s     *Store
	rec   lease.Hold
	lease time.Duration
}

// firstLease is how long a hold lasts before the first Renew. Until At is called it keeps all
// notifications. Until the caller has noted the hold's name, no later process can find it.
const firstLease = time.Minute

// NewHold writes the record of a hold. The caller then draws the timestamp and says which one it is
// (At). Once it has noted the hold's name (ID) for a later process, it calls Renew: from then on
// the hold lasts for the length of a lease, and again with each renewal.
func (s *Store) NewHold(ctx context.Context, length time.Duration) (*Hold, error) {
	now, err := s.source.Next(ctx)
	if err != nil {
		return nil, err
	}
	s.holds.Store(true)
	h := &Hold{s: s, lease: length, rec: lease.Hold{ID: uint64(now), Oldest: now, Keep: tso.Max}}
	h.rec.LeaseEnd = endOfLease(now, min(length, firstLease))
	err = s.onHold(ctx, h.rec.ID, func(_ kv.Reader, b *kv.Batch) error {
		lease.PutHold(b, h.rec)
		return nil
	})
	return h, err
}

// TakeHold takes over the hold that an earlier process has left, or fails with ErrHoldEnded.
func (s *Store) TakeHold(ctx context.Context, id uint64, length time.Duration) (*Hold, error) {
	h := &Hold{s: s, lease: length}
	err := kv.Repeat(ctx, s.engine, func(r kv.Reader) error {
		rec, found, err := lease.GetHold(ctx, r, id)
		if err == nil && !found {
			err = ErrHoldEnded
		}
		h.rec = rec
		return err
	})
	if err != nil {
		return nil, err
	}
	return h, h.renew(ctx, length)
}

// ID names the hold for TakeHold.
func (h *Hold) ID() uint64 { return h.rec.ID }

// End is when the lease ends, by the store's time.
func (h *Hold) End() tso.Timestamp { return h.rec.LeaseEnd }

// At says which timestamp is held, for a minute at most.
func (h *Hold) At(ctx context.Context, ts tso.Timestamp) error { return h.Keep(ctx, ts, ts) }

// Keep says what is held from now on, for a minute at most: what readers at or above oldest see,
// and notifications that are stamped up to keep.
func (h *Hold) Keep(ctx context.Context, oldest, keep tso.Timestamp) error {
	h.rec.Oldest, h.rec.Keep = oldest, keep
	return h.renew(ctx, min(h.lease, firstLease))
}

// Leave says what is held from now on, and for how long, by a process that ends now.
func (h *Hold) Leave(ctx context.Context, oldest, keep tso.Timestamp, length time.Duration) error {
	h.rec.Oldest, h.rec.Keep, h.lease = oldest, keep, length
	return h.renew(ctx, length)
}

// Renew gives the hold its whole lease again once less than half of that is left, as it is from the
// beginning. It fails with ErrHoldEnded when the hold has ended.
func (h *Hold) Renew(ctx context.Context) error {
	now, err := h.s.oracleTime(ctx)
	if err != nil || now.Physical() < h.rec.LeaseEnd.Physical()-h.lease.Milliseconds()/2 {
		return err
	}
	return h.renew(ctx, h.lease)
}

// Check renews the lease whatever is left of it, so that nil means: the hold was in force all the
// time.
func (h *Hold) Check(ctx context.Context) error { return h.renew(ctx, h.lease) }

func (h *Hold) renew(ctx context.Context, length time.Duration) error {
	now, err := h.s.source.Next(ctx)
	if err != nil {
		return err
	}
	rec := h.rec
	rec.LeaseEnd = endOfLease(now, length)
	err = h.s.onHold(ctx, rec.ID, func(r kv.Reader, b *kv.Batch) error {
		return lease.RenewHold(ctx, r, b, rec, now)
	})
	if errors.Is(err, lease.ErrEnded) {
		return ErrHoldEnded
	}
	if err == nil {
		h.rec = rec
	}
	return err
}

// Release ends the hold.
func (h *Hold) Release(ctx context.Context) error { return h.s.DropHold(ctx, h.rec.ID) }

// DropHold ends a hold that an earlier process has left, if it is there.
func (s *Store) DropHold(ctx context.Context, id uint64) error {
	return s.onHold(ctx, id, func(_ kv.Reader, b *kv.Batch) error {
		lease.EndHold(b, id)
		return nil
	})
}

func endOfLease(now tso.Timestamp, length time.Duration) tso.Timestamp {
	return tso.New(now.Physical()+max(1, length.Milliseconds()), 0)
}

// onHold runs a step on a hold's record, durably, and again when the result is unknown: each of
// them may come twice.
func (s *Store) onHold(ctx context.Context, id uint64, step kv.Step) error {
	for attempts := 1; ; attempts++ {
		unknown, err := kv.Attempt(ctx, s.engine, [][]byte{kv.Row(lease.HoldKey(id))}, step)
		if err == nil || !unknown || attempts == wait.UnknownAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// loadHolds finds out whether there may be holds. On a store that others write to there may.
func (s *Store) loadHolds(ctx context.Context, r kv.Reader) error {
	if !s.alone {
		s.holds.Store(true)
		return nil
	}
	all, err := lease.Holds(ctx, r)
	if err != nil && !s.unread(err) {
		return err
	}
	s.holds.Store(len(all) > 0 || err != nil)
	return nil
}

// Holds reports whether a hold is in force: then some notifications stay though their observers
// have seen them.
func (s *Store) Holds(ctx context.Context) (bool, error) {
	all, err := s.liveHolds(ctx)
	return len(all) > 0, err
}

// HeldPast is what a hold in force keeps.
type HeldPast struct {
	Since  tso.Timestamp // when it began
	Oldest tso.Timestamp // readers at or above it miss nothing
	// Keep is the stamp up to which notifications are kept; zero: none is.
	Keep  tso.Timestamp
	Until tso.Timestamp // when its lease ends
}

// HeldPasts lists the holds in force. It ends none whose lease is over: it is for views.
func (s *Store) HeldPasts(ctx context.Context) (out []HeldPast, err error) {
	if !s.holds.Load() {
		return nil, nil
	}
	now, err := s.oracleTime(ctx)
	if err != nil {
		return nil, err
	}
	err = kv.Repeat(ctx, s.engine, func(r kv.Reader) error {
		out = nil
		all, err := lease.Holds(ctx, r)
		for _, h := range all {
			if !h.Expired(now) {
				out = append(out, HeldPast{tso.Timestamp(h.ID), h.Oldest, h.Keep, h.LeaseEnd})
			}
		}
		return err
	})
	return out, err
}

// liveHolds returns the holds in force. Those whose lease has ended are removed first, so that
// their owners learn of it.
func (s *Store) liveHolds(ctx context.Context) (live []lease.Hold, err error) {
	if !s.holds.Load() {
		return nil, nil
	}
	var all []lease.Hold
	err = kv.Repeat(ctx, s.engine, func(r kv.Reader) (err error) {
		all, err = lease.Holds(ctx, r)
		return err
	})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	now, err := s.oracleTime(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		lasts := true
		if h.Expired(now) {
			id := h.ID // the step may run twice, and the first run changes h
			err := s.onHold(ctx, id, func(r kv.Reader, b *kv.Batch) (err error) {
				h, lasts, err = lease.CheckHold(ctx, r, b, id, now)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("end of a hold: %w", err)
			}
		}
		if lasts {
			live = append(live, h)
		}
	}
	return live, nil
}

// heldBack returns ts, or what a hold allows if that is lower. Requires: ts is at or below a
// timestamp that was drawn before the call. A hold that is not seen here was written later, and the
// timestamp that it holds was drawn later still.
func (s *Store) heldBack(ctx context.Context, ts tso.Timestamp) (tso.Timestamp, error) {
	all, err := s.liveHolds(ctx)
	for _, h := range all {
		ts = min(ts, h.Oldest)
	}
	return ts, err
}

// keptStamp returns the stamp up to which notifications are not to be removed; zero: all may be.
func (s *Store) keptStamp(ctx context.Context) (kept tso.Timestamp, err error) {
	all, err := s.liveHolds(ctx)
	for _, h := range all {
		kept = max(kept, h.Keep)
	}
	return kept, err
}
