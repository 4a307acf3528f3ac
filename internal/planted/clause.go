package planted

// firstOfClauses leaves room for the bugs of histories.
const firstOfClauses Bug = 128

// The bugs that take one clause of the protocol away; txn's checklist holds a check for each.
const (
	// CollapsedProtected: a protected rollback record is collapsed like any other.
	CollapsedProtected Bug = firstOfClauses + iota
	// UncollapsedRollbacks: a run of unprotected rollback records is left as it is.
	UncollapsedRollbacks
	// SharedTimestamp: a calculated commit timestamp is one that another transaction gets too.
	SharedTimestamp
	// PrewriteOnce: a prewrite takes its own lock for a stranger's.
	PrewriteOnce
	// PrewriteAfterCommit: a prewrite of a committed transaction does not find its own record.
	PrewriteAfterCommit
	// CommitOnce: a commit does not find its own record.
	CommitOnce
	// RollbackAfterCommit: a rollback of a committed transaction answers that it is done.
	RollbackAfterCommit
	// ImpatientResolver: an absent primary is rolled back before the time to live is over.
	ImpatientResolver
	// UnwrittenVerdict: an absent primary is found rolled back, and no record says so.
	UnwrittenVerdict
	// PhantomPrimary: a key that is not written may be the primary.
	PhantomPrimary
	// NoHeartbeat: a long commit does not extend its lock.
	NoHeartbeat
	// RevivingHeartbeat: a heartbeat writes the lock anew when it is gone.
	RevivingHeartbeat
	// LivingExpire: a transaction of this process is judged by the clock.
	LivingExpire
	// ReaderWaits: a reader waits for a living writer and does not push it.
	ReaderWaits
	// CommitBelowReaders: a calculated commit timestamp is the one after start_ts.
	CommitBelowReaders
	// CommitInFuture: a calculated commit timestamp is above the present.
	CommitInFuture
	// LowestOfLocks: an async commit's timestamp is its first lock's and not the highest.
	LowestOfLocks
	// TrustedPrimary: a stranger trusts an async primary and does not ask the secondaries.
	TrustedPrimary
	// MissingIsCommitted: a stranger takes a missing async lock for a committed one.
	MissingIsCommitted
	// UnbarredLock: a stranger finds an async lock missing, and leaves its place open.
	UnbarredLock
	// OneGroupForAll: a commit over several groups is tried in one update.
	OneGroupForAll
	// RetryInOnePhase: a prewrite whose answer was lost is tried again as a commit in one phase.
	RetryInOnePhase
	// UnbarredOnePhase: a one-phase commit whose answer was lost is given up and not barred.
	UnbarredOnePhase
	// LockRecordHides: a reader takes a record of kind lock for a removal.
	LockRecordHides
	// LockRecordUnseen: a conflict check does not see records of kind lock.
	LockRecordUnseen
	// StaleAfterWait: who got a row lock does not look for newer versions.
	StaleAfterWait
	// MovedBase: a write is checked against the newest read timestamp, not the one it rests on.
	MovedBase
	// UnstreamedUnlocked: a large transaction gives back row locks of keys that it has not streamed out.
	UnstreamedUnlocked
	// KeptFromItsOwnKey: who waits for a lock that was streamed out keeps its row lock meanwhile.
	KeptFromItsOwnKey
	// LeftoverRowLocks: row locks outlive their transaction.
	LeftoverRowLocks
	// UndetectedDeadlock: nobody looks for circles of waits.
	UndetectedDeadlock
	// UnsortedLatches: latches are taken in the order of the rows.
	UnsortedLatches
	// CheckBeforeLatch: the latches are taken after the checks.
	CheckBeforeLatch
	// ResurrectedByCollection: a collection drops a removal and keeps what it hid.
	ResurrectedByCollection
	// ReadBelowSafepoint: a reader below the safepoint is let in.
	ReadBelowSafepoint
	// IgnoredOthersLock: a prewrite writes over another transaction's lock.
	IgnoredOthersLock
	// FailedBatchLeft: the batches of a failed commit are not rolled back.
	FailedBatchLeft
	// LongValues: no value is inlined.
	LongValues
	// LockedOnePhase: what could be committed in one phase takes two.
	LockedOnePhase
	// OneKeyBatches: each key travels alone.
	OneKeyBatches
	// ViewPerRead: keys that are read together are read one by one.
	ViewPerRead
	// SteppingOracle: the oracle follows a clock that steps back.
	SteppingOracle
	// WritingOracle: the oracle persists every timestamp by itself.
	WritingOracle
	// ForgottenUndo: a write that was streamed out is not taken back by a savepoint.
	ForgottenUndo
	// BlindOverwrite: an insert over an undone streamed write does not look for a value.
	BlindOverwrite
	// DeadReader: a transaction that was rolled back by others reads on without what it streamed out.
	DeadReader
	// OlderIsWaitedFor: a commit that has locks waits for whoever is in its way.
	OlderIsWaitedFor
	// StaleNewest: a point read without a timestamp takes what a view shows, however old.
	StaleNewest
	// DrawnPointRead: a point read without a timestamp draws one all the same.
	DrawnPointRead
	// DeadOwnerAwaited: whoever meets a lock waits for its time to live though its owner is dead.
	DeadOwnerAwaited
	// TouchedLocksBelieved: a commit takes its locks to be as it wrote them, though others were at them.
	TouchedLocksBelieved
	// PrewritesInTurn: a commit prewrites one batch after the other.
	PrewritesInTurn
	// RowRecordUnread: whoever locks a row of a shared store does not look who has locked it there.
	RowRecordUnread
	// RowQueuePassed: whoever comes to a free row of a shared store takes it, whoever queues for it there.
	RowQueuePassed
	// WaitsUnsearched: of those who wait in the store only who wants a row lock looks for circles.
	WaitsUnsearched
	// RowRecordOutlivesSavepoint: ROLLBACK TO leaves in the store what was locked after the savepoint.
	RowRecordOutlivesSavepoint
	// LostRowLockUnnoticed: a commit does not ask whether its session, and so its row locks, lasted.
	LostRowLockUnnoticed
	// StreamedKeyForgotten: a large transaction does not know that it has streamed a key out.
	StreamedKeyForgotten
	// OlderWriteLost: what a savepoint wants back is not streamed out with the write that replaces it.
	OlderWriteLost
	// DecidedLockShownEarly: a reader below the commit sees what a decided lock stands for.
	DecidedLockShownEarly
	// DecidedLockUnread: a reader passes over the locks of a decided transaction.
	DecidedLockUnread
	// UnsettledUnread: a view does not tell which committed transactions still have locks in it.
	UnsettledUnread
	// LargeCommitUnseen: a reader takes a view from before a large commit whose locks are not settled.
	LargeCommitUnseen
	// LazyVerdict: whoever settles a lock goes by what it finds at the primary, durable or not.
	LazyVerdict
	// UnawaitedConflict: a write conflict is told before the write in the way is durable.
	UnawaitedConflict
	// LeftInDoubt: a commit leaves the table in flight though its result is unknown.
	LeftInDoubt

	// DroppedUnderReader: a dropped span is deleted while a transaction may read it.
	DroppedUnderReader
	// DroppedUnread: a dropped span is not told to serializable transactions that have read in it.
	DroppedUnread
	// DroppedForgotten: a dropped span is forgotten when it is deleted, and not when it is found empty.
	DroppedForgotten
	// UnbeatenValidation: a commit does not show that it lives while it validates what it has read.
	UnbeatenValidation
	// PushedForever: readers push a commit that validates, however often they have done so.
	PushedForever

	endOfClauses
)

