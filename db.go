package minidb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/pgwire"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// ErrClosed is returned by calls on a closed DB, and on what was made from it.
var ErrClosed = errors.New("minidb: database is closed")

// ErrFailed is returned by calls on a DB that could not write its log; see OnFatal.
var ErrFailed = kv.ErrFailed

// retention is the default of the least time for which old versions are kept.
const retention = 10 * time.Minute

// DB is an open database: a directory, or a store that several processes share.
type DB struct {
	opts    options
	dir     string // of files; "" in memory
	engine  kv.Engine
	local   *pebblekv.Engine // the engine of a directory, or nil
	shared  sharedStore      // what else a shared store needs
	store   *txn.Store
	catalog *catalog.Catalog
	sql     *sql.Engine
	server  *pgwire.Server
	gone    chan struct{} // closed with the DB
	opened  chan struct{} // closed once Open is through
	damages damageReports
	opening Opening
	// temporary is the store of temporary tables.
	temporary temporaries
	// releases give back the handle's part of the process's memory.
	releases []func()
	// rowCache and columnCache are what rows and columns in memory may take, in bytes.
	rowCache, columnCache int64
	columnFile            *scratch.File // of columns that memory has no room for, or nil

	mu struct {
		sync.Mutex
		closed bool
		idle   []*handle
		active map[*handle]struct{}
		secret []byte // see secret; nil: not read yet
	}
	views     atomic.Pointer[viewMaintainers]
	observers struct {
		sync.Mutex
		closed     bool
		by         map[uint32]*observation // those that run in this process
		stopping   sync.WaitGroup
		dropped    chan struct{} // an observer was dropped, perhaps
		endSweeper context.CancelFunc
	}
}

// Open opens the database in a directory, and makes it when it is missing. One process at a time
// may have a directory open. pebble:DIR is a directory too.
//
// A URL as etcd://host:2379,host:2379/path names a store that others operate, and that any number
// of processes may have open; Engine says what opens it.
func Open(dir string, opts ...Option) (*DB, error) {
	o := options{database: "postgres", gcInterval: time.Minute, retention: retention,
		analyzeInterval:     time.Minute,
		reservedConnections: 3}
	for _, f := range opts {
		f(&o)
	}
	if o.logger == nil {
		o.logger = slog.Default()
	}
	dir = strings.TrimPrefix(dir, "pebble:")
	if dir == "" && !o.inMemory {
		return nil, errors.New("minidb: no directory given")
	}
	settings := map[string]string{}
	if o.isolation != "" {
		level, err := levelNamed("default_transaction_isolation", o.isolation)
		if err != nil {
			return nil, fmt.Errorf("minidb: %w", err)
		}
		settings["default_transaction_isolation"] = level
	}
	db := &DB{opts: o, gone: make(chan struct{}), opened: make(chan struct{})}
	db.mu.active = map[*handle]struct{}{}
	open := db.openDirectory
	if kv.IsURL(dir) && !o.inMemory {
		open = db.openShared
	}
	begun := time.Now()
	if err := open(dir, settings); err != nil {
		return nil, err
	}
	db.opening.Took = time.Since(begun)
	close(db.opened)
	return db, nil
}

// openDirectory opens a directory, or a store in memory.
func (db *DB) openDirectory(dir string, settings map[string]string) error {
	o := &db.opts
	eo := pebblekv.Options{InMemory: o.inMemory, MustExist: o.mustExist && !o.inMemory,
		CacheBytes: o.cacheBytes, Logger: o.logger}
	var r replayed
	eo.OnReplay, eo.OnCorruption = r.key, db.damaged
	eo.OnTight = func(tight bool) {
		select {
		case <-db.opened:
			db.store.Tighten(tight)
		default: // Open looks again
		}
	}
	if o.onFatal != nil {
		eo.OnFailure = func(err error) { go o.onFatal(err) }
	}
	if o.engine != nil {
		o.engine(&eo)
	}
	if err := db.boundMemory(&eo); err != nil {
		return err
	}
	begun := time.Now()
	engine, err := pebblekv.Open(dir, eo)
	if err != nil {
		db.releaseMemory()
		if errors.Is(err, kv.ErrInUse) {
			return fmt.Errorf("minidb: directory %s is in use by this or another process: %w",
				dir, err)
		}
		return fmt.Errorf("minidb: %w", advised(err))
	}
	r.log(db, engine.Replay())
	db.opening.EngineTook, db.opening.Replayed = time.Since(begun), engine.Replay().Updates
	db.engine, db.local = engine, engine
	err = db.fixMemory()
	where := "memory"
	if err == nil && !o.inMemory {
		where, err = filepath.Abs(dir)
	}
	if err == nil {
		settings["data_directory"] = where
		err = db.open(dir, settings, eo)
	}
	if err != nil {
		close(db.gone)
		db.damages.wait()
		db.releaseMemory()
		if closed := engine.Close(); closed != nil && !errors.Is(err, kv.ErrCorruption) {
			err = errors.Join(err, closed)
		}
		return fmt.Errorf("minidb: open %s: %w", dir, advised(err))
	}
	db.store.Tighten(engine.Tight())
	return nil
}

