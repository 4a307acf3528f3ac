package mvcc

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Validate refuses when another transaction has put or deleted a key of the span since it was read,
// at the timestamp since (*WriteConflictError), or holds a lock in it (*LockedError). It writes
// nothing. Locks are checked first: one that goes away meanwhile has left its record. noLocks
// reports that there can be none. pause, if not nil, is called every few hundred keys; its error
// ends the validation.
//
// Requires: the transaction's own locks are all there, or it commits in this very update. Then of
// two transactions of which each writes what the other validates, at least one is refused.
func Validate(
	ctx context.Context, r kv.Reader, startTS, since tso.Timestamp, span kv.Span, noLocks bool,
	pause func() error,
) (err error) {
	w := walk{ctx: ctx, pause: pause}
	if !noLocks {
		if err := w.validateLocks(r, startTS, span); err != nil {
			return err
		}
	}
	it, err := r.NewIter(ctx, familySpan(familyWrite, span))
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := it.Close(); err == nil {
			err = closeErr
		}
	}()
	for ok := it.First(); ok; {
		if err := w.step(); err != nil {
			return err
		}
		prefix, commitTS, err := splitVersion(it.Key())
		if err != nil {
			return err
		}
		if commitTS <= since {
			ok = it.NextPrefix()
			continue
		}
		value, err := it.Value()
		if err != nil {
			return err
		}
		record, err := decodeWrite(value)
		if err != nil {
			return err
		}
		if record.Kind == KindPut || record.Kind == KindDelete {
			key, err := UserKey(prefix[1:], nil)
			if err != nil {
				return err
			}
			return &WriteConflictError{Key: bytes.Clone(key), StartTS: startTS,
				ConflictTS: commitTS}
		}
		ok = it.Next()
	}
	return it.Err()
}

// walk calls a function every few hundred keys of a long way.
type walk struct {
	ctx   context.Context
	pause func() error
	n     int
}

// walkPause is how many keys lie between two pauses.
const walkPause = 512

func (w *walk) step() error {
	if w.n++; w.n%walkPause != 0 {
		return nil
	}
	if err := w.ctx.Err(); err != nil || w.pause == nil {
		return err
	}
	return w.pause()
}

func (w *walk) validateLocks(r kv.Reader, startTS tso.Timestamp, span kv.Span) (err error) {
	it, err := r.NewIter(w.ctx, familySpan(familyLock, span))
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := it.Close(); err == nil {
			err = closeErr
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		if err := w.step(); err != nil {
			return err
		}
		value, err := it.Value()
		if err != nil {
			return err
		}
		l, err := decodeLock(value)
		if err != nil {
			return err
		}
		if l.StartTS == startTS {
			continue
		}
		key, err := UserKey(it.Key()[1:], nil)
		if err != nil {
			return err
		}
		return &LockedError{Key: bytes.Clone(key), Lock: l.clone()}
	}
	return it.Err()
}
