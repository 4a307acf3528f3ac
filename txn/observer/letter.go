package observer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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

// ErrSuperseded is the failure of GiveUp when a run of the row has committed meanwhile.
var ErrSuperseded = errors.New("observer: another run has acknowledged the change")

// GiveUp writes a dead letter, or fails with ErrSuperseded, or with *txn.WriteConflictError beside
// a run that commits now.
func (o *Target) GiveUp(ctx context.Context, s *txn.Store, l *DeadLetter) (err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	at, err := o.acknowledged(ctx, t, l.Key)
	switch {
	case err != nil:
		return err
	case at >= l.At:
		return ErrSuperseded
	}
	// A row in a place that was dropped is another one's concern: that of its new key.
	dropped, err := t.Dropped(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(dropped, func(s kv.Span) bool { return s.Contains(l.Key) }) {
		return ErrSuperseded
	}
	if err := o.leave(t, l, at); err != nil {
		return err
	}
	return t.Commit(ctx)
}

// leave writes a dead letter beside the acknowledgement.
func (o *Target) leave(t *txn.Txn, l *DeadLetter, at tso.Timestamp) error {
	if err := o.touch(t, l.Key, at); err != nil {
		return err
	}
	l.Err = l.Err[:min(len(l.Err), errorMax)]
	return t.Set(o.stateKey(stateLetter, l.Key), l.appendTo(nil))
}

// touch writes an acknowledgement as it is, so that no run of the row commits beside the
// transaction.
func (o *Target) touch(t *txn.Txn, key []byte, at tso.Timestamp) error {
	if at == 0 {
		return t.Delete(o.stateKey(stateAck, key))
	}
	return t.Set(o.stateKey(stateAck, key), binary.BigEndian.AppendUint64(nil, uint64(at)))
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
	at, err := o.acknowledged(ctx, t, key)
	if err != nil {
		return true, err
	}
	at = max(at, l.At)
	asked := Change{Key: key, At: l.At}
	if _, err := o.weakly(ctx, t, &asked, 0); err != nil {
		return true, err
	}
	for _, k := range asked.weak {
		if err := t.Delete(k); err != nil {
			return true, err
		}
	}
	row, err := t.Get(ctx, key)
	if err == nil {
		err = o.touch(t, key, at)
	}
	if err == nil {
		err = t.Delete(o.stateKey(stateImage, key))
	}
	if err == nil && row == nil { // what is kept of it goes as after a run
		err = t.Set(o.stateKey(stateGone, key),
			binary.BigEndian.AppendUint64(nil, uint64(at)))
	}
	if err != nil {
		return true, err
	}
	return true, t.Delete(o.stateKey(stateLetter, key))
}

// given returns up to where each row was given up that has a dead letter.
func (o *Target) given(ctx context.Context, s *txn.Store) (upTo map[string]tso.Timestamp,
	err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	upTo = map[string]tso.Timestamp{}
	return upTo, o.Letters(ctx, t, func(l *DeadLetter) error {
		upTo[string(l.Key)] = l.At
		return nil
	})
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
