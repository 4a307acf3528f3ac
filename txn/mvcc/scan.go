package mvcc

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// versionsBeforeSeek is how many versions above the reader's timestamp are stepped over before a
// seek is cheaper.
const versionsBeforeSeek = 3

// Scanner walks the live keys of a span at one timestamp, in either direction. It reads the write
// column with one iterator, the lock column with another when anything may be locked, and the data
// column only for values that are not inlined. Key and Value are valid until the next call. It
// allocates nothing per key.
//
// Next fails with *LockedError before it would pass over a key whose lock blocks the reader, so
// nothing that it returned before depends on that lock; the caller settles the lock and opens a new
// scanner after the last key it got. Of a transaction whose status is known (ReadParams.Decided)
// the locks are read in place of the records that they will become.
type Scanner struct {
	v       *View
	ctx     context.Context // of the scan as a whole: a scanner lives inside one call of its owner
	p       ReadParams
	reverse bool
	keys    bool
	remote  bool

	writes kv.Iterator
	locks  kv.Iterator // nil when nothing can be locked
	data   dataWalk    // open behind the first value that is not inlined, if remote
	long   bool        // there was such a value

	looks   looks
	started bool
	found   bool   // the row in prefix has a visible put that was not returned yet
	drained bool   // no row is left
	from    []byte // where to begin; nil: where writes does
	until   []byte // the first raw key of no interest; nil: none before the end of writes
	prefix  []byte // family and row of the current key
	keyBuf  []byte
	valBuf  []byte
	key     []byte
	value   []byte
	rec     Write
	err     error

	lockKey, lockVal []byte // of the key that a lock showed
	lockRow          []byte // where locks is, or was before it failed
	lockEnd          bool   // no lock is left

	// room is the first memory of prefix and keyBuf.
	room [2][48]byte
}

// ScanParams choose what Scan returns.
type ScanParams struct {
	ReadParams
	Reverse  bool
	KeysOnly bool // values stay nil, and values that are not inlined are not read
	// Remote says that each read of the engine is a request on a network. Then a scan that goes
	// forward reads values that are not inlined together with those behind them.
	Remote bool
}

// Scan opens a scanner over a span of user keys.
func (v *View) Scan(ctx context.Context, span kv.Span, p ScanParams) (*Scanner, error) {
	s := &Scanner{v: v, ctx: ctx, p: p.ReadParams, reverse: p.Reverse, keys: p.KeysOnly,
		remote: p.Remote && !p.Reverse}
	s.prefix, s.keyBuf = s.room[0][:0], s.room[1][:0]
	if p.Reverse {
		s.valBuf = make([]byte, 0, 64) // never nil, so that an empty value is not nil either
	}
	if !p.NoLocks {
		locks, err := v.r.NewIter(ctx, familySpan(familyLock, span))
		if err != nil {
			return nil, err
		}
		s.locks = locks
		s.stepLock(true)
	}
	writes, err := v.r.NewIter(ctx, familySpan(familyWrite, span))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.writes = writes
	return s, nil
}

// Key returns the user key.
func (s *Scanner) Key() []byte { return s.key }

// Value returns the value, nil in a scan of keys only.
func (s *Scanner) Value() []byte { return s.value }

// Err returns what ended the scan early.
func (s *Scanner) Err() error { return s.err }

// Close releases the iterators.
func (s *Scanner) Close() error {
	var err error
	if s.writes != nil {
		err = s.writes.Close()
		s.writes = nil
	}
	if s.locks != nil {
		err = errors.Join(err, s.locks.Close())
		s.locks = nil
	}
	return errors.Join(err, s.data.close())
}

// Seek puts the scanner in front of a part of its span: Next gives the keys of the part. Requires:
// the scanner goes forward and meets no locks.
func (s *Scanner) Seek(part kv.Span) {
	s.started, s.found, s.drained, s.remote = false, false, false, false
	s.from = appendFamilyStart(s.from[:0], familyWrite, part.Start)
	s.until = appendFamilyEnd(s.until[:0], familyWrite, part.End)
}

// Next moves to the next live key and reports whether there is one.
func (s *Scanner) Next() bool {
	if s.err != nil || s.writes == nil {
		return false
	}
	landed, err := s.next()
	s.err = err
	return landed && err == nil
}

func (s *Scanner) next() (landed bool, err error) {
	for {
		if !s.found && !s.drained {
			if s.reverse {
				s.found, err = s.backward()
			} else {
				s.found, err = s.forward()
			}
			s.drained = !s.found && err == nil
		}
		if err == nil && s.locks != nil {
			landed, err = s.passLocks()
		}
		if landed || err != nil {
			return landed, err
		}
		if s.found {
			s.found = false
			return true, s.land()
		}
		if s.drained {
			return false, nil
		}
	}
}

// land sets key and value of the row in s.prefix, whose visible record is s.rec.
func (s *Scanner) land() (err error) {
	row := s.prefix[1:]
	if s.key, err = UserKey(row, s.keyBuf); err != nil {
		return err
	}
	if len(s.key) > cap(s.keyBuf) {
		s.keyBuf = make([]byte, 0, 2*len(s.key))
	}
	if s.value = nil; s.keys {
		return nil
	}
	if s.rec.HasShort {
		s.value = s.rec.Short
		return nil
	}
	value, err := s.longValue(row)
	// Copied, because the view may serve a point read while the caller still looks at this value.
	s.valBuf = append(s.valBuf[:0], value...)
	s.value = s.valBuf
	return err
}

