package minidb

import (
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
)

// Option changes how Open opens.
type Option func(*options)

type options struct {
	inMemory            bool
	mustExist           bool
	cacheBytes          int64
	memoryLimit         int64
	columnFile          int64
	logger              *slog.Logger
	database            string
	role                string
	maxConnections      int
	reservedConnections int
	gcInterval          time.Duration
	retention           time.Duration
	analyzeInterval     time.Duration
	protocol            string
	isolation           string
	onFatal             func(error)
	acceptClock         bool
	clock               func() int64 // of a test; nil: the machine's
	oracle              oracleOptions
	engines             kv.Openers
	engine              func(*pebblekv.Options)
	store               func(*txn.Options)
}

// InMemory keeps everything in memory; the directory is not looked at. Close forgets it.
func InMemory() Option { return func(o *options) { o.inMemory = true } }

// MustExist refuses a directory that holds no database; without it Open makes one.
func MustExist() Option { return func(o *options) { o.mustExist = true } }

// MemoryLimit bounds what the process holds in memory, in bytes: the caches of all its handles, and
// what their statements hold together. When there is no more, the statement that holds the most
// ends with 53200. All handles of a process share one account: the least limit of those that are
// open is in force, half of the machine's memory without any. It is at least 32 MiB. What the
// program itself holds, and an InMemory store's data, are not counted, and Go's own limit
// (debug.SetMemoryLimit) is left to the program.
func MemoryLimit(bytes int64) Option { return func(o *options) { o.memoryLimit = bytes } }

// ColumnFile bounds the temporary file of columns that scans of whole tables keep where memory has
// no room for them, in bytes; the default is twice MemoryLimit, 2 GiB without it, or a tenth of the
// free disk where that is less. A negative number means none. It is in the database's directory,
// without a name, and gone with the process.
func ColumnFile(bytes int64) Option { return func(o *options) { o.columnFile = bytes } }

// CacheSize is the size of the block cache in bytes, beside the memtables; the default is 64 MiB,
// and with MemoryLimit 5/64 of that.
func CacheSize(bytes int64) Option { return func(o *options) { o.cacheBytes = bytes } }

// Logger is where the database logs; the default is slog.Default().
func Logger(l *slog.Logger) Option { return func(o *options) { o.logger = l } }

// Database is the database that the handle's own statements use; the default is postgres.
func Database(name string) Option { return func(o *options) { o.database = name } }

// Role is the role whose rights the handle's own statements have, as SET SESSION AUTHORIZATION
// gives them; the default is the bootstrap superuser. It must exist. Observers and incremental
// views are not bound by it.
func Role(name string) Option { return func(o *options) { o.role = name } }

// MaxConnections bounds the clients of Serve; the default is 100.
func MaxConnections(n int) Option { return func(o *options) { o.maxConnections = n } }

// ReservedConnections is how many of the clients' connections are kept for the user postgres; the
// default is 3, or fewer where MaxConnections is as small.
func ReservedConnections(n int) Option { return func(o *options) { o.reservedConnections = n } }

// GCInterval is the pause between collections of old versions; the default is a minute, a negative
// one turns them off.
func GCInterval(d time.Duration) Option { return func(o *options) { o.gcInterval = d } }

// AnalyzeInterval is the pause between looks for tables that have changed much since their
// statistics were made; the default is a minute, a negative one leaves it to ANALYZE.
func AnalyzeInterval(d time.Duration) Option { return func(o *options) { o.analyzeInterval = d } }

// Retention is how far back AS OF SYSTEM TIME reaches at least; the default is ten minutes.
func Retention(d time.Duration) Option { return func(o *options) { o.retention = d } }

// CommitProtocol is how commits reach the store, by name. All of them give the same histories; they
// are to be chosen for studying what each leaves in the store (minidb dump). Open refuses one that
// the store cannot keep.
//
//   - "auto", the default: one phase for what fits into one batch, two phases for what is larger;
//   - "one-phase": records at once, by a single update; only transactions that are larger than what
//     is kept in memory take two phases;
//   - "two-phase": Percolator's locks, commit point and records, for the smallest commit too;
//   - "async": the locks alone are the commit, of up to 256 keys; the records follow.
func CommitProtocol(name string) Option { return func(o *options) { o.protocol = name } }

// OnFatal is called once when the database cannot write its log any more: the disk is broken or
// full, say. From then on every call fails with an error for which errors.Is(err, ErrFailed) holds
// (SQLSTATE 58030; a commit that was under way: 40003), and the program goes on. Only opening the
// directory again helps, after Close; what was acknowledged is there then. f runs in a goroutine of
// its own.
func OnFatal(f func(err error)) Option { return func(o *options) { o.onFatal = f } }

// AcceptClock opens a directory though the clock of the machine seems wrong: Open refuses one that
// is far ahead of the newest timestamp of the database, or days behind it. Timestamps never fall,
// so a clock that is wrong when it is accepted stays in the database.
func AcceptClock() Option { return func(o *options) { o.acceptClock = true } }

// DefaultIsolation is the level of transactions that ask for none, by its SQL name as in
// [Isolation]; the default is "read committed". ALTER DATABASE … SET default_transaction_isolation,
// the options of a connection and SET win over it. Open refuses a name that is not one.
func DefaultIsolation(level string) Option { return func(o *options) { o.isolation = level } }

// Engine lets Open open the stores of a URL's scheme:
//
//	minidb.Open("etcd://host:2379/path", minidb.Engine("etcd", etcdkv.OpenURL))
func Engine(scheme string, open kv.Opener) Option {
	return func(o *options) {
		if o.engines == nil {
			o.engines = kv.Openers{}
		}
		o.engines[scheme] = open
	}
}

// OracleAddress is where this process serves timestamps to the other processes of a shared store,
// when it is its turn: listen is host:port, and advertise the address at which the others reach it,
// or empty where that is the same. Without it 127.0.0.1 and a free port are used, which is refused
// for a store on another machine. A directory needs none.
func OracleAddress(listen, advertise string) Option {
	return func(o *options) { o.oracle.listen, o.oracle.advertise = listen, advertise }
}

// OracleTLS is the configuration of both sides of the connections on which timestamps are served.
// Its Certificates prove what this process is; ClientAuth and ClientCAs say which processes may
// draw, and RootCAs which may serve. Without it connections are not encrypted.
func OracleTLS(c *tls.Config) Option { return func(o *options) { o.oracle.tls = c } }

// OnEngine changes how the engine below is opened, after the other options: on another file system,
// for a program's own tests of crashes and full disks (package kv/pebblekv/testfs).
func OnEngine(f func(*pebblekv.Options)) Option { return func(o *options) { o.engine = f } }

// OnStore changes how the transaction layer is opened, after the other options: with bounds so
// small that a program's own tests reach them (package txn).
func OnStore(f func(*txn.Options)) Option { return func(o *options) { o.store = f } }
