package mvcc

import "bytes"

// passLocks looks at every lock up to the row in s.prefix, or to the end of the span when the scan
// has no row left. A lock on a key without any write record is met here too: it may be the insert
// of a transaction that has committed. If one is known to have, landed says that its lock gave the
// next key, which may come before the row found; what the row has is hidden by a lock of its own.
func (s *Scanner) passLocks() (landed bool, err error) {
	for s.locks.Valid() {
		row := s.locks.Key()[1:]
		order := -1 // of the lock's row to the one found, in the direction of the scan
		if s.found {
			order = bytes.Compare(row, s.prefix[1:])
			if s.reverse {
				order = -order
			}
		}
		if order > 0 {
			return false, nil
		}
		if err := s.looks.pass(s.ctx); err != nil {
			return false, err
		}
		value, err := s.locks.Value()
		if err != nil {
			return false, err
		}
		l, err := decodeLock(value)
		if err != nil {
			return false, err
		}
		if l.StartTS == s.p.Own {
			s.stepLock(false)
			continue
		}
		key, err := UserKey(row, s.lockKey)
		if err != nil {
			return false, err
		}
		shown, err := s.p.passes(key, &l)
		if err != nil {
			return false, err
		}
		hidden := shown && order == 0 && s.found
		if hidden {
			s.found = false
		}
		if landed = shown && l.Kind == KindPut; landed {
			if err := s.landOn(row, key, &l); err != nil {
				return false, err
			}
		}
		s.stepLock(false)
		if landed || hidden {
			return landed, s.locks.Err()
		}
	}
	return false, s.locks.Err()
}

// landOn sets key and value to what a lock stands for.
func (s *Scanner) landOn(row, key []byte, l *Lock) error {
	s.lockKey = append(s.lockKey[:0], key...)
	s.key, s.value = s.lockKey, nil
	if s.keys {
		return nil
	}
	value, err := s.v.lockValue(s.ctx, row, l)
	if s.lockVal == nil {
		s.lockVal = make([]byte, 0, 64) // never nil, so that an empty value is not nil either
	}
	s.lockVal = append(s.lockVal[:0], value...)
	s.value = s.lockVal
	return err
}

func (s *Scanner) stepLock(first bool) {
	switch {
	case first && s.reverse:
		s.locks.Last()
	case first:
		s.locks.First()
	case s.reverse:
		s.locks.Prev()
	default:
		s.locks.Next()
	}
	switch {
	case s.locks.Valid():
		s.lockRow = append(s.lockRow[:0], s.locks.Key()[1:]...)
	case s.locks.Err() == nil:
		s.lockEnd = true
	}
}

// Resume returns the key at which the scan goes on in another snapshot when it has failed because
// its own is gone: all keys before it were passed, and the key itself was, if it was the last one
// that was shown. It is nil where the scan began. Without it a scan that passes more invisible rows
// than it may read of one snapshot would never end.
func (s *Scanner) Resume() (key []byte, err error) {
	var row []byte
	if len(s.prefix) > 0 && !s.drained {
		row = s.prefix[1:]
	}
	if s.locks != nil && !s.lockEnd {
		if s.lockRow == nil {
			return nil, nil
		}
		order := bytes.Compare(s.lockRow, row)
		if row == nil && s.drained || row != nil && (order < 0) != s.reverse {
			row = s.lockRow
		}
	}
	if row == nil {
		return nil, nil
	}
	return UserKey(row, nil)
}
