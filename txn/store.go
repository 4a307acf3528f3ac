package txn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/ssi"
	"github.com/minidb/minidb/txn/tso"
)

// Options of a Store. The zero value is what a server wants, but for collection, which is off.
type Options struct {
	// Oracle gives timestamps; nil means an oracle of the store's own, persisted in the engine. On
	// an engine that other processes write to, all of them must use the same one, and nil is
	// ErrNoOracle.
	Oracle tso.Source
	// Clock is the own oracle's clock, in milliseconds; nil means the wall clock.
	Clock func() int64
	// AcceptClock opens the store though the own oracle's clock seems wrong, which is
	// *tso.ClockError else.
	AcceptClock bool
	// Protocol is how commits reach the store. Open fails with *ProtocolError if they cannot.
	Protocol Protocol
	// LockTTL is how long a lock is respected after its owner's last sign of life on it, even
	// though the owner's session lives; 0 means three seconds.
	LockTTL time.Duration
	// LockWait bounds what one read or commit waits for locks in the store; 0 means ten seconds. On
	// an exclusive engine it does not bound who asks for a row lock: that one looks for a cycle
	// then.
	LockWait time.Duration
	// BatchKeys and BatchBytes bound one prewrite or commit of a group; 0 means 4096 and 1 MiB.
	BatchKeys, BatchBytes int
	// MaxTxnBytes bounds what one transaction keeps in memory until it commits, row locks included;
	// 0 means 1 GiB. A write or a row lock beyond it answers ErrTooLarge.
	MaxTxnBytes int
	// RowLocks is how many row locks a transaction that streams keeps in memory; 0 means 100,000.
	// When it has more, those of the keys that it streams out are left to its locks in the store.
	RowLocks int
	// StreamBytes is what a transaction may keep in memory before it streams its writes out as
	// prewrites; 0 means 64 MiB.
	StreamBytes int
	// Lease is how long, by the oracle's time, the Store's session counts as alive after its last
	// renewal; 0 means ten seconds. Only on an engine that is not exclusive.
	Lease time.Duration
	// LeaseRenewal is the pause between renewals; 0 means a third of Lease. When it is negative the
	// Store does not renew by itself: the caller calls RenewLease.
	LeaseRenewal time.Duration
	// GCInterval is the pause between background collections; 0 turns them off.
	GCInterval time.Duration
	// GCRows bounds one step of a background collection; 0 means 4,000 rows.
	GCRows int
	// Retention is how far back historical reads may go once collections run.
	Retention time.Duration
	// LeaveFoundLocks leaves the locks that Open finds to whoever meets them. For tools and tests
	// that want to see them.
	LeaveFoundLocks bool
	// Damaged opens the store though its own cells, but for the oracle's, cannot be read: what is
	// known of the safepoint and of garbage is nothing then. For reading what is left of it.
	Damaged bool
	// Logger receives what background work has to say; nil means slog.Default().
	Logger *slog.Logger
	// CrashPoint is a test's hook; see CrashPoint.
	CrashPoint func(CrashPoint) bool
}

