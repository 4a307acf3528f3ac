package mvcc

import (
	"bytes"
	"context"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// step is what the steps of the protocol share while one Update runs: the reader, the batch, one
// iterator over write records and buffers for keys and values. Every step opens one and closes it.
type step struct {
	r      kv.Reader
	b      *kv.Batch
	writes kv.Iterator
	absent gap         // of writes
	locks  kv.Iterator // of walkLocks
	// rowLocks is of scanRowLocks
	rowLocks kv.Iterator
	notes    kv.Iterator // of notifications
	passed   looks       // rows, and records of one
	key      []byte
	val      []byte
}

// steps keeps the buffers of steps that are over.
var steps = sync.Pool{New: func() any { return new(step) }}

func newStep(r kv.Reader, b *kv.Batch) *step {
	s := steps.Get().(*step)
	s.r, s.b = r, b
	return s
}

// close releases the iterator, keeps the first error, and ends the step's life.
func (s *step) close(err *error) {
	for _, it := range []kv.Iterator{s.writes, s.locks, s.rowLocks, s.notes} {
		if it == nil {
			continue
		}
		if closeErr := it.Close(); *err == nil {
			*err = closeErr
		}
	}
	s.end()
}

// end is close of a step that has read no records.
func (s *step) end() {
	s.r, s.b, s.writes, s.locks, s.rowLocks, s.notes = nil, nil, nil, nil, nil, nil
	s.absent.reset()
	if cap(s.key) <= keptBuffer && cap(s.val) <= keptBuffer {
		steps.Put(s)
	}
}

// keptBuffer bounds the memory that a step leaves to the next.
const keptBuffer = 16 << 10

// lock returns the lock of a row. Its slices are valid until the next read.
func (s *step) lock(ctx context.Context, row []byte) (l Lock, found bool, err error) {
	s.key = appendLockKey(s.key[:0], row)
	var value []byte
	if s.locks != nil {
		value, err = s.walkTo()
	} else {
		value, err = s.r.Get(ctx, s.key)
	}
	if err != nil || value == nil {
		return Lock{}, false, err
	}
	l, err = decodeLock(value)
	return l, err == nil, err
}

// history calls visit with the write records of a row, newest first, from the one at or below the
// timestamp, until visit returns false. What visit gets is valid during the call.
func (s *step) history(
	ctx context.Context, row []byte, from tso.Timestamp, visit func(commitTS tso.Timestamp,
		w Write) bool,
) error {
	if s.writes == nil {
		it, err := s.r.NewIter(ctx, kv.Span{})
		if err != nil {
			return err
		}
		s.writes = it
	}
	s.key = appendWriteKey(s.key[:0], row, from)
	n := len(s.key) - tsLen
	for ok := s.absent.seek(s.writes, s.key, n); ok; ok = s.writes.Next() {
		if err := s.passed.pass(ctx); err != nil {
			return err
		}
		prefix, commitTS, err := splitVersion(s.writes.Key())
		if err != nil {
			return err
		}
		if !bytes.Equal(prefix, s.key[:n]) {
			break
		}
		value, err := s.writes.Value()
		if err != nil {
			return err
		}
		w, err := decodeWrite(value)
		if err != nil {
			return err
		}
		if !visit(commitTS, w) {
			return nil
		}
	}
	return s.writes.Err()
}

// recorded is what the write records of a row say about one transaction.
type recorded struct {
	known    bool
	commitTS tso.Timestamp // zero when it was rolled back
}

// recordOf looks for the record of the transaction that started at startTS. It lies at its
// commit_ts, or at startTS itself when the transaction was rolled back; in neither case below
// startTS.
func (s *step) recordOf(ctx context.Context, row []byte, startTS tso.Timestamp) (f recorded,
	err error) {
	err = s.history(ctx, row, tso.Max, func(commitTS tso.Timestamp, w Write) bool {
		if w.StartTS == startTS {
			f.known = true
			if w.Kind != KindRollback {
				f.commitTS = commitTS
			}
			return false
		}
		return commitTS > startTS
	})
	return f, err
}

func (s *step) setLock(row []byte, l *Lock) {
	s.key = appendLockKey(s.key[:0], row)
	s.val = l.appendTo(s.val[:0])
	s.b.Set(s.key, s.val)
}

func (s *step) dropLock(row []byte) {
	s.key = appendLockKey(s.key[:0], row)
	s.b.Delete(s.key)
}

func (s *step) setWrite(row []byte, commitTS tso.Timestamp, w *Write) {
	s.key = appendWriteKey(s.key[:0], row, commitTS)
	s.val = w.appendTo(s.val[:0])
	s.b.Set(s.key, s.val)
}

func (s *step) dropWrite(row []byte, commitTS tso.Timestamp) {
	s.key = appendWriteKey(s.key[:0], row, commitTS)
	s.b.Delete(s.key)
}

func (s *step) setData(row []byte, startTS tso.Timestamp, value []byte) {
	s.key = appendDataKey(s.key[:0], row, startTS)
	s.b.Set(s.key, value)
}

func (s *step) dropData(row []byte, startTS tso.Timestamp) {
	s.key = appendDataKey(s.key[:0], row, startTS)
	s.b.Delete(s.key)
}
