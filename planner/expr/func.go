package expr

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/minidb/minidb/table/types"
)

// Volatility is how often a function must run.
type Volatility uint8

// An immutable function may be folded during planning. A stable one runs once per statement if its
// arguments are constant. A volatile one runs for each row.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// Func is one overload of a scalar function, operator or set-returning function.
type Func struct {
	Name string // function name, or the operator's spelling
	// Extension is the extension that the function belongs to; "": it is in pg_catalog.
	Extension string
	// Declared argument types; a polymorphic one is nil (any) or AnyElement/AnyArray.
	Args       []*types.Type
	Variadic   bool        // the last of Args repeats
	Returns    *types.Type // nil: polymorphic, see ReturnType
	ReturnType func(args []*types.Type) *types.Type
	Volatility Volatility
	// Inlined: PostgreSQL writes the arguments as text instead of calling the function, so that a
	// call is as volatile as that.
	Inlined bool
	// BySetting: the result depends on a setting, although PostgreSQL declares the function
	// immutable. Its Volatility is Stable, so that it is not called before the statement runs.
	BySetting bool
	NotStrict bool // called with NULL arguments too; a strict function gives NULL
	// Leakproof: nothing but the result of a call depends on its arguments, not even an error. So
	// it may see rows that the conditions of a security barrier hide.
	Leakproof bool
	// Same identifies a function that is made for a call: two functions with equal Same compute the
	// same. It is nil for a function of the catalogue, which is equal only to itself.
	Same any
	// Negator is the operator whose result is always NOT that of this one; nil: there is none, or
	// this one was made for a call.
	Negator *Func
	// Bound marks a function of one argument that converts the value of a comparison to a bound for
	// the keys of an index. Its name is the comparison's operator (builtin.KeyBound).
	Bound bool
	// Scalar computes one value. Every function has it, except set-returning functions.
	Scalar func(rt *Runtime, args []types.Datum) (types.Datum, error)
	// Vector, when not nil, computes rows sel of out from args, which are evaluated vectors. For a
	// strict function the caller sets rows with a NULL argument to NULL and leaves them out of sel.
	Vector func(rt *Runtime, args []*types.Vec, sel []int32, out *types.Vec) error
	// Set computes the rows of a set-returning function, each a row of Columns.
	Set     func(rt *Runtime, args []types.Datum, emit func(row []types.Datum) error) error
	Columns []SetColumn
	// ForRow, when not nil, returns the function for a call in FROM with a column definition list:
	// it makes records of type row, whose fields are known.
	ForRow func(row *types.Type) *Func
}

// Comparison returns the name of an operator by which values are compared. It is "" for an operator
// of types without an order: = and < of these mean something else, such as that of boxes, which
// compares areas. So nothing follows from its result but what it says.
func (f *Func) Comparison() string {
	for _, t := range f.Args {
		if t != nil && t.Unordered() {
			return ""
		}
	}
	return f.Name
}

// SetColumn is an output column of a set-returning function. A nil Type is the element type of the
// first argument (unnest) or the type of the first argument (generate_series over one type).
type SetColumn struct {
	Name string
	Type *types.Type
}

// Runtime is what functions may know about the statement that calls them.
type Runtime struct {
	Ctx           context.Context
	StatementTime time.Time // statement_timestamp()
	TxnTime       time.Time // now()
	Location      *time.Location
	Session       Session
	// Types of the arguments of the call being evaluated, for polymorphic and formatting functions.
	ArgTypes []*types.Type
	// Format has datestyle, intervalstyle, bytea_output and extra_float_digits, for text output.
	Format types.Format
	// Versions has the writers of the rows that the statement sees; nil where it runs on no store.
	Versions Versions
	// Replaced is set while RETURNING shows a row that ON CONFLICT DO UPDATE has changed.
	Replaced bool
	// Memory is the statement's account; nil where no statement runs, where a fixed bound applies.
	Memory Account

	taken int64 // bytes asked for and not released
	held  int64 // those of the current evaluation
	work  int   // since the last check of Ctx, in bytes
}

// Versions has the transactions that wrote the rows that a statement sees, each named by its start
// timestamp.
type Versions interface {
	// Writer returns the transaction that wrote the version that is seen of the row with a key.
	Writer(ctx context.Context, key []byte) (int64, error)
	// Own returns the transaction in which the statement runs.
	Own() int64
}

