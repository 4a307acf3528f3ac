package expr

import (
	"context"
	"time"

	"github.com/minidb/minidb/table/types"
)

// Volatility tells how often a function must run.
type Volatility uint8

// Immutable functions may be folded at planning; stable ones run once per statement where their
// arguments are constant; volatile ones run for each row.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// Func is one overload of a scalar function, operator or set-returning function.
type Func struct {
	Name string // function name, or the operator's spelling
	// declared argument types; a polymorphic one is nil (any) or AnyElement/AnyArray
	Args       []*types.Type
	Variadic   bool        // the last of Args repeats
	Returns    *types.Type // nil: polymorphic, see ReturnType
	ReturnType func(args []*types.Type) *types.Type
	Volatility Volatility
	NotStrict  bool // called with NULL arguments too; a strict function gives NULL for any NULL
	// Same tells a function that is made for a call from others: those with equal ones compute the
	// same. nil for a function of the catalogue, which is itself only.
	Same any
	// Bound marks a function of one argument that turns the value of a comparison into a bound for
	// the keys of an index; its name is the comparison's operator (builtin.KeyBound).
	Bound bool
	// Scalar computes one value. Every function has it, except set-returning ones.
	Scalar func(rt *Runtime, args []types.Datum) (types.Datum, error)
	// Vector, when not nil, computes rows sel of out from args (already evaluated vectors). For a
	// strict function rows with a NULL argument are set NULL by the caller and left out of sel.
	Vector func(rt *Runtime, args []*types.Vec, sel []int32, out *types.Vec) error
	// Set computes the rows of a set-returning function, each a row of Columns.
	Set     func(rt *Runtime, args []types.Datum, emit func(row []types.Datum) error) error
	Columns []SetColumn
}

// SetColumn is an output column of a set-returning function. A nil Type is that of the first
// argument's element (unnest) or of the first argument (generate_series over one type).
type SetColumn struct {
	Name string
	Type *types.Type
}

// Runtime is what functions may know of the statement that runs them.
type Runtime struct {
	Ctx           context.Context
	StatementTime time.Time // statement_timestamp()
	TxnTime       time.Time // now()
	Location      *time.Location
	Session       Session
	// Types of the arguments of the call being evaluated, for polymorphic and formatting functions.
	ArgTypes []*types.Type
	// Datestyle, intervalstyle, bytea_output and extra_float_digits, for text output.
	Format types.Format
	// Memory is the statement's account; nil where no statement runs: a fixed bound holds then.
	Memory Account

	taken int64 // bytes asked for and not given back
	held  int64 // of these, by the evaluation that is going on
	work  int   // since the last look at Ctx, in bytes
}

// Session is what system functions ask of the session. It may be nil while the planner folds
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
	// ResolveClass maps a relation name as text ('s.t') to its OID, or an error 42P01.
	ResolveClass(name string) (types.OID, error)
	// Describe returns catalog facts by OID for functions such as pg_get_expr and regclass output:
	// kind "class", "type", "namespace", "indexdef", "constraintdef", "viewdef", "serial".
	Describe(kind string, oid types.OID, extra string) (string, bool)
}

// AdvisoryLocks is what a Session may offer beside: locks on numbers that mean what applications
// agree on.
type AdvisoryLocks interface {
	// AdvisoryLock takes a lock, for the transaction or else for the session. Without wait it
	// answers false when the lock is not free.
	AdvisoryLock(key AdvisoryKey, shared, transaction, wait bool) (bool, error)
	// AdvisoryUnlock gives back one lock of the session; false when it has none.
	AdvisoryUnlock(key AdvisoryKey, shared bool) bool
	AdvisoryUnlockAll()
}

// Timestamps is what a Session may offer beside: where its transactions stand in the one order of
// all transactions. A timestamp is positive; its upper 46 bits are milliseconds since 1970.
type Timestamps interface {
	// StartTimestamp is the running transaction's, by which its locks and records are known.
	StartTimestamp() (int64, error)
	// SnapshotTimestamp is the one at which the running statement reads.
	SnapshotTimestamp() (int64, error)
	// LastCommitTimestamp is the one from which on the last transaction of the session that wrote
	// and committed is visible; false before there was one.
	LastCommitTimestamp() (int64, bool)
}

// Notifications is what a Session may offer beside: messages to the sessions that listen.
type Notifications interface {
	// Notify sends when the transaction commits.
	Notify(channel, payload string) error
	// ListeningChannels are the session's.
	ListeningChannels() []string
	// NotificationQueueUsage is from 0 to 1.
	NotificationQueueUsage() float64
}

// AdvisoryKey is one bigint, or with Pair two integers: these are two spaces of keys.
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
	// Strict aggregates skip rows in which any argument is NULL (all but count(*) and array_agg and
	// their like).
	Strict bool
	// OrderSensitive aggregates (array_agg, string_agg) care for ORDER BY; min, max, sum do not.
	OrderSensitive bool
	WithinGroup    bool // percentile_cont and its like
}

// Accumulator is the state of an aggregate for one group.
type Accumulator interface {
	Add(rt *Runtime, args []types.Datum) error
	Result(rt *Runtime) (types.Datum, error)
	// Size is about how many bytes it holds beyond a constant, for the memory budget.
	Size() int
}
