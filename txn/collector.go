package txn

import (
	"context"
	"errors"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// collectPeriodically runs passes until Close: a pass every GCInterval, cut into steps of GCRows
// with pauses between them, so that it takes a small share of the machine. A step that failed is
// taken again an interval later, from where it was.
func (s *Store) collectPeriodically(ctx context.Context) {
	timer := time.NewTimer(s.opts.GCInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.tight.rung:
		}
		began := time.Now()
		done, err := s.CollectStep(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			s.collected.failures.Add(1)
			s.opts.Logger.Warn("garbage collection", "err", err)
			timer.Reset(s.opts.GCInterval)
		case done:
			timer.Reset(s.opts.GCInterval)
		default:
			timer.Reset(min(pauseAfter(time.Since(began)), s.opts.GCInterval))
		}
	}
}

// gcPause is the shortest pause between two steps of a pass in the background, and gcRest times the
// duration of a step is another: a pass takes at most a sixth of one processor, and less on a
// machine that is slow.
const (
	gcPause = 20 * time.Millisecond
	gcRest  = 5
)

// pauseAfter returns the pause after a step that took so long.
func pauseAfter(step time.Duration) time.Duration { return max(gcPause, gcRest*step) }

// CollectStep takes the next step of the background's pass, beginning one when there is none, and
// reports whether it is over. No pass is begun when nothing was committed above the last one's
// safepoint, or while another process collects, or has lately.
func (s *Store) CollectStep(ctx context.Context) (done bool, err error) {
	s.pass.Lock()
	defer s.pass.Unlock()
	if s.pass.now == nil {
		if s.nothingToCollect() {
			return true, nil
		}
		if lately, err := s.collectedLately(ctx); err != nil || lately {
			return err == nil, err
		}
		safepoint, err := s.raiseSafepoint(ctx)
		if errors.Is(err, gc.ErrClaimed) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		s.pass.now = gc.NewPass(safepoint)
	}
	if err := s.settleForPass(ctx, s.pass.now); err != nil {
		return false, err
	}
	done, err = s.pass.now.Step(ctx, s.engine, settler{s}, s.opts.GCRows)
	if err == nil && done {
		s.pass.safepoint, s.pass.again = s.pass.now.Stats.Safepoint, s.pass.now.Stats.Spans > 0
		s.memory.Collected(s.pass.safepoint)
		s.collected.count(&s.pass.now.Stats)
		s.pass.now = nil
		err = errors.Join(s.peers.DropDead(ctx), s.peers.ReleaseClaim(ctx))
	}
	return done, err
}

// settleForPass settles the locks for a pass of the background, and then gives it the spans to look
// through: in this order, for rollbacks leave records.
func (s *Store) settleForPass(ctx context.Context, p *gc.Pass) error {
	if p.Settled() {
		return nil
	}
	err := s.settleAlone(ctx, func() error { return p.Settle(ctx, s.engine, settler{s}) })
	if err == nil {
		p.Over(s.memory.Garbage.Due(p.Stats.Safepoint))
	}
	return err
}

// nothingToCollect reports whether a pass would find nothing: nothing was committed above the last
// one's safepoint, and that one left nothing to look at again.
func (s *Store) nothingToCollect() bool {
	return s.pass.safepoint != 0 && !s.pass.again && s.memory.Quiet(s.pass.safepoint)
}

// collectedLately reports whether the safepoint of a store that several processes share was moved,
// by whichever of them, within half an interval. Each pass goes through the whole store there, so
// they take turns. A pass that was begun then and has died with its process is made up for by the
// next.
func (s *Store) collectedLately(ctx context.Context) (bool, error) {
	if s.peers == nil || s.opts.GCInterval <= 0 {
		return false, nil
	}
	now, err := s.oracleTime(ctx)
	if err != nil {
		return false, err
	}
	point, err := s.peers.Safepoint(ctx)
	due := now.Physical() - s.retention().Milliseconds() - s.opts.GCInterval.Milliseconds()/2
	return point.Physical() > due, err
}

// CollectGarbage moves the safepoint to Options.Retention before now, or to the oldest running
// transaction, settles every lock below it and drops the versions that no reader can see any more.
// On a store that other processes write to, the oldest is that of all sessions, and the error is
// gc.ErrClaimed while another process collects.
func (s *Store) CollectGarbage(ctx context.Context) (gc.Stats, error) {
	return s.collectOnce(ctx, func() (gc.Stats, error) {
		safepoint, err := s.raiseSafepoint(ctx)
		if err != nil {
			return gc.Stats{}, err
		}
		return s.collectBelow(ctx, safepoint, kv.Span{}, nil)
	})
}

// CollectSpan is CollectGarbage for a span of keys: it drops versions there and nowhere else. While
// another process collects it does so below the safepoint that the store has.
// report, if not nil, is called now and then with what was done so far.
func (s *Store) CollectSpan(ctx context.Context, span kv.Span,
	report func(gc.Stats)) (gc.Stats, error) {
	return s.collectOnce(ctx, func() (gc.Stats, error) {
		safepoint, err := s.raiseSafepoint(ctx)
		if errors.Is(err, gc.ErrClaimed) {
			// Reads below it are refused already, whatever the other collector does.
			safepoint, err = s.peers.Safepoint(ctx)
		}
		if err != nil {
			return gc.Stats{}, err
		}
		return s.collectBelow(ctx, safepoint, span, report)
	})
}

