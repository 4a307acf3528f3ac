package largeobject

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// Handle is an object that a transaction has opened, and a position in it. A handle for writing
// shows the object as the running statement sees it; one for reading alone as it was when it was
// opened (I2).
type Handle struct {
	objects  *Objects
	id       ID
	writable bool
	offset   int64
	at       tso.Timestamp     // of what a handle for reading alone shows
	kept     map[uint32][]byte // pages that the transaction has changed since; nil: there was none
	counted  int64             // of kept, in the account
}

// Open opens an object, which exists.
func (o *Objects) Open(id ID, writable bool) *Handle {
	h := &Handle{objects: o, id: id, writable: writable}
	if !writable {
		h.at = max(o.tx.ReadTS(), o.atLeast[id])
		h.Reopen()
	}
	return h
}

// Close ends the handle, which Reopen may take back. It may be called twice.
func (h *Handle) Close() {
	o := h.objects
	if h.writable || len(h.kept) > 0 {
		return // Reopen needs the copies; Objects.Close ends it
	}
	o.readers[h.id] = slices.DeleteFunc(o.readers[h.id], func(r *Handle) bool { return r == h })
	if len(o.readers[h.id]) == 0 {
		delete(o.readers, h.id)
	}
}

// Reopen takes back Close. Requires: the object was not changed in between, but for what was undone
// to a savepoint.
func (h *Handle) Reopen() {
	o := h.objects
	if h.writable || slices.Contains(o.readers[h.id], h) {
		return
	}
	if o.readers == nil {
		o.readers = map[ID][]*Handle{}
	}
	o.readers[h.id] = append(o.readers[h.id], h)
}

// ID returns the object's ID.
func (h *Handle) ID() ID { return h.id }

// Writable reports whether the handle is for writing.
func (h *Handle) Writable() bool { return h.writable }

// Offset returns the position.
func (h *Handle) Offset() int64 { return h.offset }

// SetOffset returns to an earlier position.
func (h *Handle) SetOffset(at int64) { h.offset = at }

// shown makes the transaction read what the handle shows, until the function that it returns is
// called.
func (h *Handle) shown() func() {
	if h.writable {
		return h.objects.present(h.id)
	}
	before := h.objects.tx.ReadAt(h.at)
	return func() { h.objects.tx.ReadAt(before) }
}

// Seek moves the position and returns it; 22023 for one that no object has. whence is one of io's
// constants.
func (h *Handle) Seek(ctx context.Context, offset int64, whence int) (int64, error) {
	to := offset
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		to += h.offset
	case io.SeekEnd:
		size, err := h.Size(ctx)
		if err != nil {
			return 0, err
		}
		to += size
	default:
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid whence setting: %d",
			whence)
	}
	if to < 0 || to > MaxBytes {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid large object seek target: %d",
			to)
	}
	h.offset = to
	return to, nil
}

// Size returns the object's length.
func (h *Handle) Size(ctx context.Context) (size int64, err error) {
	defer h.shown()()
	for page, data := range h.kept {
		if data != nil {
			size = max(size, int64(page)*PageBytes+int64(len(data)))
		}
	}
	o := h.objects
	it, err := o.tx.Scan(ctx, pagesSpan(o.db, h.id, 0),
		txn.ScanOptions{Current: true, Reverse: true})
	if err != nil {
		return 0, err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		k, _ := DecodeKey(it.Key())
		if _, changed := h.kept[k.Page]; changed {
			continue
		}
		return max(size, int64(k.Page)*PageBytes+int64(len(it.Value()))), nil
	}
	return size, it.Err()
}

// Read reads from the position on, and moves it behind what was read. n is less than len(p) only at
// the end of the object.
func (h *Handle) Read(ctx context.Context, p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	at := h.offset
	err = h.pages(ctx, uint32(at/PageBytes), uint32((at+int64(len(p))-1)/PageBytes),
		func(page uint32, data []byte) {
			if gap := int64(page)*PageBytes - at; gap > 0 { // a hole
				gap = min(gap, int64(len(p)-n))
				clear(p[n : n+int(gap)])
				n, at = n+int(gap), at+gap
			}
			if from := at - int64(page)*PageBytes; from >= 0 && from < int64(len(data)) {
				m := copy(p[n:], data[from:])
				n, at = n+m, at+int64(m)
			}
		})
	if err != nil {
		return 0, err
	}
	if n < len(p) { // at the end of the object, or in a hole
		size, err := h.Size(ctx)
		if err != nil {
			return 0, err
		}
		gap := max(0, min(size-at, int64(len(p)-n)))
		clear(p[n : n+int(gap)])
		n, at = n+int(gap), at+gap
	}
	h.offset = at
	return n, nil
}