// Session is what system functions need of the session. It may be nil while the planner folds
// constants: functions that need it are never Immutable.
type Session interface {
	User() string
	SessionUser() string
	Database() string
	SearchPath() []string // schemas that exist, in order; pg_catalog only where it was named
	Setting(name string) (string, bool)
	SetSetting(name, value string, local bool) error
	BackendPID() int32
	NextVal(seq types.OID) (int64, error)
	CurrVal(seq types.OID) (int64, error)
	LastVal() (int64, error)
	SetVal(seq types.OID, value int64, called bool) error
	// ResolveClass returns the OID of a relation by its name as text ('s.t'), or error 42P01.
	ResolveClass(name string) (types.OID, error)
	// Describe returns catalog entries by OID for functions such as pg_get_expr and for regclass
	// output. kind is "class", "type", "namespace", "indexdef", "constraintdef", "viewdef",
	// "serial" or "updatable".
	Describe(kind string, oid types.OID, extra string) (string, bool)
}

// Seeded is an optional interface of a Session: its generator of random numbers, nil until setseed.
type Seeded interface {
	Generator() *rand.Rand
	Seed(*rand.Rand)
}

// ClientText is an optional interface of a Session: the text of statements that the client sent.
type ClientText interface {
	CurrentQuery() (string, error)
}

// SystemQueries is an optional interface of a Session: what the system's views show.
type SystemQueries interface {
	// SystemQuery passes the rows of a query, with parameters of these types, to emit. The query
	// sees what the running statement sees.
	SystemQuery(text string, ts []*types.Type, params []types.Datum,
		emit func(row []types.Datum) error) error
	// MayCall returns 42501 unless the current role may call a function that is for superusers,
	// and for the roles that have the privileges of one of others.
	MayCall(function string, others ...types.OID) error
}

// Temporaries is an optional interface of a Session: its temporary schema.
type Temporaries interface {
	// TemporarySchema returns the schema's OID and name; zero while there is none.
	TemporarySchema() (types.OID, string, error)
}

// Cursors is an optional interface of a Session: its cursors.
type Cursors interface {
	// CurrentOf returns a part of the key of the row at which a cursor is, or error 24000 if it is
	// at no row of the relation.
	CurrentOf(cursor string, key CursorKey) (types.Datum, error)
}

// CursorKey names one part of the key of the rows of a relation.
type CursorKey struct {
	Relation types.OID
	Name     string // of the relation
	Part     int
}

// SequenceGuard is an optional interface of a Session: it returns an error if the role that runs
// the statement may not draw values from a sequence, or see the last one.
type SequenceGuard interface {
	MayAdvance(seq types.OID) error
	MaySeeLast(seq types.OID) error
}

// SettingGuard is an optional interface of a Session: it returns an error if the role that runs the
// statement may not see the value of a setting.
type SettingGuard interface{ MayShow(name string) error }

// AdvisoryLocks is an optional interface of a Session: locks on numbers whose meaning applications
// define.
type AdvisoryLocks interface {
	// AdvisoryLock takes a lock, for the transaction or else for the session. Without wait it
	// returns false when the lock is not free.
	AdvisoryLock(key AdvisoryKey, shared, transaction, wait bool) (bool, error)
	// AdvisoryUnlock releases one lock of the session. It returns false when the session does not
	// hold it.
	AdvisoryUnlock(key AdvisoryKey, shared bool) (bool, error)
	AdvisoryUnlockAll()
}

// Timestamps is an optional interface of a Session: the timestamps of its transactions, which order
// all transactions. A timestamp is positive; its upper 46 bits are milliseconds since 1970.
type Timestamps interface {
	// StartTimestamp returns the start timestamp of the running transaction, which identifies its
	// locks and records.
	StartTimestamp() (int64, error)
	// HasWritten reports whether the running transaction has written anything.
	HasWritten() (bool, error)
	// RunningTransactions returns the start timestamps of all other transactions that run, in
	// ascending order. Those that have not written yet may still do so. An error names the function
	// that asks.
	RunningTransactions(function string) ([]int64, error)
	// SnapshotTimestamp returns the timestamp at which the running statement reads.
	SnapshotTimestamp() (int64, error)
	// LastCommitTimestamp returns the timestamp from which on the effects of the session's last
	// committed write transaction are visible; false before there is one.
	LastCommitTimestamp() (int64, bool)
	// ViewTimestamp returns the timestamp of its tables that an incremental view shows in the
	// running statement; false when it has no rows yet.
	ViewTimestamp(view types.OID) (int64, bool, error)
}

// Snapshots is an optional interface of a Session: snapshots that other transactions may read.
type Snapshots interface {
	// ExportSnapshot returns the identifier of the running transaction's snapshot, which is valid
	// until that transaction ends.
	ExportSnapshot() (string, error)
}

// LargeObject is an open large object, with a position.
type LargeObject interface {
	Writable() bool
	Offset() int64
	Size(ctx context.Context) (int64, error)
	// Seek moves the position and returns it. whence is one of io's constants.
	Seek(ctx context.Context, offset int64, whence int) (int64, error)
	// Read reads fewer bytes than p has at the end of the object only.
	Read(ctx context.Context, p []byte) (n int, err error)
	Write(ctx context.Context, p []byte) error
	Truncate(ctx context.Context, length int64) error
	Close()
}

