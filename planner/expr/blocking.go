package expr

// LockWaits is an optional interface of a Session: which sessions wait for which.
type LockWaits interface {
	// BlockingPIDs returns the sessions for which a session waits.
	BlockingPIDs(pid int32) ([]int32, error)
	// SafeSnapshotBlockers returns the sessions for which a session waits to get a safe snapshot.
	SafeSnapshotBlockers(pid int32) ([]int32, error)
}
