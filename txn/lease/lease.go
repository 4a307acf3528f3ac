// Package lease keeps the sessions that own locks: one record in the store for each Store that runs
// transactions on it, with the end of its lease (Percolator, §2.2, end, has a token in Chubby for
// this). Such a session has nothing to do with the session of a client.
//
// It owns the records and the steps on them. When they are written, and what follows from a
// session's end, is for package shared.
//
//	m session/<id, 16 hex digits> format 1; lease end, oldest start_ts, publication (8 bytes each)
//
// What a session publishes of its transactions that wait is in cells beside it, one for each
// (wait.go).
//
// A session is alive while its record is there. A process that finds its lease expired, by the
// oracle's time, removes the record before it acts on that (CheckLiveness), and the owner renews
// the lease only of a record that is there (Renew). Both are updates of the record's row, so
// exactly one of them wins, and an owner whose session was ended learns of it. Ids are timestamps
// of the oracle and never come again.
package lease

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// ErrEnded is returned for a session whose record is gone, or whose lease has expired.
var ErrEnded = errors.New("the owner's session has ended")

// Record is what the store knows of a session.
type Record struct {
	// ID is in every lock that the session's transactions write.
	ID uint64
	// LeaseEnd is when the session counts as dead, by the oracle's time.
	LeaseEnd tso.Timestamp
	// Oldest is at or below the start_ts of every transaction of the session, running or to come.
	Oldest tso.Timestamp
	// Published numbers the session's publications of its waits. All cells of the publication are
	// in the store, and those of earlier ones that it does not have are gone, before the record has
	// its number.
	Published uint64
}

// Expired reports whether the lease is past.
func (r *Record) Expired(now tso.Timestamp) bool { return now >= r.LeaseEnd }

const (
	prefix      = "session/"
	format byte = 1
	fixed       = 1 + 8 + 8 + 8
)

// Key returns the key of a session's record.
func Key(id uint64) []byte { return mvcc.MetaKey(fmt.Sprintf(prefix+"%016x", id)) }

func put(b *kv.Batch, rec Record) {
	value := make([]byte, 0, fixed)
	value = append(value, format)
	value = binary.BigEndian.AppendUint64(value, uint64(rec.LeaseEnd))
	value = binary.BigEndian.AppendUint64(value, uint64(rec.Oldest))
	b.Set(Key(rec.ID), binary.BigEndian.AppendUint64(value, rec.Published))
}

func decode(id uint64, value []byte) (Record, error) {
	if len(value) == fixed && value[0] == format {
		return Record{
			ID:        id,
			LeaseEnd:  tso.Timestamp(binary.BigEndian.Uint64(value[1:])),
			Oldest:    tso.Timestamp(binary.BigEndian.Uint64(value[9:])),
			Published: binary.BigEndian.Uint64(value[17:]),
		}, nil
	}
	return Record{}, fmt.Errorf("session %d: bad record %x: %w", id, value, kv.ErrCorruption)
}

// Get returns the record of a session, if it is there.
func Get(ctx context.Context, r kv.Reader, id uint64) (rec Record, found bool, err error) {
	value, err := r.Get(ctx, Key(id))
	if err != nil || value == nil {
		return Record{}, false, err
	}
	rec, err = decode(id, value)
	return rec, err == nil, err
}

// All returns the records of all sessions, oldest first.
func All(ctx context.Context, r kv.Reader) (out []Record, err error) {
	start := mvcc.MetaKey(prefix)
	end := bytes.Clone(start)
	end[len(end)-1]++
	it, err := r.NewIter(ctx, kv.Span{Start: start, End: end})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		id, err := strconv.ParseUint(string(it.Key()[len(start):]), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("session record %q: %w", it.Key(), kv.ErrCorruption)
		}
		value, err := it.Value()
		if err != nil {
			return nil, err
		}
		rec, err := decode(id, value)
		if err != nil {
			return nil, err
		}
		out = append(out, rec)
	}
	return out, it.Err()
}

// Start writes the record of a new session.
func Start(b *kv.Batch, rec Record) { put(b, rec) }

// Renew writes the record anew, or fails with ErrEnded when the session is over.
func Renew(ctx context.Context, r kv.Reader, b *kv.Batch, rec Record, now tso.Timestamp) error {
	old, found, err := Get(ctx, r, rec.ID)
	switch {
	case err != nil:
		return err
	case !found || old.Expired(now):
		return ErrEnded
	}
	put(b, rec)
	return nil
}

// CheckLiveness reports whether the session is alive, with its record. One whose lease is past is
// ended here: once that is known it does not come back.
func CheckLiveness(
	ctx context.Context, r kv.Reader, b *kv.Batch, id uint64, now tso.Timestamp,
) (rec Record, alive bool, err error) {
	rec, found, err := Get(ctx, r, id)
	if err != nil || !found {
		return Record{}, false, err
	}
	if rec.Expired(now) {
		End(b, id)
		return Record{}, false, nil
	}
	return rec, true, nil
}

// End removes the record. Its owner does this when it closes.
func End(b *kv.Batch, id uint64) { b.Delete(Key(id)) }
