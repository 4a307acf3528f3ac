package txn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/bulk"
	"github.com/minidb/minidb/txn/mvcc"
)

// A load brings many keys into a span that no other transaction knows of yet: what leads to it is
// written by the same transaction. Its keys are sorted in memory and go into the engine as files,
// before the transaction commits and without locks (txn: I29):
//
//   - They have write records at the transaction's start_ts. Another transaction learns of the span
//     from what was committed at commit_ts, which is above it.
//   - Before the first file an entry in the list of loads is committed, and the transaction deletes
//     it. While the entry is there no transaction knows of the span: whatever ends the loading one
//     otherwise, or a return to a savepoint, deletes the span and then the entry. What a crash
//     leaves of both the next Open takes away, before any transaction begins (load_list.go).
//   - Once the files are there, every slot of recent commits is raised above all timestamps so far,
//     as if each key had been committed: no snapshot from before, and no row in memory, is believed
//     by a transaction that can know of the span. When they are deleted, likewise.
//
// Where the engine cannot, or other processes read it, or the span is not empty, the keys are
// written one by one, in batches in their order.

// Load collects the keys of a span that this transaction alone knows of. It belongs to the
// transaction's goroutine.
type Load struct {
	t      *Txn
	span   kv.Span
	sorter bulk.Sorter
	files  bool // keys may come in as files
	some   bool // some keys were written before those in the sorter
	differ bool // no key comes twice
	held   counted
	cells  mvcc.Loaded
}

// DuplicateKeyError is returned by Load when a key was added twice.
type DuplicateKeyError struct {
	Key, Value []byte
	// Row is the lowest number of a row that has a key of an earlier one (SetRow).
	Row uint32
}

func (e *DuplicateKeyError) Error() string { return fmt.Sprintf("key %x was added twice", e.Key) }

// loaded is a span that the transaction has loaded.
type loaded struct {
	span  kv.Span
	entry []byte // its key in the list of loads
	seq   uint64 // of the write that deletes the entry
	gone  bool   // the span is empty again; the entry is there still
}

const (
	// loadBytes is how much a load must hold to be worth files of its own.
	loadBytes = 1 << 20
	// loadRunBytes is how much is sorted at a time.
	loadRunBytes = 64 << 20
	// loadBatchBytes is how much is sorted at a time to be written key by key.
	loadBatchBytes = 8 << 20
)

// MakeSpan notes that the transaction alone knows of a span, until it commits.
func (t *Txn) MakeSpan(span kv.Span) { t.made = append(t.made, span) }

// HasMade reports whether there is such a span.
func (t *Txn) HasMade() bool { return len(t.made) > 0 }

// Loads reports whether a span is the transaction's own (MakeSpan) and its keys may come in as
// files.
func (t *Txn) Loads(ctx context.Context, span kv.Span) (bool, error) {
	made := func(s kv.Span) bool {
		return bytes.Equal(s.Start, span.Start) && bytes.Equal(s.End, span.End)
	}
	if !slices.ContainsFunc(t.made, made) {
		return false, nil
	}
	return t.loadable(ctx, span)
}

// loadable reports whether the engine can take keys in as files, and nothing is in a span yet.
func (t *Txn) loadable(ctx context.Context, span kv.Span) (bool, error) {
	if !t.s.alone || t.aside(span.Start) || kv.IngesterOf(t.s.engine) == nil ||
		t.buf.Cursor(span, false, true) != nil {
		return false, nil
	}
	snap, err := t.s.engine.Snapshot()
	if err != nil {
		return false, err
	}
	occupied, err := mvcc.Occupied(ctx, snap, span)
	return len(occupied) == 0, errors.Join(err, snap.Close())
}

// NewLoad begins to fill a span. Requires: no transaction that reads at or below this one's
// commit_ts knows of it, and until Finish this one neither reads nor writes in it otherwise.
func (t *Txn) NewLoad(ctx context.Context, span kv.Span) (*Load, error) {
	if err := t.writable(); err != nil {
		return nil, err
	}
	l := &Load{t: t, span: span, held: counted{account: t.counted.account}}
	l.sorter.Workers = runtime.GOMAXPROCS(0)
	for l.sorter.Skip < min(len(span.Start), len(span.End)) &&
		span.Start[l.sorter.Skip] == span.End[l.sorter.Skip] {
		l.sorter.Skip++
	}
	var err error
	l.files, err = t.loadable(ctx, span)
	return l, err
}

// KeysDiffer promises that no key comes twice, so that a run need not be compared with those
// before.
func (l *Load) KeysDiffer() { l.differ = true }

// SetRow numbers the row to which the keys belong that are added from now on.
func (l *Load) SetRow(n uint32) { l.sorter.Row = n }

// Add adds a copy of a key and its value. The errors are those of writes, and *DuplicateKeyError.
func (l *Load) Add(ctx context.Context, key, value []byte) error {
	l.sorter.Add(key, value)
	held := l.sorter.Held()
	room, err := l.held.writes(held, false)
	switch {
	case err != nil:
		return err
	case l.files && (held >= l.runBytes() || !room && held >= l.leastBytes()):
		return l.ingest(ctx)
	case !l.files && (held >= loadBatchBytes || !room):
		return l.write(ctx)
	}
	return nil
}