// collectOnce runs a collection that raises the safepoint itself.
func (s *Store) collectOnce(ctx context.Context,
	collect func() (gc.Stats, error)) (gc.Stats, error) {
	if s.peers == nil {
		return collect()
	}
	s.pass.Lock() // one raise at a time
	defer s.pass.Unlock()
	stats, err := collect()
	if s.pass.now != nil || errors.Is(err, ErrAbandoned) {
		return stats, err // the claim is the background's, or a dead coordinator's
	}
	return stats, errors.Join(err, s.peers.ReleaseClaim(ctx))
}

// collectBelow settles the locks below a safepoint and drops versions in a span.
func (s *Store) collectBelow(ctx context.Context, safepoint tso.Timestamp, span kv.Span,
	report func(gc.Stats)) (gc.Stats, error) {
	pass := gc.NewPassOver(safepoint, span)
	pass.OnProgress(report)
	err := s.settleAlone(ctx, func() error { return pass.Settle(ctx, s.engine, settler{s}) })
	if err == nil {
		_, err = pass.Step(ctx, s.engine, settler{s}, 0)
	}
	if err == nil {
		s.collected.count(&pass.Stats)
		s.memory.LockHolders.LeaveBelow(safepoint)
		err = s.peers.DropDead(ctx)
	}
	return pass.Stats, err
}

// raiseSafepoint moves the safepoint as far as it may go, and records it.
func (s *Store) raiseSafepoint(ctx context.Context) (tso.Timestamp, error) {
	now, err := s.source.Next(ctx)
	if err != nil {
		return 0, err
	}
	candidate := now
	if r := s.retention().Milliseconds(); r > 0 {
		candidate = tso.New(max(0, now.Physical()-r), 0)
	}
	if candidate, err = s.heldBack(ctx, candidate); err != nil {
		return 0, err
	}
	if s.peers != nil {
		return s.peers.Raise(ctx, candidate, now)
	}
	safepoint := s.registry.advance(candidate)
	// Recorded before anything is dropped: after a restart, a reader below is still refused.
	err = kv.UpdateLazy(ctx, s.engine, [][]byte{gc.SafepointRow()},
		func(r kv.Reader, b *kv.Batch) error {
			return gc.SetPoint(ctx, r, b, safepoint)
		})
	return safepoint, err
}

// SettleLocks settles every lock of the store, and removes row locks of dead owners, for a tool
// that opens a store which no other process uses: on an exclusive engine the owners of locks found
// at Open are dead, and nothing is waited for. It returns how many there were.
func (s *Store) SettleLocks(ctx context.Context) (int, error) {
	now, err := s.source.Next(ctx)
	if err != nil {
		return 0, err
	}
	// Asked before the locks are settled: a transaction that ends meanwhile may leave some that
	// were not met.
	alone := s.registry.oldest(now) == now
	n := 0
	err = s.settleAlone(ctx, func() (err error) {
		n, err = gc.SettleLocks(ctx, s.engine, settler{s}, now)
		return err
	})
	if err == nil && alone {
		s.memory.LockHolders.LeaveBelow(now)
	}
	if err != nil {
		return n, err
	}
	rows, err := shared.DropDeadRowLocks(ctx, s.engine, s.limits, s.oldestOf)
	return n + rows, err
}

// settleAlone runs a function that goes through the locks of the store to settle them, once no
// other such function runs. Of two at once, each would step over the marks of what the other has
// deleted, again and again.
func (s *Store) settleAlone(ctx context.Context, settle func() error) error {
	select {
	case s.settling <- struct{}{}:
		defer func() { <-s.settling }()
		return settle()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SettleExpired settles the locks whose time to live is over at a time, waiting for their owners to
// finish.
func (s *Store) SettleExpired(ctx context.Context, now tso.Timestamp) error {
	_, err := gc.SettleEach(ctx, s.engine, settler{s},
		func(l mvcc.Lock) bool { return l.Expired(now) })
	return err
}

// settler is the resolver as the collector uses it.
type settler struct{ s *Store }

// Settle settles a lock, waiting for its owner to finish or expire, and those of the same
// transaction that directly follow it. It returns the key of the last one, and their number.
func (st settler) Settle(ctx context.Context, key []byte, l mvcc.Lock) (through []byte, n int,
	err error) {
	bo := wait.Backoff{Limit: st.s.opts.LockWait + st.s.opts.LockTTL, Closing: st.s.closing.ch}
	locked := &mvcc.LockedError{Key: key, Lock: l}
	for {
		out, run, err := st.s.resolver.SettleRun(ctx, locked, 0, false)
		if err != nil || out == resolve.Settled {
			return run.Through, run.Locks, err
		}
		more, err := bo.Wait(ctx)
		if err != nil {
			return nil, 0, err
		}
		if !more {
			return nil, 0, locked
		}
	}
}
