package gc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// ErrClaimed is returned while a session of another process collects.
var ErrClaimed = errors.New("gc: another process collects")

// safepointKey is the cell of the store that has the safepoint.
var safepointKey = mvcc.MetaKey("safepoint")

// SafepointRow is the row that updates of the safepoint name.
func SafepointRow() []byte { return kv.Row(safepointKey) }

// Safepoint is the cell in which the store keeps it:
//
//	point (8 bytes), or point, target, collector (8 bytes each)
//
// A raise on a store that several processes share has two steps. Claim announces the highest value
// that the safepoint may get; then the sessions are read; then Raise records the safepoint at or
// below the oldest start_ts that they published. A reader of the past first publishes its start_ts
// and then looks here: either the collector sees it among the sessions, or it sees the target above
// itself.
type Safepoint struct {
	Point     tso.Timestamp // reads below it are refused
	Target    tso.Timestamp // of a raise under way, or zero
	Collector uint64        // the session that collects, or zero
}

// Bars reports whether a reader of the past may not begin at startTS: what it would read is gone,
// or may be about to go.
func (s *Safepoint) Bars(startTS tso.Timestamp) bool { return startTS < max(s.Point, s.Target) }

// ReadSafepoint returns the cell as the reader has it.
func ReadSafepoint(ctx context.Context, r kv.Reader) (s Safepoint, err error) {
	value, err := r.Get(ctx, safepointKey)
	if err != nil || value == nil {
		return Safepoint{}, err
	}
	if len(value) != 8 && len(value) != 24 {
		return Safepoint{}, fmt.Errorf("safepoint of %d bytes: %w", len(value), kv.ErrCorruption)
	}
	s.Point = tso.Timestamp(binary.BigEndian.Uint64(value))
	if len(value) == 24 {
		s.Target = tso.Timestamp(binary.BigEndian.Uint64(value[8:]))
		s.Collector = binary.BigEndian.Uint64(value[16:])
	}
	return s, nil
}

func (s *Safepoint) put(b *kv.Batch) {
	value := binary.BigEndian.AppendUint64(nil, uint64(s.Point))
	if s.Target != 0 || s.Collector != 0 {
		value = binary.BigEndian.AppendUint64(value, uint64(s.Target))
		value = binary.BigEndian.AppendUint64(value, s.Collector)
	}
	b.Set(safepointKey, value)
}

// SetPoint records the safepoint of a store that no one else collects in. It never falls.
func SetPoint(ctx context.Context, r kv.Reader, b *kv.Batch, point tso.Timestamp) error {
	old, err := ReadSafepoint(ctx, r)
	if err != nil {
		return err
	}
	next := Safepoint{Point: max(old.Point, point)}
	next.put(b)
	return nil
}

// Claim makes the session the collector and announces the target, or returns ErrClaimed with the
// cell of the session that collects. dead is a session that is known to have ended.
func Claim(
	ctx context.Context, r kv.Reader, b *kv.Batch, session, dead uint64, target tso.Timestamp,
) (Safepoint, error) {
	s, err := ReadSafepoint(ctx, r)
	if err != nil {
		return s, err
	}
	if s.Collector != 0 && s.Collector != session && s.Collector != dead {
		return s, ErrClaimed
	}
	s.Collector, s.Target = session, target
	s.put(b)
	return s, nil
}

// Raise ends what Claim began: it records the safepoint, which never falls, and returns it. A
// session that has lost its claim meanwhile gets ErrClaimed.
func Raise(ctx context.Context, r kv.Reader, b *kv.Batch, session uint64,
	point tso.Timestamp) (tso.Timestamp, error) {
	s, err := ReadSafepoint(ctx, r)
	switch {
	case err != nil:
		return 0, err
	case s.Collector != session:
		return 0, ErrClaimed
	}
	s.Point, s.Target = max(s.Point, point), 0
	s.put(b)
	return s.Point, nil
}

// Release gives the claim up, if the session still has it.
func Release(ctx context.Context, r kv.Reader, b *kv.Batch, session uint64) error {
	s, err := ReadSafepoint(ctx, r)
	if err != nil || s.Collector != session {
		return err
	}
	s.Collector, s.Target = 0, 0
	s.put(b)
	return nil
}

// SafepointError is returned to a reader at a timestamp whose versions may have been collected.
type SafepointError struct {
	StartTS, Safepoint tso.Timestamp
}

func (e *SafepointError) Error() string {
	return fmt.Sprintf("start timestamp %s is below the safepoint %s", e.StartTS, e.Safepoint)
}
