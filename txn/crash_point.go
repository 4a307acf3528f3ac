package txn

import (
	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/resolve"
)

// CrashPoint names a place in a commit or a clean-up at which a coordinator may die. Tests set
// Options.CrashPoint; when it returns true, the coordinator stops there and then, leaves everything
// as it is, and its caller gets ErrAbandoned.
type CrashPoint string

// The crash points of the coordinator, in the order in which a transaction passes them (package
// commit), with those of the background committer and of the resolver.
const (
	BeforeOnePhase       = CrashPoint(commit.BeforeOnePhase)
	AfterOnePhase        = CrashPoint(commit.AfterOnePhase)
	BeforePrewrite       = CrashPoint(commit.BeforePrewrite)
	AfterPrewritePrimary = CrashPoint(commit.AfterPrewritePrimary)
	AfterStreamed        = CrashPoint(commit.AfterStreamed)
	AfterPrewrite        = CrashPoint(commit.AfterPrewrite)
	AfterCommitTS        = CrashPoint(commit.AfterCommitTS)
	AfterCommitPoint     = CrashPoint(commit.AfterCommitPoint)
	AfterSecondaryBatch  = CrashPoint("after-secondary-batch")
	BeforeRollback       = CrashPoint(commit.BeforeRollback)
	AfterRollbackPrimary = CrashPoint(commit.AfterRollbackPrimary)
	AfterCheckLocks      = CrashPoint(resolve.AfterCheckLocks)
	AfterStatus          = CrashPoint(resolve.AfterStatus)
	AfterResolve         = CrashPoint(resolve.AfterResolve)
)

// CrashPoints lists them all.
var CrashPoints = []CrashPoint{
	BeforeOnePhase, AfterOnePhase, BeforePrewrite, AfterPrewritePrimary, AfterStreamed,
	AfterPrewrite, AfterCommitTS,
	AfterCommitPoint, AfterSecondaryBatch, BeforeRollback, AfterRollbackPrimary, AfterCheckLocks,
	AfterStatus, AfterResolve,
}
