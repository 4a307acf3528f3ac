package txn

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/secondaries"
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
	// LockWait bounds what one read or commit waits for locks in the store; 0 means ten seconds.
	// On an exclusive engine it does not bound a request for a row lock, which searches for a
	// deadlock cycle then.
	LockWait time.Duration
	// BatchKeys and BatchBytes bound one prewrite or commit of a group, as the engine's own limits
	// do; 0 means 4096 and 1 MiB.
	BatchKeys, BatchBytes int
	// MaxTxnBytes bounds what one transaction keeps in memory until it commits, row locks
	// included; 0 means 1 GiB. A write or a row lock beyond it returns ErrTooLarge.
	MaxTxnBytes int
	// RowLocks is how many row locks a transaction that streams keeps in memory; 0 means 100,000.
	// When it has more, those of the keys that it streams out are left to its locks in the store.
	RowLocks int
	// StreamBytes is what a transaction may keep in memory before it streams its writes out as
	// prewrites; 0 means 64 MiB.
	StreamBytes int
	// RowCacheBytes bounds the rows that the Store keeps in memory, so that point reads of rows
	// that did not change read nothing; 0 means 32 MiB, and a negative number none. On an engine
	// that is not exclusive there are none.
	RowCacheBytes int64
	// SectionCacheBytes bounds what readers keep of sections of spans that are read as a whole
	// (Txn.Sections); 0 means 64 MiB, and a negative number nothing. SectionRows is how many rows
	// a section has at first; 0 means 8192. On an engine that is not exclusive there are none.
	SectionCacheBytes int64
	SectionRows       int
	// SectionFile, unless nil, is for what readers keep of sections and has no room in memory. The
	// caller closes it when the Store is closed. Of a section of which a row was committed in the
	// last SectionSettled nothing is written there; 0 means ten seconds, a negative number none.
	SectionFile    *scratch.File
	SectionSettled time.Duration
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
	// LeaveFoundLocks leaves the locks that Open finds to the transactions that meet them. For
	// tools and tests that want to see them.
	LeaveFoundLocks bool
	// Damaged opens the store though its own cells, but for the oracle's, cannot be read. Nothing
	// is known of the safepoint and of garbage then. For reading what is left of a damaged store.
	Damaged bool
	// Logger receives the reports of background work; nil means slog.Default().
	Logger *slog.Logger
	// Companion returns the store of the keys that begin with CompanionPrefix. It is asked when the
	// first of them is met, and returns the same store each time. Nil: the store has none.
	Companion func() (*Store, error)
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
	if o.RowCacheBytes == 0 {
		o.RowCacheBytes = 32 << 20
	}
	if o.SectionCacheBytes == 0 {
		o.SectionCacheBytes = 64 << 20
	}
	if o.SectionRows <= 0 {
		o.SectionRows = 8192
	}
	if o.SectionSettled == 0 {
		o.SectionSettled = 10 * time.Second
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
	limits kv.Limits // of one update; Rows is not zero
	opts   Options
	source tso.Source
	own    *tso.Oracle // source, when it is the store's own

	alone    bool          // no other process writes to the engine
	holds    atomic.Bool   // there may be holds (hold.go)
	memory   hints.Hints   // what memory knows of the store, as long as that is so
	session  uint64        // its id, when no other process writes
	peers    *shared.Peers // nil when no other process writes
	waits    *lockwait.Waits
	rowLocks rowlock.Table
	serial   ssi.Graph // of the serializable transactions

	// pass is the background's collection; on a shared engine every collection holds its mutex.
	pass struct {
		sync.Mutex
		now       *gc.Pass      // nil between two
		safepoint tso.Timestamp // of the last one that got to its end
		again     bool          // it deleted dropped spans, which the next one must find empty
	}

	collected collected
	settling  chan struct{} // holds one while a function goes through the locks (settleAlone)
	registry  registry
	resolver  *resolve.Resolver
	// tight is set while the disk is nearly full.
	tight struct {
		on   atomic.Bool
		rung chan struct{} // wakes the collector
	}

	coordinator *commit.Coordinator
	secondaries *secondaries.Committer
	notified    func(observer uint32, keys [][]byte) // see OnNotified
	notifying   notifying
	workers     sync.WaitGroup
	cancel      context.CancelFunc // of background work

	// closing ends, when Close begins, every wait for another transaction. Otherwise a commit that
	// waits for a row lock would keep Close from the gate, and Close would keep the holder's
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

// at reports ErrAbandoned when the coordinator dies at p.
func (s *Store) at(p CrashPoint) error {
	if s.opts.CrashPoint != nil && s.opts.CrashPoint(p) {
		return ErrAbandoned
	}
	return nil
}
