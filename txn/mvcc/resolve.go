package mvcc

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Resolve settles the locks of a decided transaction on the rows: rolled forward when commitTS is
// not zero, rolled back otherwise. Rows on which it holds no lock are left alone: they were settled
// by another resolver.
func Resolve(
	ctx context.Context, r kv.Reader, b *kv.Batch, startTS, commitTS tso.Timestamp, rows [][]byte,
) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	if err := s.walkLocks(ctx, rows); err != nil {
		return err
	}
	for _, row := range rows {
		if err := s.passed.pass(ctx); err != nil {
			return err
		}
		l, locked, err := s.lock(ctx, row)
		if err != nil {
			return err
		}
		if !locked || l.StartTS != startTS {
			continue
		}
		if commitTS != 0 {
			if err := s.rollForward(ctx, row, &l, commitTS); err != nil {
				return err
			}
			continue
		}
		if err := s.rollBack(ctx, row, startTS, false); err != nil {
			return err
		}
	}
	return nil
}

// walkRows is how many rows make it worth while to walk over the lock column.
const walkRows = 16

// walkLocks makes lock walk over the lock column instead of looking up each row, if the rows are
// many and in order: then they are neighbours, as a rule, which were all locked by one transaction.
func (s *step) walkLocks(ctx context.Context, rows [][]byte) error {
	if len(rows) < walkRows || !slices.IsSortedFunc(rows, bytes.Compare) {
		return nil
	}
	span := kv.Span{Start: appendLockKey(nil, rows[0]),
		End: append(appendLockKey(nil, rows[len(rows)-1]), 0)}
	it, err := s.r.NewIter(ctx, span)
	if err != nil {
		return err
	}
	s.locks = it
	it.First()
	return nil
}

// stepsBeforeSeek is how many locks of other rows are stepped over before a seek is cheaper.
const stepsBeforeSeek = 4

// walkTo returns the value in the lock column under s.key, which is above every one before, or nil.
func (s *step) walkTo() ([]byte, error) {
	for steps := 0; s.locks.Valid(); steps++ {
		switch order := bytes.Compare(s.locks.Key(), s.key); {
		case order == 0:
			return s.locks.Value()
		case order > 0:
			return nil, nil
		case steps < stepsBeforeSeek:
			s.locks.Next()
		default:
			s.locks.SeekGE(s.key)
		}
	}
	return nil, s.locks.Err()
}

// LockedRows returns the rows of the first locks in a span of user keys that the transaction which
// started at startTS has, at most so many, and the key from which on there may be more: nil when
// there are none.
func LockedRows(
	ctx context.Context, r kv.Reader, span kv.Span, startTS tso.Timestamp, most int,
) (rows [][]byte, next []byte, err error) {
	it, err := r.NewIter(ctx, familySpan(familyLock, span))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var room []byte
	var passed looks
	for ok := it.First(); ok; ok = it.Next() {
		if err := passed.pass(ctx); err != nil {
			return nil, nil, err
		}
		value, err := it.Value()
		if err != nil {
			return nil, nil, err
		}
		l, err := decodeLock(value)
		if err != nil {
			return nil, nil, err
		}
		if l.StartTS != startTS {
			continue
		}
		row := it.Key()[1:]
		if len(rows) == most {
			key, err := UserKey(row, nil)
			return rows, bytes.Clone(key), err
		}
		if cap(room)-len(room) < len(row) {
			room = make([]byte, 0, max(len(row), roomBytes))
		}
		at := len(room)
		room = append(room, row...)
		rows = append(rows, room[at:len(room):len(room)])
	}
	return rows, nil, it.Err()
}

// roomBytes is how much memory LockedRows takes for rows at once.
const roomBytes = 16 << 10