// pages calls visit with the pages that there are between two, in order. data is valid during the
// call.
func (h *Handle) pages(ctx context.Context, from, to uint32,
	visit func(page uint32, data []byte)) error {
	defer h.shown()()
	o := h.objects
	it, err := o.tx.Scan(ctx, kv.Span{Start: pageKey(o.db, h.id, from),
		End: pageKey(o.db, h.id, to+1)}, txn.ScanOptions{Current: true})
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	kept := h.keptBetween(from, to)
	for it.Next() {
		k, _ := DecodeKey(it.Key())
		for len(kept) > 0 && kept[0] < k.Page {
			h.visitKept(kept[0], visit)
			kept = kept[1:]
		}
		if len(kept) > 0 && kept[0] == k.Page {
			continue // its turn comes before the next page
		}
		visit(k.Page, it.Value())
	}
	for _, page := range kept {
		h.visitKept(page, visit)
	}
	return it.Err()
}

func (h *Handle) visitKept(page uint32, visit func(page uint32, data []byte)) {
	if data := h.kept[page]; data != nil {
		visit(page, data)
	}
}

// keptBetween lists the kept pages between two, in order.
func (h *Handle) keptBetween(from, to uint32) (out []uint32) {
	for page := range h.kept {
		if page >= from && page <= to {
			out = append(out, page)
		}
	}
	slices.Sort(out)
	return out
}

// keptBytes is about what a kept page takes beside its bytes.
const keptBytes = 64

// keep copies a page as the handle shows it, unless it has a copy.
func (h *Handle) keep(ctx context.Context, page uint32) error {
	if _, done := h.kept[page]; done {
		return nil
	}
	h.counted += PageBytes + keptBytes
	if err := h.objects.account.Grow(PageBytes + keptBytes); err != nil {
		return err
	}
	if h.kept == nil {
		h.kept = map[uint32][]byte{}
	}
	h.kept[page] = nil
	defer h.shown()()
	o := h.objects
	it, err := o.tx.Scan(ctx, table.PointSpan(pageKey(o.db, h.id, page)),
		txn.ScanOptions{Current: true})
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	if it.Next() {
		h.kept[page] = append(make([]byte, 0, len(it.Value())), it.Value()...)
	}
	return it.Err()
}

// Write writes at the position and moves it behind what was written. What lies between the end of
// the object and the position becomes zeros. 22023 beyond MaxBytes.
func (h *Handle) Write(ctx context.Context, p []byte) error {
	if h.offset+int64(len(p)) > MaxBytes {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"invalid large object write request size: %d", len(p))
	}
	if len(p) == 0 {
		return nil
	}
	return h.objects.change(ctx, h.id, func(*Record) error {
		for len(p) > 0 {
			n, err := h.writePage(ctx, p)
			if err != nil {
				return err
			}
			p = p[n:]
			h.offset += int64(n)
		}
		return nil
	})
}

// writePage writes the beginning of p into the page of the position, and returns how much.
func (h *Handle) writePage(ctx context.Context, p []byte) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	page, from := uint32(h.offset/PageBytes), int(h.offset%PageBytes)
	n = min(len(p), PageBytes-from)
	if n == PageBytes {
		return n, h.objects.setPage(ctx, h.id, page, p[:n])
	}
	data, err := h.page(ctx, page)
	if err != nil {
		return 0, err
	}
	data = extended(data, from+n)
	copy(data[from:], p[:n])
	return n, h.objects.setPage(ctx, h.id, page, data)
}

// page returns a copy of a page as it is now; nil when there is none.
func (h *Handle) page(ctx context.Context, page uint32) ([]byte, error) {
	b, err := h.objects.tx.GetCurrent(ctx, pageKey(h.objects.db, h.id, page))
	return bytes.Clone(b), err
}

// extended returns data with zeros up to a length.
func extended(data []byte, n int) []byte {
	if n <= len(data) {
		return data
	}
	return append(data, make([]byte, n-len(data))...)
}

// Truncate makes the object end at a length, shorter or longer than it was; 22023 for one that no
// object has. The position stays.
func (h *Handle) Truncate(ctx context.Context, length int64) error {
	if length < 0 || length > MaxBytes {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"invalid large object truncation target: %d", length)
	}
	return h.objects.change(ctx, h.id, func(*Record) error {
		page, end := uint32(length/PageBytes), int(length%PageBytes)
		data, err := h.page(ctx, page)
		if err != nil {
			return err
		}
		if err := h.objects.setPage(ctx, h.id, page, extended(data, end)[:end]); err != nil {
			return err
		}
		return h.objects.removePages(ctx, h.id, page+1)
	})
}
