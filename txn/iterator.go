package txn

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/buffer"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
)

// ScanOptions choose the direction of a scan, and whether values are wanted.
type ScanOptions struct {
	Reverse  bool
	KeysOnly bool
	// Unserialized keeps what is read out of the serial order, as [Txn.GetUnserialized] does.
	Unserialized bool
	// Current shows all of the transaction's own writes, also those since Freeze.
	Current bool
}

// Iterator walks the keys of a span as the transaction sees them: what was committed at start_ts,
// and over it the transaction's own writes at the time of Scan. It belongs to the transaction's
// goroutine. Key and Value are valid until Next or Close; reads of the same transaction in between
// do not disturb them.
type Iterator struct {
	t    *Txn
	ctx  context.Context // of the scan; Next has none of its own
	span kv.Span
	opts ScanOptions

	snapshot *hints.Snapshot
	noLocks  bool // the scanner meets none
	sc       *mvcc.Scanner
	own      ownWrites // nil without own writes in the span

	scOK    bool // sc is at a key that was not returned yet
	scTaken bool // its key was returned, or it has none yet: advance before looking at it
	rows    int

	// lastKey is where to go on in a new snapshot: after the last key that sc gave, or, with
	// atKey, at a key that it came to since, which may be locked. There was nothing in between,
	// and no snapshot of the transaction has more.
	lastKey []byte
	atKey   bool

	noted bool // what was read is known to the transaction, or need not be
	ended bool // it was read to its end

	key, value []byte
	err        error
}

// rowsPerCheck is how many keys pass between two checks of the context.
const rowsPerCheck = 256

// Scan opens an iterator over a span of keys. The caller closes it.
func (t *Txn) Scan(ctx context.Context, span kv.Span, opts ScanOptions) (*Iterator, error) {
	if t.done {
		return nil, ErrTxnDone
	}
	if t.aside(span.Start) {
		c, err := t.beside(ctx)
		if err != nil {
			return nil, err
		}
		return c.Scan(ctx, span, opts)
	}
	it := &Iterator{t: t, ctx: ctx, opts: opts, scTaken: true}
	it.noted = t.reads == nil && (t.node == nil || opts.Unserialized)
	it.span = cloneSpan(span)
	if it.span.Empty() {
		return it, nil
	}
	t.ctx = ctx
	var err error
	if it.own, err = t.ownWrites(ctx, it.span, opts); err != nil {
		return nil, err
	}
	if err := it.openScanner(it.span); err != nil {
		if it.own != nil {
			err = errors.Join(err, it.own.Close())
		}
		return nil, err
	}
	return it, nil
}

// cloneSpan returns a span of the same keys, whose ends share their memory with nothing else.
func cloneSpan(span kv.Span) kv.Span {
	n := len(span.Start)
	both := make([]byte, n+len(span.End))
	out := kv.Span{}
	if copy(both, span.Start); span.Start != nil {
		out.Start = both[:n:n]
	}
	if copy(both[n:], span.End); span.End != nil {
		out.End = both[n:]
	}
	return out
}

// openScanner opens a scanner over what is left of the span, in a snapshot in which no pending
// commit concerns it.
func (it *Iterator) openScanner(span kv.Span) error {
	for {
		v, err := it.t.open()
		if err != nil {
			return err
		}
		if len(it.t.pending) > 0 {
			waited, err := it.t.awaitPending(it.ctx,
				func(p *hints.Pending) bool { return p.HasKeyIn(span) })
			if err != nil {
				return err
			}
			if waited {
				continue
			}
		}
		it.noLocks = !v.Locks.In(span)
		sc, err := v.View.Scan(it.ctx, span, mvcc.ScanParams{
			ReadParams: it.t.readParams(v, it.noLocks), Reverse: it.opts.Reverse,
			KeysOnly: it.opts.KeysOnly, Remote: !it.t.s.alone,
		})
		if it.t.lost(err) {
			continue
		} else if err != nil {
			return err
		}
		v.Retain()
		it.snapshot, it.sc = v, sc
		return nil
	}
}

func (it *Iterator) closeScanner() error {
	if it.sc == nil {
		return nil
	}
	err := errors.Join(it.sc.Close(), it.t.s.memory.Snapshots.Release(it.snapshot))
	it.sc, it.snapshot = nil, nil
	return err
}

// Next moves to the next key and reports whether there is one. It comes before the first key too.
func (it *Iterator) Next() bool {
	if it.next() {
		return true
	}
	if it.ended && it.err == nil {
		it.err = it.noteRead()
	}
	return false
}

func (it *Iterator) next() bool {
	if it.err != nil || it.sc == nil {
		return false
	}
	if it.err = it.pass(); it.err != nil {
		return false
	}
	if it.own == nil {
		if it.advance(); !it.scOK {
			it.ended = it.err == nil
			return false
		}
		it.key, it.value = it.sc.Key(), it.sc.Value()
		return true
	}
	return it.merge()
}

