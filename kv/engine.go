package kv

import "context"

// Engine is an ordered map with atomic updates of named rows. All methods may be called from any
// number of goroutines.
type Engine interface {
	// Snapshot returns a reader of the state of one moment between the call and its first Get or
	// NewIter. The caller closes it; until then an engine that is Exclusive keeps what it shows, so
	// it should not outlive a statement. Another engine may give it up at any time, in the first
	// read too: Get, NewIter and every move of an iterator then fail with ErrSnapshotGone.
	Snapshot() (Snapshot, error)

	// Update runs step over the present state of the rows and applies the batch that it filled,
	// atomically and durably. Requires: rows are the rows (see Row) of every key in the batch, all
	// in one group; an order is not required, duplicates are allowed. The Reader and the Batch are
	// step's own and end with it; the batch's own writes are not seen by the reader. Reads of rows
	// that are not named are allowed and promise no more than a snapshot does.
	//
	// Cancelling ctx is honoured until the batch is handed over; the error is then ErrNotApplied.
	Update(ctx context.Context, rows [][]byte, step Step) error

	// Close releases the engine. Snapshots and iterators must be closed before. Afterwards every
	// call returns ErrClosed.
	Close() error
}

// Step is the function of an Update: it reads, decides and fills the batch. It may run more than
// once, and beside other steps that name the same rows: then all but one of them run again. What
// the last run returns counts, and that run is shown one state of the named rows, which was theirs
// between the call of Update and its return. An earlier run may be shown rows as they were before,
// each at a moment of its own.
type Step func(r Reader, b *Batch) error

// Reader reads one state of the map.
type Reader interface {
	// Get returns the value of key, or nil when there is none. An empty value is not nil. The value
	// is valid until the next call on the same Reader, or until it is closed.
	Get(ctx context.Context, key []byte) ([]byte, error)

	// NewIter returns an unpositioned iterator over the span. The caller closes it before the
	// Reader.
	NewIter(ctx context.Context, span Span) (Iterator, error)
}

// Snapshot is a Reader that the caller closes. It belongs to one goroutine at a time.
type Snapshot interface {
	Reader
	Close() error
}

// Foreteller is a Reader that reads together what it knows to be read soon: one on a network.
type Foreteller interface {
	// Foretell says that cells of the rows will be read soon. It changes nothing of what is read.
	// The rows of an earlier call are forgotten.
	Foretell(ctx context.Context, rows [][]byte) error
}

// Versioned is a Reader that can pass over versions without reading them: keys of which the suffix,
// behind the prefix (see Prefix), has eight bytes.
type Versioned interface {
	// NewVersionIter is NewIter, but may leave out keys with a suffix of eight bytes that is, as a
	// number with the high byte first, below low or above high.
	NewVersionIter(ctx context.Context, span Span, low, high uint64) (Iterator, error)
}

// NewVersionIter is that of Versioned where the reader is one, and NewIter elsewhere.
func NewVersionIter(ctx context.Context, r Reader, span Span, low, high uint64) (Iterator, error) {
	if v, ok := r.(Versioned); ok {
		return v.NewVersionIter(ctx, span, low, high)
	}
	return r.NewIter(ctx, span)
}

// Iterator is a cursor over keys in order. It belongs to one goroutine at a time. Each positioning
// method reports whether the iterator is on a key; if not, Err returns nil at the end, and the
// error after a failure. Key and Value are valid until the iterator moves.
type Iterator interface {
	// SeekGE moves to the first key ≥ key.
	SeekGE(key []byte) bool
	// SeekPrefixGE moves to the first key ≥ key that has the same prefix (see Prefix). Next then
	// stays within the prefix. An engine may find from a filter, without reading data, that there
	// is none. Only Next, and another seek, may follow.
	SeekPrefixGE(key []byte) bool
	// SeekLT moves to the last key < key.
	SeekLT(key []byte) bool
	First() bool
	Last() bool
	Next() bool
	Prev() bool
	// NextPrefix moves to the first key of the next prefix. Requires: Valid, and not in a
	// SeekPrefixGE.
	NextPrefix() bool

	Valid() bool
	Key() []byte
	Value() ([]byte, error)
	Err() error
	Close() error
}

