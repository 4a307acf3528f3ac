package pebblekv

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv/logsync"
)

// formatNumber is the number of the disk format that this code writes and reads.
const formatNumber = "1"

// errFormat begins the error about a store of another format.
var errFormat = errors.New("disk format")

// formatMarker names the marker file that carries it.
const formatMarker = "minidb"

// Options of Open. The zero value is what a server wants.
type Options struct {
	// InMemory keeps the store in memory; the directory is a name without meaning.
	InMemory bool
	// Volatile opens an empty store whose contents end with the process, and which is never synced.
	// What is in the directory is removed.
	Volatile bool
	// FS replaces the operating system's files; see CrashFS.
	FS vfs.FS
	// ReadOnly opens without writing anything. Update then fails.
	ReadOnly bool
	// MustExist refuses a directory that holds no store, and leaves it as it is.
	MustExist bool
	// CacheBytes is the size of the block cache beside the memtables; 0 means 64 MiB. Of memtables
	// there are up to four; memory that they do not need serves the cache too.
	CacheBytes int64
	// MemTableBytes is the size of one memtable; 0 means 32 MiB, and less on a small file system.
	// Eight times as much space is kept free on the disk (Room).
	MemTableBytes int
	// MemTableMost is the size that a memtable has at most where MemTableBytes is 0; 0: any.
	MemTableMost int
	// Logger receives what goes wrong; nil means slog.Default().
	Logger *slog.Logger
	// OnReplay sees each key of the updates that are read from the log.
	OnReplay func(key []byte)
	// OnCorruption is called when a table file cannot be read, once for each file and describing
	// it, in a goroutine of Pebble's or of a reader: it must not use the engine. The reads fail
	// with the same error.
	OnCorruption func(err *kv.CorruptionError)
	// OnTight is called when the disk begins to be full (less than twice the space below which Room
	// refuses), and when it no longer is. It must not use the engine.
	OnTight func(tight bool)
	// OnFailure is called once, when the log cannot be written, with the error that every call
	// returns from then on (kv.ErrFailed). It runs in the goroutine that wrote, with locks held,
	// and must not use the engine.
	OnFailure func(err error)

	readOnce bool // nothing is compacted; see OpenDamaged
	unlisted bool // there are logs and no list of tables; see openLogs
}

// failed logs the failure that ended an engine and passes it on.
func (o *Options) failed(err error) {
	o.logger().Error(err.Error())
	if o.OnFailure != nil {
		o.OnFailure(err)
	}
}

func (o *Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.Default()
	}
	return o.Logger
}

// Open opens the store in dir, and creates it when it is missing. An error for which errors.Is(err,
// kv.ErrInUse) holds means that the store is open already.
func Open(dir string, opts Options) (*Engine, error) {
	fs := opts.FS
	switch {
	case opts.InMemory:
		fs, dir = vfs.NewMem(), "minidb"
	case fs == nil:
		fs = privateFS{vfs.Default}
	}
	if opts.Volatile {
		if err := emptyVolatile(fs, dir); err != nil {
			return nil, fmt.Errorf("open store %q: %w", dir, err)
		}
		fs = volatileFS{fs}
	}
	if opts.ReadOnly || opts.MustExist {
		if err := mustHold(fs, dir); err != nil {
			return nil, fmt.Errorf("open store %q: %w", dir, err)
		}
	} else if err := errors.Join(makeDir(fs, dir), unlessForeign(fs, dir)); err != nil {
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	}
	lock, err := pebble.LockDirectory(dir, fs)
	var notLock *os.PathError // the lock's file cannot be made
	switch {
	case errors.As(err, &notLock):
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	case err != nil:
		return nil, fmt.Errorf("open store %q: %w (%w)", dir, kv.ErrInUse, err)
	}
	e := newEngine()
	e.lock, e.tables, e.volatile = lock, newTableFiles(fs, dir), opts.Volatile
	e.ingests.fs, e.ingests.dir = fs, dir
	e.db, err = openLocked(fs, dir, lock, e, opts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store %q: %w", dir, mark(err)), lock.Close())
	}
	return e, nil
}