var clauseNames = [endOfClauses - firstOfClauses]string{
	"protected rollback collapsed",
	"rollbacks not collapsed",
	"timestamp given twice",
	"prewrite not idempotent",
	"own record not found by prewrite",
	"commit not idempotent",
	"rollback of a committed transaction",
	"absent primary not waited for",
	"verdict not written",
	"primary not written",
	"no heartbeat",
	"heartbeat revives the dead",
	"the living are judged by the clock",
	"reader does not push",
	"calculated below earlier reads",
	"calculated above the present",
	"not the highest of the locks",
	"secondaries not asked",
	"missing lock taken for committed",
	"missing lock not barred",
	"no fallback to two phases",
	"retry in one phase",
	"lost update not barred",
	"lock record hides a value",
	"lock record not seen",
	"stale after a wait",
	"write checked against a later read",
	"row locks given back that nothing stands for",
	"owner kept from its own key",
	"row locks left",
	"deadlock not detected",
	"latches not sorted",
	"check outside the latch",
	"removed value back after a collection",
	"reader below the safepoint",
	"lock overwritten",
	"failed commit leaves locks",
	"no short values",
	"locks in one phase",
	"no batches",
	"reads do not travel together",
	"oracle steps back",
	"oracle writes for each draw",
	"streamed write not undone",
	"insert over an undone write",
	"read of a streamed write that is gone",
	"older transaction waited for",
	"point read from an old view",
	"point read with a timestamp",
	"dead owner's lock waited for",
	"locks not read that others were at",
	"prewrites one after the other",
	"row locks in the store not read by a locker",
	"queue for a row in the store passed",
	"circles of other waits in the store not searched",
	"row locks in the store not rolled back to a savepoint",
	"row locks lost with the lease",
	"streamed key forgotten",
	"write that a savepoint wants not streamed out",
	"decided lock read below its commit",
	"decided lock not read",
	"locks that are not settled not read in a view",
	"large commit above a view not seen",
	"verdict rests on what is not durable",
	"conflict rests on what is not durable",
	"commit not in flight while its result is unknown",
	"dropped span deleted under a reader",
	"dropped span not told to readers",
	"dropped span forgotten at once",
	"no heartbeat while validating",
	"pushed for ever",
}