// open opens what is above the engine. Files that end with the process are in dir, or with "" in
// the system's temporary directory.
func (db *DB) open(dir string, settings map[string]string, eo pebblekv.Options) (err error) {
	ctx := context.Background()
	protocol, err := txn.ParseProtocol(cmp.Or(db.opts.protocol, txn.Auto.String()))
	if err != nil {
		return err
	}
	db.dir, db.columnFile = dir, db.openColumnFile(eo)
	to := txn.Options{
		Protocol: protocol, GCInterval: max(db.opts.gcInterval, 0), Retention: db.opts.retention,
		Logger: db.opts.logger, Clock: db.opts.clock, AcceptClock: db.opts.acceptClock,
		Companion: db.temporary.open, RowCacheBytes: db.rowCache, SectionCacheBytes: db.columnCache,
		SectionFile: db.columnFile,
	}
	if db.shared.source != nil {
		to.Oracle, to.Lease = db.shared.source, sharedLease
	}
	if db.opts.store != nil {
		db.opts.store(&to)
	}
	if err := db.temporary.init(dir, eo, to); err != nil {
		return err
	}
	if db.store, err = txn.Open(ctx, db.engine, to); err != nil {
		return advisedOfClock(err)
	}
	db.observers.dropped = make(chan struct{}, 1)
	db.store.OnNotified(db.notified)
	if db.catalog, err = catalog.Open(ctx, db.store,
		catalog.WithPrograms(sql.Programs())); err != nil {
		return errors.Join(err, db.store.Close())
	}
	db.views.Store(newViewMaintainers(db))
	temporary, err := openSpill(spillPath(dir, eo),
		func() error { return db.store.Room(false) })
	if err != nil {
		return errors.Join(err, db.store.Close())
	}
	so := sql.Options{
		Logger: db.opts.logger, MaxConnections: db.opts.maxConnections,
		ReservedConnections: db.opts.reservedConnections,
		Settings:            settings,
		AnalyzeInterval:     max(db.opts.analyzeInterval, 0),
		ObserverStats:       db.observerStats,
		Views:               db.views.Load(),
		Spill:               temporary,
	}
	if local := db.local; local != nil {
		so.Compact = func(ctx context.Context) error { return local.Compact(ctx) }
		so.Flush = func(context.Context) error { return local.Flush() }
	}
	db.sql = sql.NewEngine(db.store, db.catalog, so)
	db.server = pgwire.NewServer(db.sql)
	db.startSweeper()
	db.views.Load().start(ctx)
	return nil
}

// advisedOfClock adds to the error of a clock that cannot be right what lets it pass.
func advisedOfClock(err error) error {
	var wrong *tso.ClockError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%w (with minidb.AcceptClock, or minidb serve --accept-clock)", err)
	}
	return err
}

// Serve serves PostgreSQL clients on l, beside the program's own use of the handle, until the DB is
// closed; it then returns nil. It may be called for several listeners.
func (db *DB) Serve(l net.Listener) error {
	if err := db.server.Serve(l); !errors.Is(err, pgwire.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown ends serving: clients finish the statements that they are running and receive an error
// with SQLSTATE 57P01. When ctx ends first, those statements are cancelled.
func (db *DB) Shutdown(ctx context.Context) error { return db.server.Shutdown(ctx) }

// Store is the transaction layer below, for tools and benchmarks.
func (db *DB) Store() *txn.Store { return db.store }

// Close ends what is running and closes the directory. Transactions and rows that are still open
// end with ErrClosed.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.mu.closed {
		db.mu.Unlock()
		return nil
	}
	db.mu.closed = true
	close(db.gone)
	handles := db.mu.idle
	for h := range db.mu.active {
		handles = append(handles, h)
	}
	db.mu.idle = nil
	db.mu.Unlock()
	db.stopObservers()
	db.views.Load().stop()
	db.damages.wait()
	db.sql.Close()
	err := db.server.Close()
	for _, h := range handles {
		h.end()
	}
	err = errors.Join(err, db.sql.CloseStatistics(context.Background()),
		db.catalog.Close(context.Background()), db.store.Close(), db.temporary.close(),
		db.shared.close(), db.engine.Close())
	if db.columnFile != nil {
		err = errors.Join(err, db.columnFile.Close())
	}
	db.releaseMemory()
	return err
}