// setSizes sets the sizes of memory that the caller leaves to the engine.
func (o *Options) setSizes(fs vfs.FS, dir string) {
	if o.MemTableBytes == 0 {
		o.MemTableBytes = memTableBytes(fs, dir)
		if o.MemTableMost > 0 {
			o.MemTableBytes = min(o.MemTableBytes, o.MemTableMost)
		}
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = cacheBytes
	}
}

func openLocked(fs vfs.FS, dir string, lock *pebble.Lock, e *Engine, opts Options) (db *pebble.DB,
	err error) {
	defer func() {
		// Pebble panics where a directory cannot be synced. Here nothing has been promised yet.
		if p := recover(); p != nil {
			err = recovered(p)
		}
	}()
	if err := checkFormat(fs, dir, opts.ReadOnly); err != nil {
		return nil, err
	}
	if !opts.unlisted {
		if err := listed(fs, dir); err != nil {
			return nil, err
		}
	}
	if p, ok := fs.(privateFS); ok && !opts.ReadOnly {
		if err := p.closeDirectory(dir); err != nil {
			return nil, err
		}
	}
	opts.setSizes(fs, dir)
	e.cacheBytes, e.memTableBytes = opts.CacheBytes, memTables*int64(opts.MemTableBytes)
	e.space.init(fs, dir, opts)
	_, format, err := atomicfs.LocateMarker(fs, dir, "format-version")
	if err != nil {
		return nil, err
	}
	popts := pebbleOptions(opts)
	e.ingests.options = popts.Clone()
	e.ingests.options.EnsureDefaults()
	if !opts.ReadOnly && !opts.readOnce {
		if err := removeIngestFiles(fs, dir); err != nil {
			return nil, err
		}
	}
	popts.EventListener = &pebble.EventListener{DataCorruption: e.corruption.found,
		BackgroundError: e.corruption.background}
	e.corruption.init(opts)
	popts.Logger = newLogger(opts, &e.fail)
	failStop := newFailStopFS(fs, &e.fail, &e.space)
	verify := &verifyFS{FS: failStop, visit: opts.OnReplay}
	popts.FS = logsync.Wrap(verify, func(sync func() error) error {
		e.syncs.Add(1)
		return sync()
	})
	popts.Lock = lock
	popts.WALMinSyncInterval = e.group.afterSync
	db, err = pebble.Open(dir, popts)
	switch {
	case e.fail.get() != nil && err == nil: // what was in the log could not be written out
		_ = db.Close()
		return nil, e.fail.cause
	case err != nil:
		return nil, verify.explain(err)
	}
	if format != db.FormatMajorVersion().String() && !opts.InMemory && !opts.ReadOnly {
		// Pebble made the log before it raised the format of the store (a new one, for example).
		// Its chunks do not record what was synced, so damage in it would pass for a torn tail.
		// Nothing is in it yet.
		if err := errors.Join(db.Flush(), e.fail.get()); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	e.replay = verify.opened()
	e.fail.notify = opts.failed
	failStop.armed.Store(true)
	return db, nil
}

// holdsManifest reports whether Pebble has made a store in the directory.
func holdsManifest(fs vfs.FS, dir string) bool {
	names, err := fs.List(dir)
	return err != nil || slices.ContainsFunc(names,
		func(name string) bool { return strings.HasPrefix(name, "MANIFEST") })
}

// checkFormat refuses a store of another format, and marks a new one.
func checkFormat(fs vfs.FS, dir string, readOnly bool) error {
	marker, found, err := atomicfs.LocateMarker(fs, dir, formatMarker)
	if err != nil {
		return err
	}
	defer func() { _ = marker.Close() }()
	switch {
	case found == formatNumber:
		return nil
	case found != "":
		return fmt.Errorf("%w %s, this program supports format %s", errFormat, found, formatNumber)
	case readOnly:
		return fmt.Errorf("not a minidb store")
	}
	if holdsManifest(fs, dir) {
		return fmt.Errorf("a Pebble store that minidb did not make")
	}
	return marker.Move(formatNumber)
}

// mustHold checks that dir holds a store, before a lock file is put there.
func mustHold(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, "marker."+formatMarker+".") {
			return nil
		}
	}
	return fmt.Errorf("not a minidb store")
}

