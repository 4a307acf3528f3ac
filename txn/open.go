package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/secondaries"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/tso"
)

// Open returns a store on the engine. Locks left by dead coordinators are settled by the
// transactions that meet them. On an exclusive engine the background begins with them at once,
// because reads look for locks until they are gone.
func Open(ctx context.Context, engine kv.Engine, opts Options) (*Store, error) {
	s := &Store{
		engine: engine, opts: opts.withDefaults(), source: opts.Oracle,
		settling: make(chan struct{}, 1),
	}
	s.closing.ch = make(chan struct{})
	s.alone = kv.IsExclusive(engine)
	s.limits = limitsOf(engine).Lower(kv.Limits{Rows: s.opts.BatchKeys})
	s.memory.Init(s.alone, s.opts.RowCacheBytes, s.opts.SectionCacheBytes,
		s.opts.SectionFile != nil)
	s.tight.rung = make(chan struct{}, 1)
	s.resolver = resolve.New(resolve.Options{
		Engine: engine, Limits: limitsOf(engine), Memory: &s.memory, Clock: s.oracleTime,
		Dead: s.ownerDead,
		At:   func(step resolve.Step) error { return s.at(CrashPoint(step)) },
	})
	s.secondaries = secondaries.New(secondaries.Options{
		Engine: engine, Memory: &s.memory, Limits: s.limits, Logger: s.opts.Logger,
		Closing: s.closing.ch, AtOnce: s.opts.CrashPoint != nil,
		AfterBatch: func() error { return s.at(AfterSecondaryBatch) },
	})
	if s.source == nil && !s.alone {
		return nil, ErrNoOracle
	}
	if s.source == nil {
		own, err := tso.Open(ctx, engine, oracleKey, tso.Options{
			Clock: opts.Clock, AcceptClock: opts.AcceptClock, Logger: opts.Logger})
		if err != nil {
			return nil, fmt.Errorf("open transaction store: %w", err)
		}
		s.source, s.own = own, own
	}
	if err := commit.CheckProtocol(s.opts.Protocol, engine, s.source); err != nil {
		return nil, fmt.Errorf("open transaction store: %w", err)
	}
	if err := s.beginSession(ctx); err != nil {
		return nil, fmt.Errorf("open transaction store: %w", err)
	}
	s.waits = lockwait.New(lockwait.Options{
		RowLocks: &s.rowLocks, Peers: s.peers, LockWait: s.opts.LockWait, Closing: s.closing.ch,
	})
	s.coordinator = commit.New(s.coordination())
	found, err := s.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("open transaction store: %w", err)
	}
	if s.alone && !s.opts.LeaveFoundLocks {
		if err := s.takeBackLeft(ctx); err != nil && !s.unread(err) {
			s.memory.Snapshots.Close()
			return nil, fmt.Errorf("open transaction store: %w", err)
		}
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.workers.Go(func() { s.secondaries.Run(background) })
	s.workers.Go(func() { s.secondaries.RunLarge(background) })
	if s.alone {
		s.workers.Go(func() { s.memory.Snapshots.Expire(background) })
	}
	if found && !s.opts.LeaveFoundLocks {
		s.workers.Go(func() { s.settleFound(background) })
	}
	s.peers.Run(background)
	if s.opts.GCInterval > 0 {
		s.workers.Go(func() { s.collectPeriodically(background) })
	}
	return s, nil
}

// load reads the safepoint, and on an exclusive engine checks whether earlier processes have left
// locks. All of those are older than the session, whose id represents them among the lock holders
// until they are gone.
func (s *Store) load(ctx context.Context) (found bool, err error) {
	snap, err := kv.Latest(s.engine)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	safe, err := gc.ReadSafepoint(ctx, snap)
	if err != nil && !s.unread(err) {
		return false, err
	}
	s.registry.note(safe.Point)
	if err := s.loadHolds(ctx, snap); err != nil {
		return false, err
	}
	if !s.alone {
		return false, nil
	}
	err = mvcc.Locks(ctx, snap, kv.Span{}, func([]byte, mvcc.Lock) error {
		found = true
		return errStopped
	})
	switch {
	case err == errStopped:
		err = nil
	case errors.Is(err, kv.ErrCorruption):
		// there may be locks in the damaged part; a read there returns the damage
		found, err = true, nil
	}
	if err == nil {
		err = s.memory.Garbage.Take(ctx, s.engine)
	}
	if s.unread(err) {
		err = nil
	}
	if found {
		s.memory.LockHolders.EnterAnywhere(tso.Timestamp(s.SessionID()))
	}
	return found, err
}

