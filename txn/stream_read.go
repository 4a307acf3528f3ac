package txn

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
)

func (c *cursor) valid() bool   { return c.ok }
func (c *cursor) item() write   { return c.it.Item() }
func (c *cursor) failed() error { return nil }
func (c *cursor) close() error  { return nil }

// ownWrites returns nil when there are none in the span.
func (t *Txn) ownWrites(ctx context.Context, span kv.Span, reverse bool) (ownWrites, error) {
	buffered := t.buf.cursor(span, reverse)
	if t.stream == nil {
		if buffered == nil {
			return nil, nil
		}
		return buffered, nil
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
	buffered *cursor // nil without any
	s        *Store
	sc       *mvcc.OwnScanner
	scOK     bool
	snapshot *hints.Snapshot
	reverse  bool
}

func (c *streamedCursor) inBuffer() bool { return c.buffered != nil && c.buffered.ok }

func (c *streamedCursor) valid() bool { return c.inBuffer() || c.scOK }

// compare orders the buffered key against the streamed one in the direction of the scan.
func (c *streamedCursor) compare() int {
	switch {
	case !c.inBuffer():
		return 1
	case !c.scOK:
		return -1
	}
	n := bytes.Compare(c.buffered.item().key, c.sc.Key)
	if c.reverse {
		return -n
	}
	return n
}

func (c *streamedCursor) item() write {
	if c.compare() <= 0 {
		return c.buffered.item()
	}
	return write{key: c.sc.Key, value: c.sc.Value, kind: kindOf(c.sc.Lock.Kind)}
}

func (c *streamedCursor) next() {
	n := c.compare()
	if n <= 0 {
		c.buffered.next()
	}
	if n >= 0 {
		c.scOK = c.sc.Next()
	}
}

func (c *streamedCursor) failed() error { return c.sc.Err() }

func (c *streamedCursor) close() error {
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
func (t *Txn) streamed(ctx context.Context, key []byte) (write, error) {
	if st := t.stream; st.Failed() == nil && !st.MayHave(key) {
		return write{}, nil
	}
	v, err := t.openStreamed(ctx)
	if err != nil {
		return write{}, err
	}
	l, value, found, err := v.View.Own(ctx, key, t.reg.startTS)
	if err != nil || !found {
		return write{}, err
	}
	w := writeOf(&l, value)
	w.held = heldBy(&l)
	return w, nil
}

// heldBy returns what a lock of the transaction is for the next write of its key. Of one with
// notifications the write has to know more.
func heldBy(l *mvcc.Lock) mvcc.Held {
	if l.Notified {
		return mvcc.HeldUnknown
	}
	if l.Kind == mvcc.KindPut && !l.HasShort {
		return mvcc.HeldLong
	}
	return mvcc.HeldShort
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