// makeDir makes dir and its parents, and syncs every directory that got a new entry, so that the
// store's own directory survives a crash.
func makeDir(fs vfs.FS, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return nil
	}
	parent := fs.PathDir(dir)
	if parent != dir && parent != "." && parent != "" {
		if err := makeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir, privateDir); err != nil {
		return err
	}
	if parent == "." {
		parent = ""
	}
	return syncDir(fs, parent)
}

func syncDir(fs vfs.FS, dir string) error {
	if dir == "" {
		dir = "."
		if _, err := fs.Stat(dir); err != nil {
			dir = "/" // the file systems in memory have a root and no working directory
		}
	}
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// cacheBytes is the size of the block cache by default.
const cacheBytes = 64 << 20

// memTables is how many memtables there may be before writes wait for their flush.
const memTables = 4

func pebbleOptions(opts Options) *pebble.Options {
	p := &pebble.Options{
		Comparer:           comparer,
		FormatMajorVersion: pebble.FormatNewest,
		// Pebble takes the memtables' memory out of the cache. Without room for the one that is
		// written and those that are flushed, blocks (filters and indexes among them) would be read
		// anew for every key.
		CacheSize:                   opts.CacheBytes + memTables*int64(opts.MemTableBytes),
		MemTableSize:                uint64(opts.MemTableBytes),
		MemTableStopWritesThreshold: memTables,
		L0StopWritesThreshold:       1000,
		LBaseMaxBytes:               64 << 20,
		MaxOpenFiles:                1 << 12,
		BytesPerSync:                512 << 10,
		DisableWAL:                  opts.Volatile,
		ReadOnly:                    opts.ReadOnly,
		BlockPropertyCollectors:     []func() pebble.BlockPropertyCollector{newVersionCollector},
		CompactionConcurrencyRange: func() (int, int) {
			return 1, max(1, min(4, runtime.GOMAXPROCS(0)/2))
		},
	}
	p.DisableAutomaticCompactions = opts.readOnce
	// Ingested files go into the list of files at once: else the log would name them, and whatever
	// reads a log would have to follow.
	p.Experimental.DisableIngestAsFlushable = func() bool { return true }
	p.Levels[0].BlockSize = 16 << 10
	p.Levels[0].IndexBlockSize = 64 << 10
	for i := range p.Levels {
		if i > 0 {
			p.Levels[i].BlockSize = p.Levels[0].BlockSize
			p.Levels[i].IndexBlockSize = p.Levels[0].IndexBlockSize
		}
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].FilterType = pebble.TableFilter
	}
	return p
}

// logger passes Pebble's errors on and drops its reports of routine work. What Pebble calls fatal
// ends the engine and not the process.
type logger struct {
	log  *slog.Logger
	fail *failure
}

func newLogger(opts Options, fail *failure) *logger {
	return &logger{log: opts.logger(), fail: fail}
}

func (l *logger) Infof(string, ...any) {}

func (l *logger) Errorf(format string, args ...any) {
	if l.fail.get() == nil { // what comes later is a consequence
		l.log.Error(fmt.Sprintf(format, args...), "component", "pebble")
	}
}

func (l *logger) Fatalf(format string, args ...any) {
	f := fatal{message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			f.cause = err
		}
	}
	l.fail.set(f)
}

// fatal is what Pebble would end the process for.
type fatal struct {
	message string
	cause   error
}

func (f fatal) Error() string { return f.message }
func (f fatal) Unwrap() error { return f.cause }
