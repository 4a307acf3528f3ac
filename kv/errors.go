package kv

import "errors"

var (
	// ErrClosed is returned by every call on a closed engine.
	ErrClosed = errors.New("kv: engine is closed")

	// ErrCorruption marks data that the engine cannot trust. It is never retried.
	ErrCorruption = errors.New("kv: corrupted data")

	// ErrNotApplied marks an Update that certainly wrote nothing.
	ErrNotApplied = errors.New("kv: update was not applied")

	// ErrInUse is returned by Open for a store that is open already, here or in another process.
	ErrInUse = errors.New("kv: store is in use")

	// ErrFailed is returned by every call on an engine that could not write its log: what its
	// memory shows and what the disk holds may differ from then on. An Update that was under way
	// has an unknown result. Only opening the store again helps, which keeps all that was
	// acknowledged.
	ErrFailed = errors.New("kv: store has failed")

	// ErrDiskFull is returned by Roomy.Room when there is too little space left for new data.
	ErrDiskFull = errors.New("kv: the disk is nearly full")

	// ErrTooLarge is returned by an Update beyond the engine's Limits.
	ErrTooLarge = errors.New("kv: update is too large")

	// ErrContended is returned by a step that gives up: other updates write its rows faster than
	// it comes to an end. Fewer rows are written less often (InParts).
	ErrContended = errors.New("kv: rows of the update are written all the time")

	// ErrSnapshotGone is returned by a Snapshot that the engine has given up. Another one shows
	// what is there now.
	ErrSnapshotGone = errors.New("kv: snapshot is gone")

	// ErrUnavailable is returned by a store that others operate when it has not answered for some
	// time. An Update that had been sent may be applied all the same.
	ErrUnavailable = errors.New("kv: the store does not answer")

	// ErrForeignRow is returned by an Update whose batch holds a key of a row that was not named.
	ErrForeignRow = errors.New("kv: batch holds a key of a row that the update did not name")

	// ErrGroups is returned by an Update that names rows of more than one group.
	ErrGroups = errors.New("kv: update names rows of several groups")
)

// CorruptionError is ErrCorruption with what is known of the place.
type CorruptionError struct {
	File  string // its name in the store's directory
	What  string // what is wrong with it
	Bound Span   // where its keys lie; zero when nothing is known
}

func (e *CorruptionError) Error() string {
	return ErrCorruption.Error() + ": " + e.File + ": " + e.What
}

func (e *CorruptionError) Unwrap() error { return ErrCorruption }

// notApplied marks err as the error of an update that wrote nothing; err stays visible to
// errors.Is and errors.As.
type notApplied struct{ err error }

// NotApplied marks err: the update wrote nothing.
func NotApplied(err error) error {
	if err == nil || errors.Is(err, ErrNotApplied) {
		return err
	}
	return &notApplied{err}
}

func (e *notApplied) Error() string { return e.err.Error() }

func (e *notApplied) Unwrap() []error { return []error{e.err, ErrNotApplied} }
