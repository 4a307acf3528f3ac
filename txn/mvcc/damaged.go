package mvcc

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// NewestTimestamp returns the highest timestamp in the keys and locks of a store, as far as they
// can be read.
func NewestTimestamp(ctx context.Context, r kv.Reader) (newest tso.Timestamp, err error) {
	for _, family := range []byte{familyData, familyLock, familyWrite} {
		_, err := kv.Readable(ctx, r, familySpan(family, kv.Span{}),
			func(rawKey, rawValue []byte) error {
				if c, err := Decode(rawKey, rawValue); err == nil {
					newest = max(newest, c.TS, c.Lock.MinCommitTS)
				}
				return nil
			})
		if err != nil {
			return 0, err
		}
	}
	return newest, nil
}

// DropReturnedLock removes the lock of a row that has a record of the lock's transaction. A store
// never has both (mvcc I2): the lock was settled, and has come back from a file that the store had
// replaced. It would let the transaction pass for one that never committed.
func DropReturnedLock(ctx context.Context, r kv.Reader, b *kv.Batch, key []byte) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	row := Row(key)
	l, locked, err := s.lock(ctx, row)
	if err != nil || !locked {
		return err
	}
	startTS := l.StartTS
	f, err := s.recordOf(ctx, row, startTS)
	if err == nil && f.known {
		s.dropLock(row)
	}
	return err
}

// replacedSince reports whether a row has a version above a timestamp.
func replacedSince(ctx context.Context, r kv.Reader, row []byte, ts tso.Timestamp) (replaced bool,
	err error) {
	it, err := r.NewIter(ctx, kv.Span{Start: appendWriteKey(nil, row, tso.Max),
		End: appendWriteKey(nil, row, ts)})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok && !replaced; ok = it.Next() {
		value, err := it.Value()
		if err != nil {
			return false, err
		}
		c, err := Decode(it.Key(), value)
		if err != nil {
			return false, err
		}
		replaced = c.Write.Kind == KindPut || c.Write.Kind == KindDelete
	}
	return replaced, it.Err()
}