// LargeObjects is an optional interface of a Session: the large objects of its database, as the
// running transaction sees them.
type LargeObjects interface {
	// CreateLargeObject makes one for a function, which errors name; with ID 0 it chooses the ID.
	CreateLargeObject(command string, id types.OID) (types.OID, error)
	UnlinkLargeObject(id types.OID) error
	// OpenLargeObject opens one for reading, or for reading and writing.
	OpenLargeObject(id types.OID, write bool) (LargeObject, error)
	// NumberLargeObject gives an open one the least free descriptor.
	NumberLargeObject(h LargeObject) (descriptor int32, err error)
	// NumberedLargeObject returns what a descriptor stands for; 42704 for one that is free.
	NumberedLargeObject(descriptor int32) (LargeObject, error)
	CloseLargeObject(descriptor int32) error
	// MayWriteLargeObjects returns why a function may not write in the running transaction.
	MayWriteLargeObjects(command string) error
	// MayUseServerFiles reports whether the current role may name files of the server.
	MayUseServerFiles() bool
}

// Notifications is an optional interface of a Session: messages to the sessions that listen.
type Notifications interface {
	// Notify sends a message when the transaction commits.
	Notify(channel, payload string) error
	// ListeningChannels returns the channels that the session listens to.
	ListeningChannels() []string
	// NotificationQueueUsage returns the filled part of the queue, from 0 to 1.
	NotificationQueueUsage() float64
}

// Observers is what a Session may offer beside: the observers of its database.
type Observers interface {
	// CreateObserver registers an observer in the running transaction and returns its ID.
	CreateObserver(o Observer) (types.OID, error)
	// DropObserver removes one by its name; 42704 when there is none.
	DropObserver(name string) error
}

// Observer is what an observer is registered as: Table is a name as SQL writes it, and nil Columns
// are all.
type Observer struct {
	Name     string
	Version  int64
	Table    string
	Columns  []string
	Backfill bool
}

// DeadLetters is what a Session may offer beside: the rows that observers have given up.
type DeadLetters interface {
	// SettleDeadLetters makes the observer of a name run again on the rows that it has given up, or
	// drops them: all, or the one with a key. It returns how many there were; 42704 when there is
	// no such observer.
	SettleDeadLetters(name string, key *string, drop bool) (int64, error)
}

// Takes is what a Session may offer beside: changes of observers, for the running transaction to
// deal with.
type Takes interface {
	// Take passes up to n pending changes of the observer of a name to visit, and makes the
	// transaction's commit acknowledge them. If wait is not nil it waits so long for the first;
	// 42704 when there is no such observer.
	Take(observer string, n int64, wait *time.Duration, visit func(c *TakenChange) error) error
	// NotifyObserver makes the commit ask an observer to run on a row, given by its primary key as
	// a JSON object.
	NotifyObserver(observer, key string) error
}

// TakenChange is a change of a row of an observed table.
type TakenChange struct {
	Key *NamedValues // nil of a table without a primary key
	// Row is the row as it is, Before as it was at the last run; nil: there is, or was, none.
	Row, Before *NamedValues
	// Origin is the lowest commit timestamp of the changes from outside that led here, Generation
	// the number of observers' runs in between.
	Origin, Generation int64
}

// NamedValues are values with the names and types of their columns.
type NamedValues struct {
	Columns []SetColumn
	Values  []types.Datum
}

// AdvisoryKey is one bigint, or with Pair two integers: two separate spaces of keys.
type AdvisoryKey struct {
	Hi, Lo uint32
	Pair   bool
}

// Aggregate is one overload of an aggregate function.
type Aggregate struct {
	Name       string
	Extension  string // as in Func
	Args       []*types.Type
	Variadic   bool
	Returns    *types.Type
	ReturnType func(args []*types.Type) *types.Type
	// New makes an accumulator for one group. args are the argument types.
	New func(args []*types.Type) Accumulator
	// Strict aggregates skip rows in which an argument is NULL. All are strict except count(*),
	// array_agg and the like.
	Strict bool
	// OrderSensitive aggregates (array_agg, string_agg) depend on ORDER BY; min, max and sum do
	// not.
	OrderSensitive bool
	WithinGroup    bool // percentile_cont and the like
}

// Accumulator is the state of an aggregate for one group.
type Accumulator interface {
	Add(rt *Runtime, args []types.Datum) error
	Result(rt *Runtime) (types.Datum, error)
	// Size returns about how many bytes the accumulator holds beyond a constant, for the memory
	// budget.
	Size() int
}