// Close ends every wait for another transaction with ErrClosed, waits for commits under way and for
// the present step of the background, and leaves the engine open. Transactions still running fail
// from now on. What is left of large committed transactions is settled by the transactions that
// meet their locks, or after the next Open.
func (s *Store) Close() error {
	if s.closing.begun.Swap(true) {
		return ErrClosed
	}
	close(s.closing.ch)
	s.rowLocks.EndWaits(ErrClosed)
	s.gate.Lock()
	s.gate.closed = true
	s.gate.Unlock()
	s.secondaries.End()
	s.cancel()
	s.memory.Snapshots.Close()
	s.workers.Wait()
	s.coordinator.Wait()
	err := s.peers.Close(context.Background())
	left := s.memory.Garbage.LeaveBehind(context.Background(), s.engine)
	if left != nil && !errors.Is(left, kv.ErrClosed) {
		err = errors.Join(err, fmt.Errorf("close transaction store: %w", left))
	}
	if s.own != nil {
		released := s.own.Release(context.Background())
		if released != nil && !errors.Is(released, kv.ErrClosed) {
			err = errors.Join(err, fmt.Errorf("close transaction store: %w", released))
		}
	}
	return err
}

// unread reports whether an error is damage that Options.Damaged passes over.
func (s *Store) unread(err error) bool { return s.opts.Damaged && errors.Is(err, kv.ErrCorruption) }

// beginSession gives the Store its session.
func (s *Store) beginSession(ctx context.Context) error {
	if s.alone {
		now, err := s.source.Next(ctx)
		s.session = uint64(now)
		s.memory.Recent.Opened(now)
		return err
	}
	var err error
	s.peers, err = shared.Open(ctx, shared.Options{
		Engine: s.engine, Source: s.source, RowLocks: &s.rowLocks, Logger: s.opts.Logger,
		Lease: s.opts.Lease, Renewal: s.opts.LeaseRenewal, LockWait: s.opts.LockWait,
		Limits: s.limits, Closing: s.closing.ch,
		Now: s.oracleTime, Oldest: s.registry.oldest,
		NoteSafepoint: s.registry.note,
		Settle: func(ctx context.Context, locked *LockedError) (bool, error) {
			out, err := s.resolver.Settle(ctx, locked, 0)
			return out == resolve.Settled, err
		},
	})
	return err
}

// coordination is what the coordinator of the Store's commits works with.
func (s *Store) coordination() commit.Options {
	return commit.Options{
		Engine: s.engine, Source: s.source, Memory: &s.memory, Resolver: s.resolver,
		Secondaries: s.secondaries, RowLocks: &s.rowLocks, Peers: s.peers,
		LockTTL: s.opts.LockTTL, LockWait: s.opts.LockWait, Limits: s.limits,
		BatchBytes: s.opts.BatchBytes, StreamBytes: s.opts.StreamBytes,
		Now: s.oracleTime, Owner: s.owner, Closing: s.closing.ch,
		At:     func(step commit.Step) error { return s.at(CrashPoint(step)) },
		InTurn: s.opts.CrashPoint != nil,
	}
}

// limitsOf returns what bounds the updates of a store: the engine's limits, and as many rows as may
// each be written to as often as a row is, as a rule.
func limitsOf(engine kv.Engine) kv.Limits {
	l := kv.LimitsOf(engine)
	return l.Lower(kv.Limits{Rows: l.Ops / mvcc.RowWrites})
}

// oracleKey is the cell of the store's oracle.
var oracleKey = mvcc.MetaKey("oracle")

// OracleKey returns the key of the cell in which an oracle for Options.Oracle keeps its mark.
func OracleKey() []byte { return bytes.Clone(oracleKey) }
