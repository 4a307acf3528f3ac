package commit

// Step is a place in a commit or a rollback.
type Step string

// The steps, in the order in which a transaction passes them.
const (
	BeforeOnePhase       Step = "before-one-phase"
	AfterOnePhase        Step = "after-one-phase"
	BeforePrewrite       Step = "before-prewrite"
	AfterPrewritePrimary Step = "after-prewrite-primary"
	AfterStreamed        Step = "after-streamed" // a large transaction has emptied its buffer
	AfterPrewrite        Step = "after-prewrite"
	AfterCommitTS        Step = "after-commit-ts"
	AfterCommitPoint     Step = "after-commit-point"
	BeforeRollback       Step = "before-rollback"
	AfterRollbackPrimary Step = "after-rollback-primary"
)