func (o Options) withDefaults() Options {
	if o.LockTTL <= 0 {
		o.LockTTL = 3 * time.Second
	}
	if o.LockWait <= 0 {
		o.LockWait = 10 * time.Second
	}
	if o.BatchKeys <= 0 {
		o.BatchKeys = 4096
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = 1 << 20
	}
	if o.RowLocks <= 0 {
		o.RowLocks = 100_000
	}
	if o.MaxTxnBytes <= 0 {
		o.MaxTxnBytes = 1 << 30
	}
	if o.StreamBytes <= 0 {
		o.StreamBytes = 64 << 20
	}
	if o.Lease <= 0 {
		o.Lease = 10 * time.Second
	}
	if o.LeaseRenewal == 0 {
		o.LeaseRenewal = max(o.Lease/3, time.Millisecond)
	}
	if o.GCRows <= 0 {
		o.GCRows = 4_000
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Store runs transactions on an engine. Its methods may be called from any goroutine.
type Store struct {
	engine kv.Engine
	opts   Options
	source tso.Source
	own    *tso.Oracle // source, when it is the store's own

	hints
	session  uint64        // its id, when no other process writes
	peers    *shared.Peers // nil when no other process writes
	waits    lockWaits
	rowLocks rowlock.Table
	serial   ssi.Graph // of the serializable transactions

	// pass is the background's collection; on a shared engine its mutex is held by any.
	pass struct {
		sync.Mutex
		now       *gc.Pass      // nil between two
		safepoint tso.Timestamp // of the last one that got to its end
		again     bool          // it deleted dropped spans, which the next one must find empty
	}

	settling chan struct{} // holds one while somebody goes through the locks (settleAlone)
	registry registry
	resolver *resolver
	tight    tight

	secondaries chan secondaryWork
	large       largeWork
	workers     sync.WaitGroup
	cancel      context.CancelFunc // of background work

	// closing ends, when Close begins, every wait for another transaction. Without that a commit
	// that waits for a row lock would keep Close from the gate, and Close would keep the holder's
	// commit from it.
	closing struct {
		begun atomic.Bool
		ch    chan struct{}
	}
	// gate keeps Close apart from commits under way.
	gate struct {
		sync.RWMutex
		closed bool
	}
}

// oracleKey is the cell of the store's own oracle.
var oracleKey = mvcc.MetaKey("oracle")

// Open returns a store on the engine. Locks left by dead coordinators are settled by whoever meets
// them; on an exclusive engine the background begins with them at once, for until they are gone
// reads look for locks.
func Open(ctx context.Context, engine kv.Engine, opts Options) (*Store, error) {
	s := &Store{
		engine: engine, opts: opts.withDefaults(), source: opts.Oracle,
		secondaries: make(chan secondaryWork, 256), large: largeWork{wake: make(chan struct{}, 1)},
		settling: make(chan struct{}, 1),
	}
	s.closing.ch = make(chan struct{})
	s.hints.init(kv.IsExclusive(engine))
	s.tight.rung = make(chan struct{}, 1)
	s.resolver = newResolver(s)
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
	if err := s.checkProtocol(s.opts.Protocol); err != nil {
		return nil, fmt.Errorf("open transaction store: %w", err)
	}
	if err := s.beginSession(ctx); err != nil {
		return nil, fmt.Errorf("open transaction store: %w", err)
	}
	found, err := s.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("open transaction store: %w", err)
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.workers.Go(func() { s.commitSecondaries(background) })
	s.workers.Go(func() { s.settleLarge(background) })
	if s.alone {
		s.workers.Go(func() { s.snapshots.expire(background) })
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

// load reads the safepoint, and on an exclusive engine looks whether earlier processes have left
// locks. All of those are older than the session, under whose name they stay among the lock holders
// until they are gone.
func (s *Store) load(ctx context.Context) (found bool, err error) {
	snap, err := s.engine.Snapshot()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	safe, err := gc.ReadSafepoint(ctx, snap)
	if err != nil && !s.unread(err) {
		return false, err
	}
	s.registry.note(safe.Point)
	if !s.alone {
		return false, nil
	}
	err = mvcc.Locks(ctx, snap, kv.Span{}, func([]byte, mvcc.Lock) error {
		found = true
		return errStop
	})
	switch {
	case err == errStop:
		err = nil
	case errors.Is(err, kv.ErrCorruption):
		// somewhere there may be locks; who reads there is told of the damage
		found, err = true, nil
	}
	if err == nil {
		err = s.takeGarbage(ctx)
	}
	if s.unread(err) {
		err = nil
	}
	if found {
		s.lockHolders.enterAnywhere(tso.Timestamp(s.SessionID()))
	}
	return found, err
}

// unread reports whether an error is damage that Options.Damaged passes over.
func (s *Store) unread(err error) bool { return s.opts.Damaged && errors.Is(err, kv.ErrCorruption) }

// Engine returns the engine under the store.
func (s *Store) Engine() kv.Engine { return s.engine }

// Oracle returns the source of the store's timestamps.
func (s *Store) Oracle() tso.Source { return s.source }

// Now draws a timestamp.
func (s *Store) Now(ctx context.Context) (tso.Timestamp, error) { return s.source.Next(ctx) }

// oracleTime returns the oracle's time for judging TTLs: without a draw where the source can.
func (s *Store) oracleTime(ctx context.Context) (tso.Timestamp, error) {
	if c, ok := s.source.(interface{ Now() tso.Timestamp }); ok {
		return c.Now(), nil
	}
	return s.source.Next(ctx)
}

// Safepoint returns the timestamp below which reads are refused, as far as it is known here: on a
// shared engine the store may have a later one.
func (s *Store) Safepoint() tso.Timestamp { return s.registry.safepoint() }

// Active returns the number of running transactions.
func (s *Store) Active() int { return s.registry.active() }

// enter keeps the store open until the gate is released.
func (s *Store) enter() error {
	s.gate.RLock()
	if s.gate.closed {
		s.gate.RUnlock()
		return ErrClosed
	}
	return nil
}

// Close ends every wait for another transaction with ErrClosed, waits for commits under way and for
// the step that the background is at, and leaves the engine open. Transactions still running fail
// from now on. What is left of large committed transactions is for whoever meets their locks, which
// the next Open is.
func (s *Store) Close() error {
	if s.closing.begun.Swap(true) {
		return ErrClosed
	}
	close(s.closing.ch)
	s.rowLocks.EndWaits(ErrClosed)
	s.gate.Lock()
	s.gate.closed = true
	s.gate.Unlock()
	close(s.secondaries)
	s.cancel()
	s.snapshots.close()
	s.workers.Wait()
	err := s.peers.Close(context.Background())
	if left := s.leaveGarbage(context.Background()); left != nil && !errors.Is(left, kv.ErrClosed) {
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