func (l *Load) runBytes() int64 { return min(loadRunBytes, int64(l.t.s.opts.StreamBytes)) }

// leastBytes is what files are worth.
func (l *Load) leastBytes() int64 { return min(loadBytes, l.runBytes()/64) }

// Finish writes what was added. The errors are those of Add.
func (l *Load) Finish(ctx context.Context) error {
	defer l.held.none()
	if l.files && l.sorter.Held() >= l.leastBytes() {
		return l.ingest(ctx)
	}
	return l.write(ctx)
}

// Abandon forgets what was added and is not written yet. The rest goes with the transaction, or
// with a return to a savepoint from before the load.
func (l *Load) Abandon() {
	l.sorter.Reset()
	l.held.none()
}

// refuseTwice refuses keys that come twice.
func (l *Load) refuseTwice(ctx context.Context, parts []*bulk.Part) error {
	var found *DuplicateKeyError
	for _, p := range parts {
		var last []byte
		rows := [2]uint32{} // the two lowest of those that have the key
		err := p.Each(ctx, func(row uint32, key, value []byte) error {
			if last == nil || !bytes.Equal(key, last) {
				last, rows = key, [2]uint32{row, math.MaxUint32}
				return nil
			}
			rows = [2]uint32{min(rows[0], row), min(max(rows[0], row), rows[1])}
			if found == nil || rows[1] < found.Row {
				found = &DuplicateKeyError{Key: key, Value: value, Row: rows[1]}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if found != nil {
		return found
	}
	return nil
}

// write sets the keys in the transaction's buffer, in their order.
func (l *Load) write(ctx context.Context) error {
	parts := l.sorter.Parts() // few enough to look at twice
	if err := l.refuseTwice(ctx, parts); err != nil {
		return err
	}
	for _, p := range parts {
		err := p.Each(ctx, func(row uint32, key, value []byte) error {
			if l.some && !l.differ {
				if have, err := l.t.GetCurrent(ctx, key); err != nil || have != nil {
					return cmp.Or[error](err,
						&DuplicateKeyError{Key: key, Value: value, Row: row})
				}
			}
			return l.t.Set(key, value)
		})
		if err != nil {
			return err
		}
	}
	l.emptied()
	return nil
}

// emptied makes room for more.
func (l *Load) emptied() {
	l.some = l.some || l.sorter.Len() > 0
	l.sorter.Reset()
	l.held.none()
}

// ingest brings the keys into the engine.
func (l *Load) ingest(ctx context.Context) error {
	t := l.t
	parts := l.sorter.Parts()
	if len(parts) == 0 {
		return nil
	}
	if err := l.notThere(ctx, parts); err != nil {
		return err
	}
	if err := t.s.Room(t.frees); err != nil {
		return kv.NotApplied(err)
	}
	if !l.some {
		if err := t.list(ctx, l.span); err != nil {
			return err
		}
		ts, err := t.s.source.Next(ctx)
		if err != nil {
			return err
		}
		l.cells = mvcc.Loaded{StartTS: t.reg.startTS, DataTS: ts}
	}
	err := t.s.ingest(ctx, l.sources(ctx, parts))
	if errors.Is(err, errTwice) {
		return l.refuseTwice(ctx, parts)
	}
	if err != nil {
		return err
	}
	t.dropSnapshot()
	l.emptied()
	return nil
}

func (s *Store) ingest(ctx context.Context, sources []kv.Source) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	if err := kv.IngesterOf(s.engine).Ingest(ctx, sources); err != nil {
		return err
	}
	return s.forgetPast(ctx)
}

// errTwice is the error of a source in which a key comes twice.
var errTwice = errors.New("a key was loaded twice")

// sources are the write records and the long values of each part.
func (l *Load) sources(ctx context.Context, parts []*bulk.Part) (all []kv.Source) {
	for _, p := range parts {
		all = append(all, func(put func(key, value []byte) error) error {
			cells := l.cells
			var last []byte
			return p.Each(ctx, func(_ uint32, key, value []byte) error {
				if last != nil && bytes.Equal(key, last) {
					return errTwice
				}
				last = key
				return cells.Write(put, key, value)
			})
		}, func(put func(key, value []byte) error) error {
			cells := l.cells
			return p.Each(ctx, func(_ uint32, key, value []byte) error {
				return cells.Data(put, key, value)
			})
		})
	}
	return all
}

// notThere refuses keys that an earlier run of the load has brought in.
func (l *Load) notThere(ctx context.Context, parts []*bulk.Part) (err error) {
	if !l.some || l.differ {
		return nil
	}
	it, err := l.t.Scan(ctx, l.span, ScanOptions{Unserialized: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	more := it.Next()
	var found *DuplicateKeyError
	for _, p := range parts {
		err := p.Each(ctx, func(row uint32, key, value []byte) error {
			for more && bytes.Compare(it.Key(), key) < 0 {
				more = it.Next()
			}
			if more && bytes.Equal(it.Key(), key) && (found == nil || row < found.Row) {
				found = &DuplicateKeyError{Key: key, Value: value, Row: row}
			}
			return it.Err()
		})
		if err != nil {
			return err
		}
	}
	if found != nil && it.Err() == nil {
		return found
	}
	return it.Err()
}
