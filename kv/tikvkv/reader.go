package tikvkv

import (
	"context"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/txnkv/txnsnapshot"

	"github.com/minidb/minidb/kv"
)

// reader reads at the timestamp that it drew before its first read.
type reader struct {
	e    *Engine
	ts   uint64 // zero before the first read
	snap *txnsnapshot.KVSnapshot
	at   time.Time // when the timestamp was asked for
	gone bool
}

// cell is one key and its value.
type cell struct{ key, value []byte }

// pin fixes the state of the reader, and fails when it was given up.
func (r *reader) pin(ctx context.Context) error {
	if r.ts == 0 {
		at := time.Now()
		ts, err := r.e.oracle.Next(ctx)
		if err != nil {
			return err
		}
		r.ts, r.at = uint64(ts), at
		r.snap = r.e.store.GetSnapshot(r.ts)
	}
	return r.usable()
}

// usable fails when the state of the reader was given up.
func (r *reader) usable() error {
	if r.gone || r.ts != 0 && time.Since(r.at) > r.e.o.Keep {
		r.gone = true
		return kv.ErrSnapshotGone
	}
	return nil
}

// note remembers whether the state is gone.
func (r *reader) note(err error) error {
	r.gone = r.gone || err == kv.ErrSnapshotGone
	return err
}

// Get implements kv.Reader.
func (r *reader) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := r.pin(ctx); err != nil {
		return nil, err
	}
	name, snap := r.e.names.cell(key), r.snap
	raw, err := reads(r.e, ctx, func(ctx context.Context) ([]byte, error) {
		raw, err := snap.Get(ctx, name)
		if tikverr.IsErrNotFound(err) {
			return nil, nil
		}
		return raw, err
	})
	if err != nil || raw == nil {
		return nil, r.note(err)
	}
	return decode(raw), nil
}

// scan reads n cells from lo to below hi, which are the first ones, or backwards the last ones, the
// last one first; less when there are no more. A nil hi is the end of all keys.
func (r *reader) scan(ctx context.Context, lo, hi []byte, n int, backwards bool) ([]cell, error) {
	if err := r.pin(ctx); err != nil {
		return nil, err
	}
	start, end := r.e.names.cell(lo), r.e.names.end(hi)
	// The snapshot's own IterReverse takes no lower bound in this version of client-go, and would
	// read what lies below the store.
	snap := txnsnapshot.SnapshotProbe{KVSnapshot: r.snap}
	cells, err := reads(r.e, ctx, func(context.Context) (cells []cell, err error) {
		s, err := snap.NewScanner(start, end, n, backwards)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		for s.Valid() {
			cells = append(cells, cell{key: r.e.names.key(s.Key()), value: decode(s.Value())})
			if len(cells) == n {
				break
			}
			if err := s.Next(); err != nil {
				return nil, err
			}
		}
		return cells, nil
	})
	return cells, r.note(err)
}

// NewIter implements kv.Reader.
func (r *reader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	if err := r.usable(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &iterator{r: r, ctx: ctx, span: span}, nil
}

// Close implements kv.Snapshot. Nothing is held.
func (r *reader) Close() error { return nil }
