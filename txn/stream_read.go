package txn

import (
	"bytes"
	"context"
	"errors"

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
	c := &streamedCursor{t: t, ctx: ctx, span: span, out: t.stream.out, buffered: buffered,
		reverse: reverse}
	if err := c.open(); err != nil {
		return nil, err
	}
	c.advance()
	return c, nil
}

// streamedCursor merges the buffered writes over those that were streamed out before. It has a
// snapshot of its own, which does not show what is streamed out later.
type streamedCursor struct {
	t        *Txn
	ctx      context.Context
	span     kv.Span        // what is left of it for sc
	out      int            // of the stream when the cursor was opened
	buffered *buffer.Cursor // nil without any
	sc       *mvcc.OwnScanner
	scOK     bool
	snapshot *hints.Snapshot
	reverse  bool
	failed   error // why there is no sc
}

func (c *streamedCursor) open() error {
	for {
		v, err := c.t.openStreamed(c.ctx)
		if err != nil {
			return err
		}
		sc, err := v.View.ScanOwn(c.ctx, c.span, c.t.reg.startTS, c.reverse)
		if c.t.lost(err) {
			continue
		} else if err != nil {
			return err
		}
		v.Retain()
		c.sc, c.snapshot = sc, v
		return nil
	}
}

// advance moves sc. When its snapshot is gone it goes on in a new one, which shows the same unless
// more was streamed out meanwhile.
func (c *streamedCursor) advance() {
	for c.scOK = c.sc.Next(); !c.scOK && c.out == c.t.stream.out && c.t.lost(c.sc.Err()); {
		passed, err := c.sc.Passed()
		switch {
		case passed == nil:
		case c.reverse:
			c.span.End = bytes.Clone(passed)
		default:
			c.span.Start = kv.Successor(passed)
		}
		if c.failed = errors.Join(err, c.Close()); c.failed == nil {
			c.failed = c.open()
		}
		if c.failed != nil {
			return
		}
		c.scOK = c.sc.Next()
	}
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
		c.advance()
	}
}

func (c *streamedCursor) Failed() error {
	if c.failed != nil {
		return c.failed
	}
	return c.sc.Err()
}

func (c *streamedCursor) Close() error {
	if c.snapshot == nil {
		return nil
	}
	err := c.sc.Close()
	if releaseErr := c.t.s.memory.Snapshots.Release(c.snapshot); err == nil {
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
	for {
		v, err := t.openStreamed(ctx)
		if err != nil {
			return buffer.Write{}, err
		}
		l, value, found, err := v.View.Own(ctx, key, t.reg.startTS)
		switch {
		case t.lost(err):
			continue
		case err != nil || !found:
			return buffer.Write{}, err
		}
		return buffer.Of(&l, value), nil
	}
}

// openStreamed returns a snapshot that shows all that was streamed out. Resolvers that took the
// transaction for dead may have removed some of it, which must not read as if it had not been
// written. The primary is removed first, so as long as its lock is there, all the others are.
func (t *Txn) openStreamed(ctx context.Context) (*hints.Snapshot, error) {
	st := t.stream
	if err := st.Failed(); err != nil {
		return nil, err
	}
	for {
		v, err := t.open()
		if err != nil || v == st.whole {
			return v, err
		}
		_, _, found, err := v.View.Own(ctx, st.Primary(), t.reg.startTS)
		switch {
		case t.lost(err):
			continue
		case err != nil:
			return nil, err
		case !found:
			return nil, st.Lost()
		}
		st.whole = v
		return v, nil
	}
}
