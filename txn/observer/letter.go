package observer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// DeadLetter is a row for which an observer was given up. It keeps its notifications, so that the
// next run, of a newer change or on request, sees what this one would have seen.
type DeadLetter struct {
	Key      []byte
	At       tso.Timestamp // changes up to here are not tried again
	Attempts int
	Failed   time.Time // the last attempt
	Err      string
}

const letterFormat byte = 1

// appendTo appends: format, timestamp (8 bytes), uvarint attempts, time in microseconds since 1970
// (8 bytes), the error.
func (l *DeadLetter) appendTo(dst []byte) []byte {
	dst = append(dst, letterFormat)
	dst = binary.BigEndian.AppendUint64(dst, uint64(l.At))
	dst = binary.AppendUvarint(dst, uint64(l.Attempts))
	dst = binary.BigEndian.AppendUint64(dst, uint64(l.Failed.UnixMicro()))
	return append(dst, l.Err...)
}

func decodeLetter(key, value []byte) (*DeadLetter, error) {
	bad := fmt.Errorf("observer: bad dead letter %x: %w", value, kv.ErrCorruption)
	if len(value) < 1+8 || value[0] != letterFormat {
		return nil, bad
	}
	l := &DeadLetter{Key: append([]byte{}, key...),
		At: tso.Timestamp(binary.BigEndian.Uint64(value[1:]))}
	attempts, n := binary.Uvarint(value[9:])
	rest := value[9:]
	if n <= 0 || len(rest) < n+8 {
		return nil, bad
	}
	l.Attempts = int(attempts)
	l.Failed = time.UnixMicro(int64(binary.BigEndian.Uint64(rest[n:])))
	l.Err = string(rest[n+8:])
	return l, nil
}

// letter returns the dead letter of a row, or nil.
func (o *Target) letter(ctx context.Context, t *txn.Txn, key []byte) (*DeadLetter, error) {
	value, err := t.Get(ctx, o.stateKey(stateLetter, key))
	if err != nil || value == nil {
		return nil, err
	}
	return decodeLetter(key, value)
}

// errorMax bounds what a dead letter keeps of an error, in bytes.
const errorMax = 4 << 10

// GiveUp writes a dead letter.
func (o *Target) GiveUp(ctx context.Context, s *txn.Store, l *DeadLetter) (err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	l.Err = l.Err[:min(len(l.Err), errorMax)]
	if err := t.Set(o.stateKey(stateLetter, l.Key), l.appendTo(nil)); err != nil {
		return err
	}
	return t.Commit(ctx)
}

// Retry takes back that an observer was given up for a row: its changes are pending again once t
// commits. It reports whether there was a dead letter.
func (o *Target) Retry(ctx context.Context, t *txn.Txn, key []byte) (found bool, err error) {
	l, err := o.letter(ctx, t, key)
	if err != nil || l == nil {
		return false, err
	}
	return true, t.Delete(o.stateKey(stateLetter, key))
}

// Drop acknowledges the changes of a dead letter unseen once t commits. It reports whether there
// was one.
func (o *Target) Drop(ctx context.Context, t *txn.Txn, key []byte) (found bool, err error) {
	l, err := o.letter(ctx, t, key)
	if err != nil || l == nil {
		return false, err
	}
	at := binary.BigEndian.AppendUint64(nil, uint64(l.At))
	if err := t.Set(o.stateKey(stateAck, key), at); err != nil {
		return true, err
	}
	return true, t.Delete(o.stateKey(stateLetter, key))
}

// Letters calls visit with each dead letter that a transaction sees, in the order of the rows.
func (o *Target) Letters(ctx context.Context, t *txn.Txn,
	visit func(l *DeadLetter) error) (err error) {
	it, err := t.Scan(ctx, o.stateSpan(stateLetter), txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		l, err := decodeLetter(it.Key()[len(o.State)+1:], it.Value())
		if err == nil {
			err = visit(l)
		}
		if err != nil {
			return err
		}
	}
	return it.Err()
}
