package txn

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/buffer"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
)

// bufferedWrites are own writes that are all in the buffer.
type bufferedWrites struct{ *buffer.Cursor }

func (bufferedWrites) Failed() error { return nil }
func (bufferedWrites) Close() error  { return nil }

// ownWrites returns nil when there are none in the span.
func (t *Txn) ownWrites(ctx context.Context, span kv.Span, opts ScanOptions) (ownWrites, error) {
	reverse := opts.Reverse
	buffered := t.buf.Cursor(span, reverse, opts.Current)
	if t.stream == nil {
		if buffered == nil {
			return nil, nil
		}
		return bufferedWrites{buffered}, nil
	}
	v, err := t.openStreamed(ctx)
	if err != nil {
		return nil, err
	}
	sc, err := v.View.ScanOwn(ctx, span, t.reg.startTS, reverse)
	if err != nil {
		return nil, err
	}
	v.Retain()
	c := &streamedCursor{s: t.s, buffered: buffered, sc: sc, snapshot: v, reverse: reverse}
	c.scOK = sc.Next()
	return c, nil
}

// streamedCursor merges the buffered writes over those that were streamed out before. It has a
// snapshot of its own, which does not show what is streamed out later.
type streamedCursor struct {
	buffered *buffer.Cursor // nil without any
	s        *Store
	sc       *mvcc.OwnScanner
	scOK     bool
	snapshot *hints.Snapshot
	reverse  bool
}

func (c *streamedCursor) inBuffer() bool { return c.buffered != nil && c.buffered.Valid() }

func (c *streamedCursor) Valid() bool { return c.inBuffer() || c.scOK }

// compare orders the buffered key against the streamed one in the direction of the scan.
func (c *streamedCursor) compare() int {
	switch {
	case !c.inBuffer():
		return 1
	case !c.scOK:
		return -1
	}
	n := bytes.Compare(c.buffered.Item().Key, c.sc.Key)
	if c.reverse {
		return -n
	}
	return n
}

func (c *streamedCursor) Item() buffer.Write {
	if c.compare() <= 0 {
		return c.buffered.Item()
	}
	return buffer.Write{Key: c.sc.Key, Value: c.sc.Value, Kind: buffer.KindOf(c.sc.Lock.Kind)}
}

func (c *streamedCursor) Next() {
	n := c.compare()
	if n <= 0 {
		c.buffered.Next()
	}
	if n >= 0 {
		c.scOK = c.sc.Next()
	}
}

func (c *streamedCursor) Failed() error { return c.sc.Err() }

func (c *streamedCursor) Close() error {
	if c.snapshot == nil {
		return nil
	}
	err := c.sc.Close()
	if releaseErr := c.s.memory.Snapshots.Release(c.snapshot); err == nil {
		err = releaseErr
	}
	c.snapshot = nil
	return err
}

// streamed returns the write of the key that was streamed out; its kind is zero when there is none.
func (t *Txn) streamed(ctx context.Context, key []byte) (buffer.Write, error) {
	if st := t.stream; st.Failed() == nil && !st.MayHave(key) {
		return buffer.Write{}, nil
	}
	v, err := t.openStreamed(ctx)
	if err != nil {
		return buffer.Write{}, err
	}
	l, value, found, err := v.View.Own(ctx, key, t.reg.startTS)
	if err != nil || !found {
		return buffer.Write{}, err
	}
	return buffer.Of(&l, value), nil
}

// openStreamed returns a snapshot that shows all that was streamed out. Resolvers that took the
// transaction for dead may have removed some of it, which must not read as if it had not been
// written. The primary is removed first, so as long as its lock is there, all the others are.
func (t *Txn) openStreamed(ctx context.Context) (*hints.Snapshot, error) {
	st := t.stream
	if err := st.Failed(); err != nil {
		return nil, err
	}
	v, err := t.open()
	if err != nil || v == st.whole {
		return v, err
	}
	_, _, found, err := v.View.Own(ctx, st.Primary(), t.reg.startTS)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, st.Lost()
	}
	st.whole = v
	return v, nil
}
