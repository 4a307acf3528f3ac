package mvcc

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Own returns the lock that the transaction which started at startTS has on a key, and its value
// when it is a put: what a transaction reads back of the writes that it has prewritten already. The
// lock's slices and the value are valid until the view's next call.
func (v *View) Own(ctx context.Context, key []byte, startTS tso.Timestamp) (l Lock, value []byte,
	found bool, err error) {
	v.rowBuf = AppendRow(v.rowBuf[:0], key)
	v.key = appendLockKey(v.key[:0], v.rowBuf)
	raw, err := v.r.Get(ctx, v.key)
	if err != nil || raw == nil {
		return Lock{}, nil, false, err
	}
	// A copy: what Get returned ends with the next one, which reads a value that is not inlined.
	v.ownLock = append(v.ownLock[:0], raw...)
	if l, err = decodeLock(v.ownLock); err != nil || l.StartTS != startTS {
		return Lock{}, nil, false, err
	}
	value, err = v.lockValue(ctx, v.rowBuf, &l)
	return l, value, err == nil, err
}

// OwnScanner walks the keys of a span on which one transaction has locks. Key and Value are valid
// until the second Next from now on.
type OwnScanner struct {
	v       *View
	ctx     context.Context // of the scan as a whole
	locks   kv.Iterator
	startTS tso.Timestamp
	reverse bool
	started bool

	Key, Value []byte
	Lock       Lock // its slices are valid until the next Next
	err        error
	passed     looks
	done       []byte // the row of the last lock that was dealt with

	room [2]struct{ key, value []byte } // of this key and the one before, in turns
}

// ScanOwn opens a scanner over the locks of the transaction that started at startTS.
func (v *View) ScanOwn(ctx context.Context, span kv.Span, startTS tso.Timestamp,
	reverse bool) (*OwnScanner, error) {
	locks, err := v.r.NewIter(ctx, familySpan(familyLock, span))
	if err != nil {
		return nil, err
	}
	return &OwnScanner{v: v, ctx: ctx, locks: locks, startTS: startTS, reverse: reverse}, nil
}

// Passed returns the last key that the scan has dealt with, shown or not; nil when there is none.
func (s *OwnScanner) Passed() (key []byte, err error) {
	if s.done == nil {
		return nil, nil
	}
	return UserKey(s.done, nil)
}

// Next moves to the next key and reports whether there is one.
func (s *OwnScanner) Next() bool {
	for s.err == nil && s.step() {
		if s.err = s.passed.pass(s.ctx); s.err != nil {
			return false
		}
		raw, err := s.locks.Value()
		if err != nil {
			s.err = err
			return false
		}
		l, err := decodeLock(raw)
		if err != nil {
			s.err = err
			return false
		}
		if l.StartTS != s.startTS {
			continue
		}
		s.err = s.land(&l)
		return s.err == nil
	}
	s.err = errors.Join(s.err, s.locks.Err())
	return false
}

func (s *OwnScanner) step() bool {
	if s.locks.Valid() {
		s.done = append(s.done[:0], s.locks.Key()[1:]...)
	}
	switch {
	case !s.started && s.reverse:
		s.started = true
		return s.locks.Last()
	case !s.started:
		s.started = true
		return s.locks.First()
	case s.reverse:
		return s.locks.Prev()
	}
	return s.locks.Next()
}

func (s *OwnScanner) land(l *Lock) error {
	row := s.locks.Key()[1:]
	s.room[0], s.room[1] = s.room[1], s.room[0]
	room := &s.room[0]
	key, err := UserKey(row, room.key)
	if err != nil {
		return err
	}
	room.key = append(room.key[:0], key...)
	s.Key, s.Lock, s.Value = room.key, *l, nil
	value, err := s.v.lockValue(s.ctx, row, l)
	if err == nil && l.Kind == KindPut {
		if room.value = append(room.value[:0], value...); room.value == nil {
			room.value = []byte{} // an empty value is none that is missing
		}
		s.Value = room.value
	}
	return err
}

// Err returns what ended the walk early.
func (s *OwnScanner) Err() error { return s.err }

// Close releases the scanner.
func (s *OwnScanner) Close() error { return s.locks.Close() }
