package lease

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Hold keeps what a reader of the past needs, from process to process: one that was interrupted and
// begins again finds it there until the lease ends.
//
//	m hold/<id, 16 hex digits> format 1; lease end, oldest, keep (8 bytes each)
//
// It has a lease as a session has, and ends as one does: whatever finds the lease expired removes
// the record before it acts on that (CheckHold), and the owner renews only a record that is there
// (RenewHold).
type Hold struct {
	ID       uint64
	LeaseEnd tso.Timestamp
	// Oldest bounds the safepoint.
	Oldest tso.Timestamp
	// Keep is the stamp up to which notifications are not removed.
	Keep tso.Timestamp
}

// Expired reports whether the lease is past.
func (h *Hold) Expired(now tso.Timestamp) bool { return now >= h.LeaseEnd }

const (
	holdPrefix      = "hold/"
	holdFormat byte = 1
	holdFixed       = 1 + 8 + 8 + 8
)

// HoldKey returns the key of a hold's record.
func HoldKey(id uint64) []byte { return mvcc.MetaKey(fmt.Sprintf(holdPrefix+"%016x", id)) }

// PutHold writes the record of a new hold.
func PutHold(b *kv.Batch, h Hold) {
	value := append(make([]byte, 0, holdFixed), holdFormat)
	value = binary.BigEndian.AppendUint64(value, uint64(h.LeaseEnd))
	value = binary.BigEndian.AppendUint64(value, uint64(h.Oldest))
	b.Set(HoldKey(h.ID), binary.BigEndian.AppendUint64(value, uint64(h.Keep)))
}

func decodeHold(id uint64, value []byte) (Hold, error) {
	if len(value) != holdFixed || value[0] != holdFormat {
		return Hold{}, fmt.Errorf("hold %d: bad record %x: %w", id, value, kv.ErrCorruption)
	}
	return Hold{ID: id,
		LeaseEnd: tso.Timestamp(binary.BigEndian.Uint64(value[1:])),
		Oldest:   tso.Timestamp(binary.BigEndian.Uint64(value[9:])),
		Keep:     tso.Timestamp(binary.BigEndian.Uint64(value[17:])),
	}, nil
}

// GetHold returns the record of a hold, if it is there.
func GetHold(ctx context.Context, r kv.Reader, id uint64) (h Hold, found bool, err error) {
	value, err := r.Get(ctx, HoldKey(id))
	if err != nil || value == nil {
		return Hold{}, false, err
	}
	h, err = decodeHold(id, value)
	return h, err == nil, err
}

// Holds returns the records of all holds, oldest first.
func Holds(ctx context.Context, r kv.Reader) (out []Hold, err error) {
	start := mvcc.MetaKey(holdPrefix)
	it, err := r.NewIter(ctx, kv.Span{Start: start, End: kv.PrefixEnd(start)})
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := it.Close(); err == nil {
			err = closeErr
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		name := string(bytes.TrimPrefix(it.Key(), start))
		id, err := strconv.ParseUint(name, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("hold record %q: %w", it.Key(), kv.ErrCorruption)
		}
		value, err := it.Value()
		if err != nil {
			return nil, err
		}
		h, err := decodeHold(id, value)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, it.Err()
}

// RenewHold writes the record anew, or fails with ErrEnded when the hold is over.
func RenewHold(ctx context.Context, r kv.Reader, b *kv.Batch, h Hold, now tso.Timestamp) error {
	old, found, err := GetHold(ctx, r, h.ID)
	switch {
	case err != nil:
		return err
	case !found || old.Expired(now):
		return ErrEnded
	}
	PutHold(b, h)
	return nil
}

// CheckHold reports whether a hold is in force, with its record. One whose lease is past is ended
// here: once that is known it does not come back.
func CheckHold(ctx context.Context, r kv.Reader, b *kv.Batch, id uint64, now tso.Timestamp) (h Hold,
	lasts bool, err error) {
	h, found, err := GetHold(ctx, r, id)
	if err != nil || !found {
		return Hold{}, false, err
	}
	if h.Expired(now) {
		EndHold(b, id)
		return Hold{}, false, nil
	}
	return h, true, nil
}

// EndHold removes the record.
func EndHold(b *kv.Batch, id uint64) { b.Delete(HoldKey(id)) }
