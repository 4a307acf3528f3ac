package expr

import (
	"context"
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
	// Declared argument types; a polymorphic one is nil (any) or AnyElement/AnyArray.
	Args       []*types.Type
	Variadic   bool        // the last of Args repeats
	Returns    *types.Type // nil: polymorphic, see ReturnType
	ReturnType func(args []*types.Type) *types.Type
	Volatility Volatility
	NotStrict  bool // called with NULL arguments too; a strict function gives NULL
	// Same identifies a function that is made for a call: two functions with equal Same compute the
	// same. It is nil for a function of the catalogue, which is equal only to itself.
	Same any
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
	// Memory is the statement's account; nil where no statement runs, where a fixed bound applies.
	Memory Account

	taken int64 // bytes asked for and not released
	held  int64 // those of the current evaluation
	work  int   // since the last check of Ctx, in bytes
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
	// output. kind is "class", "type", "namespace", "indexdef", "constraintdef", "viewdef" or
	// "serial".
	Describe(kind string, oid types.OID, extra string) (string, bool)
}

// AdvisoryLocks is an optional interface of a Session: locks on numbers whose meaning applications
// define.
type AdvisoryLocks interface {
	// AdvisoryLock takes a lock, for the transaction or else for the session. Without wait it
	// returns false when the lock is not free.
	AdvisoryLock(key AdvisoryKey, shared, transaction, wait bool) (bool, error)
	// AdvisoryUnlock releases one lock of the session. It returns false when the session does not
	// hold it.
	AdvisoryUnlock(key AdvisoryKey, shared bool) bool
	AdvisoryUnlockAll()
}

// Timestamps is an optional interface of a Session: the timestamps of its transactions, which order
// all transactions. A timestamp is positive; its upper 46 bits are milliseconds since 1970.
type Timestamps interface {
	// StartTimestamp returns the start timestamp of the running transaction, which identifies its
	// locks and records.
	StartTimestamp() (int64, error)
	// SnapshotTimestamp returns the timestamp at which the running statement reads.
	SnapshotTimestamp() (int64, error)
	// LastCommitTimestamp returns the timestamp from which on the effects of the session's last
	// committed write transaction are visible; false before there is one.
	LastCommitTimestamp() (int64, bool)
	// ViewTimestamp returns the timestamp of its tables that an incremental view shows in the
	// running statement; false when it has no rows yet.
	ViewTimestamp(view types.OID) (int64, bool, error)
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
