package clone

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/pages"
)

// verify compares the target with the source, in two ways. What a reader at the timestamp sees is
// read by the source's transaction on the one side and by a scan of the newest versions on the
// other, neither of which the copy has used (compareLive). What a reader of the past sees, and the
// notifications, are compared cell by cell (comparePast).
func (c *copying) verify(ctx context.Context) error {
	found := &differences{report: c.o.Differs}
	if err := c.compareLive(ctx, found); err != nil {
		return fmt.Errorf("verify the copy: %w", err)
	}
	for _, p := range []Phase{Versions, Notifications} {
		if err := c.comparePast(ctx, p, found); err != nil {
			return fmt.Errorf("verify the history of the copy: %w", err)
		}
	}
	if found.n > 0 {
		return ErrDiffers
	}
	return nil
}

// differences counts what it is given, and passes it on.
type differences struct {
	n      int
	report func(Difference)
}

func (d *differences) add(first, last []byte, what string) {
	d.n++
	if d.report != nil {
		d.report(Difference{What: what,
			Span: kv.Span{Start: bytes.Clone(first), End: kv.Successor(last)}})
	}
}

const (
	// comparedKeys and comparedBytes bound what is compared at a time.
	comparedKeys  = 8192
	comparedBytes = 4 << 20
)

// compareLive compares the keys that have a value at the timestamp, a run of them at a time by
// their digests. What lies in spans that were dropped as a whole by then may be gone from either
// side.
func (c *copying) compareLive(ctx context.Context, found *differences) error {
	dropped, err := c.tx.Dropped(ctx)
	if err != nil {
		return err
	}
	gone := func(key []byte) bool {
		return slices.ContainsFunc(dropped, func(s kv.Span) bool { return s.Contains(key) })
	}
	all := sha256.New()
	cells := Progress{Phase: Verification}
	for span := (kv.Span{}); ; {
		if err := c.held(c.hold.Renew(ctx)); err != nil {
			return err
		}
		want, next, err := c.sourceRun(ctx, span, gone, all)
		if err != nil {
			return err
		}
		run := kv.Span{Start: span.Start, End: next}
		have := newRun(nil, false)
		if err := c.targetRun(ctx, run, gone, have); err != nil {
			return err
		}
		if want.keys != have.keys || !bytes.Equal(want.sum(), have.sum()) {
			if err := c.nameLive(ctx, run, gone, found); err != nil {
				return err
			}
		}
		c.keys += want.keys
		cells.Cells, cells.Bytes = c.keys, cells.Bytes+want.bytes
		if err := c.reportCompared(ctx, cells, next); err != nil {
			return err
		}
		if next == nil {
			all.Sum(c.digest[:0])
			return nil
		}
		span.Start = next
	}
}

// reportCompared reports how far compareLive is.
func (c *copying) reportCompared(ctx context.Context, p Progress, next []byte) error {
	if c.o.Progress == nil {
		return nil
	}
	span := mvcc.VersionSpan(kv.Span{})
	total, err := kv.SizeOf(ctx, c.source, span)
	if err != nil {
		return err
	}
	raw := next
	if next != nil {
		raw = append(bytes.Clone(span.Start), mvcc.Row(next)...)
	}
	return c.report(ctx, p, span, raw, total)
}

// run is the keys of a span with their values: counted and digested, and kept if that is asked for.
type run struct {
	keys, bytes int64
	digest      hash.Hash
	also        hash.Hash // or nil
	keep        bool
	pairs       []pages.Cell
}

func newRun(also hash.Hash, keep bool) *run {
	return &run{digest: sha256.New(), also: also, keep: keep}
}

func (r *run) sum() []byte { return r.digest.Sum(nil) }

func (r *run) add(key, value []byte) {
	r.keys++
	r.bytes += int64(len(key) + len(value))
	if r.keep {
		r.pairs = append(r.pairs, pages.Cell{Key: bytes.Clone(key), Value: bytes.Clone(value)})
	}
	for _, h := range []hash.Hash{r.digest, r.also} {
		if h == nil {
			continue
		}
		for _, b := range [][]byte{key, value} {
			var n [8]byte
			binary.BigEndian.PutUint64(n[:], uint64(len(b)))
			h.Write(n[:])
			h.Write(b)
		}
	}
}

// sourceRun reads the next keys of a span out of the source, and returns the key to go on from, nil
// at the end.
func (c *copying) sourceRun(ctx context.Context, span kv.Span, gone func([]byte) bool,
	all hash.Hash) (r *run, next []byte, err error) {
	r = newRun(all, false)
	err = c.readSource(ctx, span, gone, func(key, value []byte) bool {
		if r.keys == comparedKeys || r.bytes >= comparedBytes {
			next = bytes.Clone(key)
			return false
		}
		r.add(key, value)
		return true
	})
	return r, next, err
}

// readSource calls visit with the live keys of a span in the source, until it returns false.
func (c *copying) readSource(ctx context.Context, span kv.Span, gone func([]byte) bool,
	visit func(key, value []byte) bool) (err error) {
	it, err := c.tx.Scan(ctx, span, txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, it.Close())
		c.tx.Idle()
	}()
	for it.Next() {
		if !gone(it.Key()) && !visit(it.Key(), it.Value()) {
			return nil
		}
	}
	return it.Err()
}

// targetRun reads the live keys of a span out of the target.
func (c *copying) targetRun(ctx context.Context, span kv.Span, gone func([]byte) bool,
	into *run) (err error) {
	snap, err := kv.Latest(c.o.Target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	return mvcc.Committed(snap, false)(ctx, span, false, func(key, value []byte) error {
		if !gone(key) {
			into.add(key, value)
		}
		return nil
	})
}

// nameLive names the keys that differ in a span.
func (c *copying) nameLive(ctx context.Context, span kv.Span, gone func([]byte) bool,
	found *differences) error {
	want, have := newRun(nil, true), newRun(nil, true)
	err := c.readSource(ctx, span, gone, func(key, value []byte) bool {
		want.add(key, value)
		return true
	})
	if err == nil {
		err = c.targetRun(ctx, span, gone, have)
	}
	if err != nil {
		return err
	}
	var first, last []byte
	missing, changed, more := 0, 0, 0
	note := func(key []byte, n *int) {
		if *n++; first == nil {
			first = key
		}
		last = key
	}
	w, h := want.pairs, have.pairs
	for len(w) > 0 || len(h) > 0 {
		switch order := comparePairs(w, h); {
		case order < 0:
			note(w[0].Key, &missing)
			w = w[1:]
		case order > 0:
			note(h[0].Key, &more)
			h = h[1:]
		default:
			if !bytes.Equal(w[0].Value, h[0].Value) {
				note(w[0].Key, &changed)
			}
			w, h = w[1:], h[1:]
		}
	}
	if first != nil {
		found.add(first, last, fmt.Sprintf("of %d keys of the source the copy lacks %d and has "+
			"%d with another value, and %d that the source has not", want.keys, missing, changed,
			more))
	}
	return nil
}

// comparePairs compares the first keys of two lists; one that is at its end is above.
func comparePairs(a, b []pages.Cell) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return bytes.Compare(a[0].Key, b[0].Key)
}