// Grouped is an engine whose rows are cut into groups. One Update names rows of one group.
type Grouped interface {
	// Group returns the group of a row. It is stable while the engine is open.
	Group(row []byte) uint64
}

// Lazy is an engine that can apply an update now and make it durable with the next durable one.
type Lazy interface {
	// UpdateLazy is Update, except that the batch is durable only once a later Update (or Close)
	// has returned. It is visible at once.
	UpdateLazy(ctx context.Context, rows [][]byte, step Step) error
}

// Early is an engine that shows an update before it is durable, and calls back at that moment.
type Early interface {
	// UpdateEarly is Update, and calls visible, in the caller's goroutine and without a latch, once
	// the batch is applied: every snapshot taken and every step run from then on shows it, and
	// every durable update that begins from then on makes it durable too, or fails. It is not
	// called for a step that fails or writes nothing.
	UpdateEarly(ctx context.Context, rows [][]byte, step Step, visible func()) error
}

// Shower is an engine at a distance, whose answer to an update can show more than the result.
type Shower interface {
	// UpdateShown is Update, and returns a snapshot of the state that it has made, which the caller
	// closes; nil when there is none: the batch was empty.
	UpdateShown(ctx context.Context, rows [][]byte, step Step) (Snapshot, error)
}

// RangeCompacter is an engine that keeps marks of what was deleted until it rewrites its files.
type RangeCompacter interface {
	// CompactRange rewrites what the engine keeps of a span, without what was deleted there, and
	// waits for it. It changes nothing that a reader sees, but for how long it takes to see it.
	CompactRange(ctx context.Context, span Span) error
}

// Exclusive is an engine of which this process is the only writer while it is open.
type Exclusive interface {
	Exclusive() bool
}

// SyncCounter counts the syncs that reached the disk (or would have, for an engine in memory).
type SyncCounter interface {
	Syncs() uint64
}

// Roomy is an engine that knows how much space it has left. It accepts every update all the same:
// rolling back, settling locks and collecting garbage must go on. A caller that writes new data
// calls Room first.
type Roomy interface {
	// Room returns nil when there is room for new data, and otherwise an error for which
	// errors.Is(err, ErrDiskFull) holds. frees asks for something that makes room in the end, as
	// deleting does, which may use what the engine keeps back for it.
	Room(frees bool) error
}

// Failing is an engine that can end while it is open.
type Failing interface {
	// Failure returns the error that ended the engine, for which errors.Is(err, ErrFailed) holds;
	// nil while it works. What readers of a failed engine were shown last may not be on disk.
	Failure() error
}

// UpdateLazy applies step lazily where the engine can, and durably where it cannot.
func UpdateLazy(ctx context.Context, e Engine, rows [][]byte, step Step) error {
	if l, ok := e.(Lazy); ok {
		return l.UpdateLazy(ctx, rows, step)
	}
	return e.Update(ctx, rows, step)
}

// UpdateEarly is Update, and calls visible before the batch is durable where the engine can.
func UpdateEarly(ctx context.Context, e Engine, rows [][]byte, step Step, visible func()) error {
	if x, ok := e.(Early); ok {
		return x.UpdateEarly(ctx, rows, step, visible)
	}
	return e.Update(ctx, rows, step)
}

// CompactRange has an engine that keeps marks of what was deleted rewrite a span.
func CompactRange(ctx context.Context, e Engine, span Span) error {
	if c, ok := e.(RangeCompacter); ok && !span.Empty() {
		return c.CompactRange(ctx, span)
	}
	return nil
}

// GroupOf returns the group of a row: zero when the engine has no groups.
func GroupOf(e Engine, row []byte) uint64 {
	if g, ok := e.(Grouped); ok {
		return g.Group(row)
	}
	return 0
}

// RoomOf returns what e's Room returns, and nil for an engine that is not Roomy.
func RoomOf(e Engine, frees bool) error {
	if r, ok := e.(Roomy); ok {
		return r.Room(frees)
	}
	return nil
}

// FailureOf returns what ended e, and nil for an engine that works or is not Failing.
func FailureOf(e Engine) error {
	if f, ok := e.(Failing); ok {
		return f.Failure()
	}
	return nil
}

// IsExclusive reports whether this process alone writes to e.
func IsExclusive(e Engine) bool {
	x, ok := e.(Exclusive)
	return ok && x.Exclusive()
}
