package mvcc

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Version is the newest write of a key, if it is newer than a timestamp.
type Version struct {
	CommitTS tso.Timestamp // zero: there is none
	Live     bool          // a value, and not its removal
}

// Newest reports whether a key was put or deleted after since, and refuses with *LockedError while
// another transaction than startTS has a lock on it.
func Newest(ctx context.Context, r kv.Reader, key []byte, startTS, since tso.Timestamp) (v Version,
	err error) {
	s := newStep(r, nil)
	defer s.close(&err)
	row := Row(key)
	l, locked, err := s.lock(ctx, row)
	if err != nil {
		return v, err
	}
	if locked && l.StartTS != startTS {
		return v, &LockedError{Key: bytes.Clone(key), Lock: l.clone()}
	}
	err = s.history(ctx, row, tso.Max, func(commitTS tso.Timestamp, w Write) bool {
		if commitTS <= since {
			return false
		}
		if w.Kind != KindPut && w.Kind != KindDelete {
			return true
		}
		v = Version{CommitTS: commitTS, Live: w.Kind == KindPut}
		return false
	})
	return v, err
}

// WrittenBetween reports whether a key was put or deleted after one timestamp and not after
// another. It looks at no locks: the caller knows of a later write of the key, before which all
// locks were settled.
func WrittenBetween(ctx context.Context, r kv.Reader, key []byte, after,
	until tso.Timestamp) (written bool, err error) {
	s := newStep(r, nil)
	defer s.close(&err)
	err = s.history(ctx, Row(key), until, func(commitTS tso.Timestamp, w Write) bool {
		if commitTS <= after {
			return false
		}
		written = w.Kind == KindPut || w.Kind == KindDelete
		return !written
	})
	return written, err
}
