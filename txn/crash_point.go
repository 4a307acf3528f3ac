package txn

import "github.com/minidb/minidb/txn/resolve"

// CrashPoint names a place in a commit or a clean-up at which a coordinator may die. Tests set
// Options.CrashPoint; when it returns true, the coordinator stops there and then, leaves everything
// as it is, and its caller gets ErrAbandoned.
type CrashPoint string

// The crash points, in the order in which a transaction passes them.
const (
	BeforeOnePhase       CrashPoint = "before-one-phase"
	AfterOnePhase        CrashPoint = "after-one-phase"
	BeforePrewrite       CrashPoint = "before-prewrite"
	AfterPrewritePrimary CrashPoint = "after-prewrite-primary"
	AfterStreamed        CrashPoint = "after-streamed" // a large transaction has emptied its buffer
	AfterPrewrite        CrashPoint = "after-prewrite"
	AfterCommitTS        CrashPoint = "after-commit-ts"
	AfterCommitPoint     CrashPoint = "after-commit-point"
	AfterSecondaryBatch  CrashPoint = "after-secondary-batch"
	BeforeRollback       CrashPoint = "before-rollback"
	AfterRollbackPrimary CrashPoint = "after-rollback-primary"
	// those of the resolver
	AfterCheckLocks = CrashPoint(resolve.AfterCheckLocks)
	AfterStatus     = CrashPoint(resolve.AfterStatus)
	AfterResolve    = CrashPoint(resolve.AfterResolve)
)

// CrashPoints lists them all.
var CrashPoints = []CrashPoint{
	BeforeOnePhase, AfterOnePhase, BeforePrewrite, AfterPrewritePrimary, AfterStreamed,
	AfterPrewrite, AfterCommitTS,
	AfterCommitPoint, AfterSecondaryBatch, BeforeRollback, AfterRollbackPrimary, AfterCheckLocks,
	AfterStatus, AfterResolve,
}
