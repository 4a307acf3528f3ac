package tikvkv

import (
	"cmp"
	"context"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/txnkv/txnsnapshot"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/paged"
)

// reader reads at the timestamp that it drew before its first read.
type reader struct {
	e    *Engine
	ts   uint64 // zero before the first read
	snap *txnsnapshot.KVSnapshot
	at   time.Time // when the timestamp was asked for
	gone bool
}

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
func (r *reader) scan(ctx context.Context, lo, hi []byte, n int, backwards bool) ([]paged.Cell,
	error) {
	if err := r.pin(ctx); err != nil {
		return nil, err
	}
	start, end := r.e.names.cell(lo), r.e.names.end(hi)
	// The snapshot's own IterReverse takes no lower bound in this version of client-go, and would
	// read what lies below the store.
	snap := txnsnapshot.SnapshotProbe{KVSnapshot: r.snap}
	cells, err := reads(r.e, ctx, func(context.Context) (cells []paged.Cell, err error) {
		s, err := snap.NewScanner(start, end, n, backwards)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		for s.Valid() {
			cells = append(cells, paged.Cell{Key: r.e.names.key(s.Key()),
				Value: decode(s.Value())})
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
	return r.newIter(ctx, span, func(error) {})
}

// newIter returns an iterator that calls failed with each error, that of opening it included.
func (r *reader) newIter(ctx context.Context, span kv.Span, failed func(error)) (kv.Iterator,
	error) {
	if err := cmp.Or(r.usable(), ctx.Err()); err != nil {
		failed(err)
		return nil, err
	}
	return paged.New(ctx, source{r}, span, failed), nil
}

// Close implements kv.Snapshot. Nothing is held.
func (r *reader) Close() error { return nil }
