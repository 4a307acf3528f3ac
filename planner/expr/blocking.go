package expr

// LockWaits is what a Session may offer beside: who waits for whom.
type LockWaits interface {
	// BlockingPIDs are the sessions for which the session with that number waits.
	BlockingPIDs(pid int32) []int32
	// SafeSnapshotBlockers are those for which it waits to get a safe snapshot.
	SafeSnapshotBlockers(pid int32) []int32
}