// pass counts a key, also one that is not shown, and checks the context now and then.
func (it *Iterator) pass() error {
	if it.rows++; it.rows%rowsPerCheck != 0 {
		return nil
	}
	return it.ctx.Err()
}

// merge returns the lower of the scanner's and the own writes' key (the higher in reverse); at a
// tie the own write hides the committed one.
func (it *Iterator) merge() bool {
	if it.scTaken {
		it.advance()
	}
	for it.err == nil {
		if it.err = it.pass(); it.err != nil {
			return false
		}
		c := it.compare()
		switch {
		case it.own.Failed() != nil:
			it.err = it.own.Failed()
			return false
		case !it.scOK && !it.own.Valid():
			it.ended = true
			return false
		case c < 0:
			// Handed out as it is, so the scanner may move on only at the next call.
			it.key, it.value = it.sc.Key(), it.sc.Value()
			it.scTaken = true
			return true
		default:
			w := it.own.Item()
			it.own.Next()
			if w.Kind == buffer.Undone {
				continue
			}
			if c == 0 {
				it.advance()
			}
			if w.Kind == buffer.Put && it.err == nil {
				it.key, it.value = w.Key, w.Value
				if it.opts.KeysOnly {
					it.value = nil
				}
				return true
			}
		}
	}
	return false
}

// compare orders the scanner's key against the own writes' key in scan direction. A side that is
// at its end comes last.
func (it *Iterator) compare() int {
	switch {
	case !it.scOK:
		return 1
	case !it.own.Valid():
		return -1
	}
	c := bytes.Compare(it.sc.Key(), it.own.Item().Key)
	if it.opts.Reverse {
		return -c
	}
	return c
}

// advance moves the scanner, settling locks on its way.
func (it *Iterator) advance() {
	it.scTaken = false
	var bo lockwait.Backoff
	for {
		if it.scOK = it.sc.Next(); it.scOK {
			if !it.noLocks {
				it.lastKey, it.atKey = append(it.lastKey[:0], it.sc.Key()...), false
			}
			return
		}
		err := it.sc.Err()
		if err == nil {
			return
		}
		it.snapshot.KeepPrivate() // its iterator may have failed
		if it.err = it.t.settleAhead(it.ctx, err, &bo, it.opts.Reverse); it.err != nil {
			return
		}
		var locked *LockedError
		if errors.As(err, &locked) {
			it.lastKey, it.atKey = append(it.lastKey[:0], locked.Key...), true
		} else if it.err = it.resume(); it.err != nil {
			return
		}
		if it.err = it.reopen(); it.err != nil {
			return
		}
	}
}

// resume makes lastKey the key that the scanner has come to, for its snapshot is gone.
func (it *Iterator) resume() error {
	at, err := it.sc.Resume()
	if err != nil || at == nil {
		return err
	}
	order := 1
	if it.lastKey != nil {
		order = bytes.Compare(at, it.lastKey)
	}
	if it.lastKey == nil || (order > 0) != it.opts.Reverse && order != 0 {
		it.lastKey, it.atKey = append(it.lastKey[:0], at...), true
	}
	return nil
}

// reopen continues from lastKey in the transaction's present snapshot. It does not begin where the
// scan did: an engine may have to step over each of the locks that were settled since.
func (it *Iterator) reopen() error {
	if err := it.closeScanner(); err != nil {
		return err
	}
	rest := it.span
	if it.lastKey != nil {
		forward, bound := !it.opts.Reverse, bytes.Clone(it.lastKey)
		if it.atKey != forward { // a bound at the end is exclusive, one at the start is not
			bound = append(bound, 0x00)
		}
		if forward {
			rest.Start = bound
		} else {
			rest.End = bound
		}
	}
	return it.openScanner(rest)
}

// Key returns the present key.
func (it *Iterator) Key() []byte { return it.key }

// Value returns the present value, nil in a scan of keys only.
func (it *Iterator) Value() []byte { return it.value }

// Err returns what ended the iteration early.
func (it *Iterator) Err() error { return it.err }

// Close releases the iterator. It may be repeated.
func (it *Iterator) Close() error {
	err := it.noteRead()
	if err != nil {
		it.t.refused = err
	}
	err = errors.Join(err, it.closeScanner())
	if it.own != nil {
		err = errors.Join(err, it.own.Close())
		it.own = nil
	}
	return err
}

// noteRead notes what the iterator has read for a serializable transaction: all of its span, or as
// far as it came.
func (it *Iterator) noteRead() error {
	if it.noted {
		return nil
	}
	it.noted = true
	s := it.span
	switch {
	case it.ended || it.err != nil:
	case it.key == nil:
		return nil // nothing was asked for
	case it.opts.Reverse:
		s.Start = bytes.Clone(it.key)
	default:
		s.End = kv.Successor(it.key)
	}
	if s.Empty() {
		return nil
	}
	return it.t.noteSpan(s)
}