// longValue returns the value of the row in s.prefix, which is not inlined. The first one is read
// alone, since many scans have no second one.
func (s *Scanner) longValue(row []byte) (value []byte, err error) {
	if !s.remote || !s.long {
		s.long = true
		return s.v.valueOf(s.ctx, row, &s.rec)
	}
	s.v.key = appendDataKey(s.v.key[:0], row, s.rec.StartTS)
	if s.data.it == nil {
		s.data.it, err = s.v.r.NewIter(s.ctx, kv.Span{Start: bytes.Clone(s.v.key),
			End: []byte{familyData + 1}})
		if err != nil {
			return nil, err
		}
	}
	value, found, err := s.data.find(s.v.key)
	if err == nil && !found {
		err = errors.Join(errNoData, kv.ErrCorruption)
	}
	return value, err
}

// forward finds the next row with a visible put. The iterator is left on that record.
func (s *Scanner) forward() (bool, error) {
	ok := false
	switch {
	case s.started:
		ok = s.skipRow()
	case s.from != nil:
		ok = s.writes.SeekGE(s.from)
	default:
		ok = s.writes.First()
	}
	s.started = true
	for ok {
		prefix, ts, err := splitVersion(s.writes.Key())
		if err != nil {
			return false, err
		}
		if s.until != nil && bytes.Compare(prefix, s.until) >= 0 {
			break
		}
		s.prefix = append(s.prefix[:0], prefix...)
		found, more, err := s.newestVisible(ts)
		if err != nil || found {
			return found, err
		}
		ok = more
	}
	return false, s.writes.Err()
}

// newestVisible walks the records of the row in s.prefix, the first of which is at ts. If none
// shows a put, the iterator is left on the next row, when there is more.
func (s *Scanner) newestVisible(ts tso.Timestamp) (found, more bool, err error) {
	for newer := 0; ; newer++ {
		if err := s.looks.pass(s.ctx); err != nil {
			return false, false, err
		}
		switch {
		case ts <= s.p.StartTS:
			value, err := s.writes.Value()
			if err != nil {
				return false, false, err
			}
			if s.rec, err = decodeWrite(value); err != nil {
				return false, false, err
			}
			switch s.rec.Kind {
			case KindPut:
				return true, true, nil
			case KindDelete:
				return false, s.skipRow(), nil
			}
			more = s.writes.Next()
		case newer < versionsBeforeSeek:
			more = s.writes.Next()
		default:
			s.v.key = appendVersion(append(s.v.key[:0], s.prefix...), s.p.StartTS)
			more = s.writes.SeekGE(s.v.key)
		}
		if !more {
			return false, false, nil
		}
		if !s.sameRow() {
			return false, true, nil
		}
		_, ts, err = splitVersion(s.writes.Key())
		if err != nil {
			return false, false, err
		}
	}
}

// sameRow reports whether the iterator is still on the row in s.prefix.
func (s *Scanner) sameRow() bool {
	k := s.writes.Key()
	return len(k) == len(s.prefix)+tsLen && bytes.Equal(k[:len(s.prefix)], s.prefix)
}

// skipRow moves past the versions of the row in s.prefix. Most rows have one: step first, and ask
// the engine to skip only when there are more.
func (s *Scanner) skipRow() bool {
	for range 2 {
		if !s.writes.Next() {
			return false
		}
		if !s.sameRow() {
			return true
		}
	}
	return s.writes.NextPrefix()
}

// backward finds the previous row with a visible put. Versions come oldest first, so the record is
// kept aside until the first one that is too new, or until the row ends. The iterator is left on
// the row before.
func (s *Scanner) backward() (bool, error) {
	if !s.started {
		s.started = true
		s.writes.Last()
	}
	for s.writes.Valid() {
		prefix, _, err := splitVersion(s.writes.Key())
		if err != nil {
			return false, err
		}
		s.prefix = append(s.prefix[:0], prefix...)
		found, err := s.newestFromBelow()
		if err != nil || found {
			return found, err
		}
	}
	return false, s.writes.Err()
}

func (s *Scanner) newestFromBelow() (found bool, err error) {
	for s.writes.Valid() && s.sameRow() {
		if err := s.looks.pass(s.ctx); err != nil {
			return false, err
		}
		_, ts, err := splitVersion(s.writes.Key())
		if err != nil {
			return false, err
		}
		if ts > s.p.StartTS {
			s.writes.SeekLT(s.prefix)
			break
		}
		value, err := s.writes.Value()
		if err != nil {
			return false, err
		}
		w, err := decodeWrite(value)
		if err != nil {
			return false, err
		}
		switch w.Kind {
		case KindPut:
			s.valBuf = append(s.valBuf[:0], w.Short...)
			s.rec, found = w, true
			s.rec.Short = s.valBuf
		case KindDelete:
			found = false
		}
		s.writes.Prev()
	}
	return found, s.writes.Err() // what was found is not the newest if the walk was cut short
}
