package mvcc

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// newestOfAll is above every timestamp.
const newestOfAll = ^tso.Timestamp(0)

// Committed walks the newest committed versions of user keys, and passes over locks, also of
// transactions that have committed. keysOnly leaves values nil, and unread where they are not
// inlined.
func Committed(r kv.Reader, keysOnly bool) kv.Walk {
	return func(ctx context.Context, span kv.Span, reverse bool,
		visit func(key, value []byte) error) (err error) {
		var v View
		v.Init(r)
		s, err := v.Scan(ctx, span, ScanParams{
			ReadParams: ReadParams{StartTS: newestOfAll, NoLocks: true}, Reverse: reverse,
			KeysOnly: keysOnly})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close(), v.Close()) }()
		for s.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := visit(s.Key(), s.Value()); err != nil {
				return err
			}
		}
		return s.Err()
	}
}

// CommittedValue returns the newest committed value of a user key as a copy, nil when there is
// none. It passes over a lock as Committed does.
func CommittedValue(ctx context.Context, r kv.Reader, key []byte) (value []byte, err error) {
	var v View
	v.Init(r)
	defer func() { err = errors.Join(err, v.Close()) }()
	found, err := v.Get(ctx, key, ReadParams{StartTS: newestOfAll, NoLocks: true})
	if err != nil || found == nil {
		return nil, err
	}
	return append([]byte{}, found...), nil
}

// LockedValue returns the value that a user key has once a lock on it is settled whose transaction
// was committed at commitTS, as a copy; nil when there is none. A newer version counts, though none
// can be there unless the lock was settled and has come back (DropReturnedLock).
func LockedValue(ctx context.Context, r kv.Reader, key []byte, l *Lock,
	commitTS tso.Timestamp) (value []byte, err error) {
	replaced, err := replacedSince(ctx, r, Row(key), commitTS)
	if err != nil {
		return nil, err
	}
	if replaced || l.Kind == KindLock {
		return CommittedValue(ctx, r, key)
	}
	var v View
	v.Init(r)
	defer func() { err = errors.Join(err, v.Close()) }()
	found, err := v.lockValue(ctx, Row(key), l)
	if err != nil || found == nil {
		return nil, err
	}
	return append([]byte{}, found...), nil
}

// LocksSpan returns the span of the engine's keys that holds the locks of a span of user keys.
func LocksSpan(span kv.Span) kv.Span { return familySpan(familyLock, span) }
