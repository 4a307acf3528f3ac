package sql

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/sql/notify"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/sql/template"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
)

// Options of an Engine. The zero value is good.
type Options struct {
	Logger *slog.Logger
	// MaxConnections bounds the sessions that clients open over the wire; 0 is 100. The last
	// ReservedConnections of them are for the user postgres, but never all.
	MaxConnections, ReservedConnections int
	// Settings override parameters for every session: data_directory, port, ….
	Settings map[string]string
	// Compact rewrites the files of the store without what was dropped: VACUUM FULL. Nil: it
	// answers 0A000.
	Compact func(ctx context.Context) error
	// Flush makes what is in memory durable in its final form: CHECKPOINT. Nil: CHECKPOINT answers
	// 0A000.
	Flush func(ctx context.Context) error
	// Memory is the pool that sessions draw their memory from; nil: the process's pool.
	Memory *memory.Pool
	// PlanCacheSize bounds the number of plans kept, of which those used last are at least half; 0
	// is 1024.
	PlanCacheSize int
	// MaxReruns bounds how often a statement is run again because rows changed while it ran; past
	// it the statement fails with 40001. 0 is 10,000.
	MaxReruns int
	// DatabaseWait is how long DROP DATABASE and RENAME wait for other sessions in the database to
	// end; 0 is five seconds, as in PostgreSQL. The server may still be closing the session of a
	// client that has just disconnected.
	DatabaseWait time.Duration
	// ObserverStats returns what the workers of an observer in this process have done; false: there
	// are none. Nil: there never are.
	ObserverStats func(id uint32) (observer.Stats, bool)
	// Views waits for incremental views; nil: nothing keeps them up to date.
	Views ViewMaintainer
	// Spill is where statements write rows that do not fit memory; nil: they end with 53200.
	Spill *spill.Dir
	// AnalyzeInterval is the pause between searches for tables whose statistics are out of date;
	// zero: only ANALYZE makes statistics.
	AnalyzeInterval time.Duration
}

// Engine is what all sessions of a database directory share. It is safe for concurrent use.
type Engine struct {
	store     *txn.Store
	shared    bool // other processes may use the store beside this one
	catalog   *catalog.Catalog
	opts      Options
	log       *slog.Logger
	plans     planCache
	programs  *lru.Cache[programKey, cachedProgram] // of incremental views
	templates *template.Cache

	conflicts     conflictLog
	reruns        rerunCounts
	statements    statementCounts
	defaults      defaults
	statistics    *statistics.Registry
	notifications *notify.Queue
	takers        takers
	snapshots     exportedSnapshots

	temporaryNumbers temporaryNumbers
	// planned counts the statements that were planned, and not found planned.
	planned atomic.Int64

	mu struct {
		sync.Mutex
		sessions map[int32]*Session
		lastPID  int32         // of those that are counted
		ended    chan struct{} // closed, and replaced, when a session ends
		closed   bool
	}
}

// NewEngine returns an Engine over an open store and its catalog. It owns neither.
func NewEngine(store *txn.Store, cat *catalog.Catalog, opts Options) *Engine {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.MaxConnections <= 0 {
		opts.MaxConnections = 100
	}
	if opts.MaxReruns <= 0 {
		opts.MaxReruns = maxReruns
	}
	opts.ReservedConnections = min(max(opts.ReservedConnections, 0), opts.MaxConnections-1)
	if opts.Memory == nil {
		opts.Memory = memory.Process()
	}
	opts.Settings = withLimits(opts)
	if opts.DatabaseWait <= 0 {
		opts.DatabaseWait = 5 * time.Second
	}
	if opts.PlanCacheSize <= 0 {
		opts.PlanCacheSize = 1024
	}
	plans := planCache{lru.New[planKey, cachedPlan](max(1, opts.PlanCacheSize/2))}
	e := &Engine{store: store, shared: !kv.IsExclusive(store.Engine()), catalog: cat, opts: opts,
		log: opts.Logger, plans: plans,
		templates:     template.NewCache(opts.PlanCacheSize),
		programs:      lru.New[programKey, cachedProgram](max(1, opts.PlanCacheSize/2)),
		notifications: notify.NewQueue()}
	e.mu.sessions, e.mu.ended = map[int32]*Session{}, make(chan struct{})
	e.statistics = statistics.New(store, cat, opts.Logger)
	if opts.AnalyzeInterval > 0 {
		e.statistics.Start(opts.AnalyzeInterval)
	}
	return e
}

// StartupLimit bounds how long a client over the wire may take until its session begins.
const StartupLimit = 20 * time.Second

// withLimits returns the settings of every session, the limits on the number of clients included.
func withLimits(o Options) map[string]string {
	all := maps.Clone(o.Settings)
	if all == nil {
		all = map[string]string{}
	}
	all["max_connections"] = strconv.Itoa(o.MaxConnections)
	all["superuser_reserved_connections"] = strconv.Itoa(o.ReservedConnections)
	bound, _ := o.Memory.Bound()
	all["minidb.memory"] = strconv.FormatInt(bound>>10, 10)
	all["authentication_timeout"] = strconv.Itoa(int(StartupLimit / time.Second))
	return all
}

