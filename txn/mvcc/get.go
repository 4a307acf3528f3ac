package mvcc

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// ReadParams are the timestamp at which to read, and what the reader knows about locks.
type ReadParams struct {
	StartTS tso.Timestamp
	// Ignored holds the start_ts of transactions that are known to commit above StartTS, if at all.
	Ignored map[tso.Timestamp]struct{}
	// Decided holds, by start_ts, transactions that are known to be decided: their commit_ts, or
	// zero for one that was rolled back. What such a one has locked is read as if its lock were a
	// record already.
	Decided map[tso.Timestamp]tso.Timestamp
	// Own, if not zero, is the start_ts of the reader's own locks, which are passed over.
	Own tso.Timestamp
	// NoLocks says that nothing in the snapshot is locked; the lock column is then not read.
	NoLocks bool
}

// View reads user keys from one snapshot of the engine and keeps the iterator of point reads
// between them. It belongs to one goroutine at a time; values are valid until its next call.
type View struct {
	r      kv.Reader
	point  kv.Iterator
	absent gap // of point
	key    []byte
	rowBuf []byte
	// ownLock is the lock that Own returned last.
	ownLock []byte

	// room holds the first keys, so that a view made for one read allocates no buffers.
	room [2][48]byte
}

// Init makes a closed or new View a view of r, which must outlive it.
func (v *View) Init(r kv.Reader) {
	v.r = r
	if v.key == nil {
		v.key, v.rowBuf = v.room[0][:0], v.room[1][:0]
	}
}

// Row returns the row of a user key. It is valid until the next call.
func (v *View) Row(key []byte) []byte {
	v.rowBuf = AppendRow(v.rowBuf[:0], key)
	return v.rowBuf
}

// Foretell says that user keys will be read soon. It changes nothing of what is read.
func (v *View) Foretell(ctx context.Context, keys [][]byte) error {
	f, ok := v.r.(kv.Foreteller)
	if !ok {
		return nil
	}
	rows := make([][]byte, len(keys))
	for i, key := range keys {
		rows[i] = Row(key)
	}
	return f.Foretell(ctx, rows)
}

// Close releases the iterator, not the reader.
func (v *View) Close() error {
	if v.point == nil {
		return nil
	}
	err := v.point.Close()
	v.point = nil
	v.absent.reset()
	return err
}

// Get returns the value of a user key at p.StartTS, or nil. It fails with *LockedError when a
// transaction that may have committed at or below that has a lock on it. One seek when the value
// is inlined and nothing is locked (txn: I7).
func (v *View) Get(ctx context.Context, key []byte, p ReadParams) ([]byte, error) {
	v.rowBuf = AppendRow(v.rowBuf[:0], key)
	if !p.NoLocks {
		if l, err := v.checkLock(ctx, key, p); err != nil {
			return nil, err
		} else if l != nil {
			return v.lockValue(ctx, v.rowBuf, l)
		}
	}
	w, err := v.newest(ctx, p.StartTS)
	if err != nil || w.Kind != KindPut {
		return nil, err
	}
	return v.valueOf(ctx, v.rowBuf, &w)
}

// Writer returns the start_ts of the transaction that wrote the value that Get returns; zero where
// there is none. It fails as Get does.
func (v *View) Writer(ctx context.Context, key []byte, p ReadParams) (tso.Timestamp, error) {
	v.rowBuf = AppendRow(v.rowBuf[:0], key)
	if !p.NoLocks {
		if l, err := v.checkLock(ctx, key, p); err != nil {
			return 0, err
		} else if l != nil && l.Kind == KindPut {
			return l.StartTS, nil
		} else if l != nil {
			return 0, nil
		}
	}
	w, err := v.newest(ctx, p.StartTS)
	if err != nil || w.Kind != KindPut {
		return 0, err
	}
	return w.StartTS, nil
}

// newest returns the newest write record at or below a timestamp that puts or deletes the row in
// v.rowBuf; one without a kind if there is none.
func (v *View) newest(ctx context.Context, at tso.Timestamp) (Write, error) {
	if v.point == nil {
		// Not of this call: the view may serve other transactions later.
		it, err := v.r.NewIter(context.WithoutCancel(ctx), kv.Span{})
		if err != nil {
			return Write{}, err
		}
		v.point = it
	}
	v.key = appendWriteKey(v.key[:0], v.rowBuf, at)
	n := len(v.key) - tsLen
	var passed looks
	for ok := v.absent.seek(v.point, v.key, n); ok; ok = v.point.Next() {
		if err := passed.pass(ctx); err != nil {
			return Write{}, err
		}
		if raw := v.point.Key(); len(raw) != len(v.key) || !bytes.Equal(raw[:n], v.key[:n]) {
			break
		}
		value, err := v.point.Value()
		if err != nil {
			return Write{}, err
		}
		w, err := decodeWrite(value)
		if err != nil || w.Kind == KindPut || w.Kind == KindDelete {
			return w, err
		}
	}
	return Write{}, v.point.Err()
}

// checkLock looks at the key's lock. It returns the lock if that is the version that the reader
// sees, and else nil.
func (v *View) checkLock(ctx context.Context, key []byte, p ReadParams) (*Lock, error) {
	v.key = appendLockKey(v.key[:0], v.rowBuf)
	raw, err := v.r.Get(ctx, v.key)
	if err != nil || raw == nil {
		return nil, err
	}
	l, err := decodeLock(raw)
	if err != nil {
		return nil, err
	}
	if shown, err := p.passes(key, &l); !shown || err != nil {
		return nil, err
	}
	return &l, nil
}

// passes decides about a lock that a reader meets. It returns *LockedError when the reader has to
// learn the status of the lock's transaction. shown reports that the transaction is known to have
// committed at or below the read timestamp. Then no version of the key is newer, because a writer
// of the next one settles the lock first.
func (p *ReadParams) passes(key []byte, l *Lock) (shown bool, err error) {
	if commitTS, known := p.Decided[l.StartTS]; known {
		below := commitTS != 0 && commitTS <= p.StartTS
		return below && l.Kind != KindLock, nil
	}
	if l.StartTS != p.Own && l.blocks(key, p.StartTS, p.Ignored) {
		return false, &LockedError{Key: bytes.Clone(key), Lock: l.clone()}
	}
	return false, nil
}

// lockValue returns the value of a put that a lock stands for, and nil for other kinds.
func (v *View) lockValue(ctx context.Context, row []byte, l *Lock) ([]byte, error) {
	if l.Kind != KindPut {
		return nil, nil
	}
	return v.valueOf(ctx, row,
		&Write{Kind: KindPut, StartTS: l.StartTS, Short: l.Short, HasShort: l.HasShort})
}

// errNoData is the error of a write record that points at nothing.
var errNoData = errors.New("mvcc: a write record has no data")

// valueOf returns the value of a put: inlined, or from the data column.
func (v *View) valueOf(ctx context.Context, row []byte, w *Write) ([]byte, error) {
	if w.HasShort {
		return w.Short, nil
	}
	v.key = appendDataKey(v.key[:0], row, w.StartTS)
	value, err := v.r.Get(ctx, v.key)
	if err == nil && value == nil {
		err = errors.Join(errNoData, kv.ErrCorruption)
	}
	return value, err
}
