package planted

// Bug is one bug of the protocol.
type Bug uint8

// The bugs that the random histories of tests/history catch. Each name says what is done wrong.
const (
	// SkippedConflictCheck: a prewrite does not look for writes newer than start_ts.
	SkippedConflictCheck Bug = iota
	// NoRollbackRecord: a rollback removes the lock and leaves no record.
	NoRollbackRecord
	// EarlyCommitTS: commit_ts is drawn before the prewrites.
	EarlyCommitTS
	// IgnoredLock: a reader reads past a lock below its start_ts.
	IgnoredLock
	// LostSecondary: a secondary's lock is removed and no record takes its place.
	LostSecondary
	// LocalClockTTL: the resolver judges a time to live by its own clock.
	LocalClockTTL
	// UnseenOnePhase: readers do not consult the table of commits in flight.
	UnseenOnePhase
	// CollectedPastReader: the safepoint passes a running transaction.
	CollectedPastReader
	// OwnRollbackUnchecked: a prewrite does not look for its own rollback record.
	OwnRollbackUnchecked
	// CommitAfterRollback: committing a primary that was rolled back answers success.
	CommitAfterRollback
	// ForgetfulOracle: the oracle does not persist its high-water mark.
	ForgetfulOracle
	// SecondaryFirst: a resolver judges a secondary by its own time to live and never asks the primary.
	SecondaryFirst
	// BlindInsert: an insert's check stops at the newest record, whatever its kind.
	BlindInsert
	// SkippedValidation: what a serializable transaction read is not validated.
	SkippedValidation
	// UnpushedCommitTS: a commit ignores that a reader pushed its lowest timestamp.
	UnpushedCommitTS
	// LostAnswerIsFailure: an update whose answer was lost is reported as failed.
	LostAnswerIsFailure
	// LocksForgottenAtOpen: a store on an exclusive engine takes it that a restart leaves no locks.
	LocksForgottenAtOpen
	// CollectedBeforeSettled: a collection does not settle locks before it drops versions.
	CollectedBeforeSettled
	// CollectedNewest: a collection drops the newest version at or below the safepoint too.
	CollectedNewest
	// UnsyncedCommitPoint: a commit is acknowledged before it is durable.
	UnsyncedCommitPoint
	// StaleView: a reader takes what a view shows that another transaction left, however old.
	StaleView
	// LockedAfterLook: a row lock is taken after the look for newer versions.
	LockedAfterLook
	// RowLockIgnored: a commit does not look at the row locks of others.
	RowLockIgnored
	// UnlockedBeforeCommit: a commit gives its row locks back before its writes are visible.
	UnlockedBeforeCommit
	// SkippedSecondLook: in READ COMMITTED a row that was changed while its lock was waited for is
	// written as it was read.
	SkippedSecondLook
	// KeptView: a statement of READ COMMITTED reads in the engine's snapshot of the one before.
	KeptView
	// ForgottenReader: an edge from a serializable reader that has committed is not made.
	ForgottenReader
	// UnseenPrepared: of three serializable transactions, the one that is about to commit first is
	// noticed only when it has.
	UnseenPrepared
	// UnregisteredRange: a range that a serializable transaction read is not noted.
	UnregisteredRange
	// UncheckedCommit: a serializable transaction commits without a look at who depends on it.
	UncheckedCommit
	// LeaseByLocalClock: an owner's lease is judged by the clock of whoever meets its lock.
	LeaseByLocalClock
	// SafepointUnchecked: on a shared store a reader does not look for the safepoint in its snapshot.
	SafepointUnchecked
	// SessionsUncounted: a collector does not ask what other sessions have running.
	SessionsUncounted
	// UnawaitedDependency: a transaction that has read what is not durable yet answers at once.
	UnawaitedDependency
	// RowRecordUnwritten: a row lock of a shared store is this process's memory alone.
	RowRecordUnwritten
	// RowRecordOverwritten: a prewrite does not look at the row locks that are in the store.
	RowRecordOverwritten

	count
)

var names = [count]string{
	"skipped conflict check", "no rollback record", "commit_ts drawn before prewrite",
	"lock ignored by a reader", "secondary lost", "TTL by local clock", "one-phase commit not seen",
	"collected past a reader", "own rollback record not checked", "commit of a rolled-back primary",
	"oracle not persisted", "secondary rolled back before its primary", "blind insert",
	"validation skipped", "push of commit_ts ignored", "lost answer taken for a failure",
	"locks forgotten at open", "collected before locks are settled", "newest version collected",
	"commit point not synced", "view of another transaction taken unchecked",
	LockedAfterLook: "row locked after the look", RowLockIgnored: "row lock ignored by a commit",
	UnlockedBeforeCommit: "row unlocked before the commit", SkippedSecondLook: "no second look after a wait",
	KeptView:        "view of an earlier statement",
	ForgottenReader: "edge of a committed reader forgotten", UnseenPrepared: "prepared pivot not seen",
	UnregisteredRange: "range read not registered", UncheckedCommit: "commit of a serializable transaction not checked",
	LeaseByLocalClock:  "lease by local clock",
	SafepointUnchecked: "safepoint unchecked on a shared store", SessionsUncounted: "sessions not counted by the collector",
	UnawaitedDependency: "answer before what was read is durable",
	RowRecordUnwritten:  "row locks not written to the store", RowRecordOverwritten: "row locks in the store not read by a prewrite",
}

// String names the bug.
func (b Bug) String() string {
	switch {
	case b >= firstOfClauses:
		return clauseNames[b-firstOfClauses]
	case b >= firstOfSQL:
		return namesOfSQL[b-firstOfSQL]
	}
	return names[b]
}

// InHistories lists the bugs that random histories catch.
func InHistories() []Bug { return from(0, count) }

// OfClauses lists those that only the checks of single clauses catch (txn's checklist).
func OfClauses() []Bug { return from(firstOfClauses, endOfClauses) }

func from(first, end Bug) (out []Bug) {
	for b := first; b < end; b++ {
		out = append(out, b)
	}
	return out
}