// MaxConnections is the bound on sessions over the wire.
func (e *Engine) MaxConnections() int { return e.opts.MaxConnections }

// ReservedConnections is how many of them are for the user postgres.
func (e *Engine) ReservedConnections() int { return e.opts.ReservedConnections }

// Logger is where the engine logs.
func (e *Engine) Logger() *slog.Logger { return e.log }

// register gives the session its number and secret.
func (e *Engine) register(s *Session) error {
	var secret [4]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return err
	}
	s.secret = int32(binary.BigEndian.Uint32(secret[:]))
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.closed {
		return sqlerr.New(sqlerr.AdminShutdown, "the database is closed")
	}
	s.pid = e.newPID()
	e.mu.sessions[s.pid] = s
	return nil
}

func (e *Engine) unregister(s *Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.mu.sessions, s.pid)
	close(e.mu.ended)
	e.mu.ended = make(chan struct{})
}

// sessionsIn counts the sessions that work in a database, without those in the background. ended is
// closed when another session ends.
func (e *Engine) sessionsIn(database string) (n int, ended <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.mu.sessions {
		if s.database == database && !s.background {
			n++
		}
	}
	return n, e.mu.ended
}

// Cancel ends the statement that the session is running, if pid and secret are right. It is false
// where they are and the session runs nothing: the statement may not have been read yet.
func (e *Engine) Cancel(pid, secret int32) bool {
	e.mu.Lock()
	s := e.mu.sessions[pid]
	e.mu.Unlock()
	return s == nil || s.secret != secret || s.running.cancelByUser()
}

// Close refuses new sessions, and ends the statements of those that are left: the one that runs,
// and each that they still begin.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.closed = true
	for _, s := range e.mu.sessions {
		s.running.end(errShutdown)
	}
}

// CloseStatistics ends the analysis in the background, and stores the counters of changes.
// Requires: no session is running a statement.
func (e *Engine) CloseStatistics(ctx context.Context) error { return e.statistics.Close(ctx) }

// Statistics returns the statistics and counters of the tables.
func (e *Engine) Statistics() *statistics.Registry { return e.statistics }

// Activities lists the sessions.
func (e *Engine) Activities() []pgcatalog.Activity {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]pgcatalog.Activity, 0, len(e.mu.sessions))
	for _, s := range e.mu.sessions {
		if a := s.currentActivity(); a.PID != 0 { // initActivity was called
			out = append(out, a)
		}
	}
	return withTransactions(out, e.store.Running())
}

// withTransactions adds to each session the transactions that it runs in the store.
func withTransactions(sessions []pgcatalog.Activity, running []txn.Running) []pgcatalog.Activity {
	of := make(map[int64]*pgcatalog.Activity, len(sessions))
	for i := range sessions {
		of[int64(sessions[i].PID)] = &sessions[i]
	}
	older := func(a, b tso.Timestamp) bool { return b == 0 || a < b }
	for _, r := range running {
		a := of[r.Session]
		if a == nil {
			continue
		}
		if older(r.StartTS, a.Oldest) {
			a.Oldest = r.StartTS
		}
		if r.Wrote && older(r.StartTS, a.Writing) {
			a.Writing = r.StartTS
		}
	}
	return sessions
}

// running is the statement that a session runs now, so that others can cancel it.
type running struct {
	mu     sync.Mutex
	cancel context.CancelCauseFunc
	ended  error // set: no statement may run any more

	between context.Context // of work between statements: it ends with the session
	over    context.CancelCauseFunc

	// A client's cancel request is meant for all that it waits for: one that meets the parsing of a
	// text too late to be noticed ends the statement behind it.
	waits    bool // the session calls idle before it waits for its client
	busy     bool // something has run since
	canceled bool // by a request since
}

// idle forgets a cancel request that came too late.
func (r *running) idle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits, r.busy, r.canceled = true, false, false
}

// cancelByUser ends this statement and what the client sent behind it; false when none runs.
func (r *running) cancelByUser() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		r.cancel(errCanceledByUser)
	}
	r.canceled = r.waits && r.busy
	return r.canceled || r.cancel != nil
}

func (r *running) set(cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel = cancel
	if cancel == nil {
		return
	}
	r.busy = true
	switch {
	case r.ended != nil:
		cancel(r.ended)
	case r.canceled:
		cancel(errCanceledByUser)
	}
}

// end cancels this statement and every later one.
func (r *running) end(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = cause
	r.over(cause)
	if r.cancel != nil {
		r.cancel(cause)
	}
}

// cancelWith ends this statement; false when none runs.
func (r *running) cancelWith(cause error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		r.cancel(cause)
	}
	return r.cancel != nil
}

var beginReadOnly = txn.BeginOptions{ReadOnly: true}
