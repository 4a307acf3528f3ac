package pebblekv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/minidb/minidb/kv"
)

// tableFiles opens the table files in a store's directory, beside Pebble and without its cache.
type tableFiles struct {
	fs   vfs.FS
	dir  string
	opts sstable.ReaderOptions
}

func newTableFiles(fs vfs.FS, dir string) *tableFiles {
	popts := pebbleOptions(Options{})
	popts.EnsureDefaults()
	return &tableFiles{fs: fs, dir: dir, opts: popts.MakeReaderOptions()}
}

// tableReader is an open table file.
type tableReader struct {
	f   vfs.File
	r   *sstable.Reader
	bad map[uint64]bool // offsets of blocks that are known to be damaged
}

// open opens a table file. One that cannot be read as such is *kv.CorruptionError.
func (t *tableFiles) open(ctx context.Context, name string) (*tableReader, error) {
	f, err := t.fs.Open(t.fs.PathJoin(t.dir, name))
	if err != nil {
		return nil, err
	}
	simple, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	readable := &readableBut{Readable: simple, bad: map[uint64]bool{}}
	r, err := sstable.NewReader(ctx, readable, t.opts)
	if err != nil {
		closed := readable.Close()
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, closed)
		}
		return nil, errors.Join(damagedTable(name, fmt.Sprintf("it cannot be opened: %v", err),
			kv.Span{}), closed)
	}
	return &tableReader{f: f, r: r, bad: readable.bad}, nil
}

func (t *tableReader) close() error { return t.r.Close() }

// readableBut fails to read the blocks that are known to be damaged. Pebble would find them out
// each time.
type readableBut struct {
	objstorage.Readable
	bad map[uint64]bool
}

func (r *readableBut) ReadAt(ctx context.Context, p []byte, off int64) error {
	if r.bad[uint64(off)] {
		return kv.ErrCorruption
	}
	return r.Readable.ReadAt(ctx, p, off)
}

func (r *readableBut) NewReadHandle(objstorage.ReadBeforeSize) objstorage.ReadHandle {
	h := objstorage.MakeNoopReadHandle(r)
	return &h
}

func damagedTable(file, what string, bound kv.Span) *kv.CorruptionError {
	return &kv.CorruptionError{File: file, What: "this table file of the store is damaged: " + what,
		Bound: bound}
}

// tableBlock is a block of a table file, with its kind in words.
type tableBlock struct {
	block.Handle
	kind    string
	entries bool // entries cannot be read without it
}

// blocks lists all blocks of the file.
func (t *tableReader) blocks() (all []tableBlock, err error) {
	l, err := t.r.Layout()
	if err != nil {
		return nil, err
	}
	add := func(kind string, entries bool, handles ...block.Handle) {
		for _, h := range handles {
			if h.Length > 0 { // others are not there
				all = append(all, tableBlock{h, kind, entries})
			}
		}
	}
	for _, h := range l.Data {
		add("keys", true, h.Handle)
	}
	add("values", true, l.ValueBlock...)
	add("index of values", true, l.ValueIndex)
	add("index", true, l.Index...)
	add("index", true, l.TopIndex)
	for _, h := range l.Filter {
		add("filter", false, h.Handle)
	}
	add("deleted spans", false, l.RangeDel, l.RangeKey)
	add("properties", false, l.Properties, l.MetaIndex, l.BlobReferenceIndex)
	return all, nil
}

// sound reads a block into buf, which grows, and reports whether it has its checksum.
func (t *tableReader) sound(b tableBlock, buf *[]byte) bool {
	n := int(b.Length)
	*buf = slices.Grow((*buf)[:0], n+block.TrailerLen)[:n+block.TrailerLen]
	if _, err := t.f.ReadAt(*buf, int64(b.Offset)); err != nil {
		return false
	}
	if kind := t.r.BlockReader().ChecksumType(); kind != block.ChecksumTypeCRC32c {
		return block.ValidateChecksum(kind, *buf, b.Handle) == nil
	}
	// Pebble's function looks for the bit that was flipped, which takes as long as to read 10⁵
	// blocks.
	return checksum((*buf)[:n+1]) == binary.LittleEndian.Uint32((*buf)[n+1:])
}

// walk visits the keys of the file as kv.Walk does. A key comes once for each of its entries.
// Values are read and not shown.
func (t *tableReader) walk(ctx context.Context, span kv.Span, reverse bool,
	visit func(key, value []byte) error) (err error) {
	it, err := t.iter(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if closed := it.close(); err == nil {
			err = closed
		}
	}()
	seek, from, next := it.seekGE, span.Start, it.next
	if reverse {
		seek, from, next = it.seekLT, span.End, it.prev
	}
	n := 0
	for ok := seek(from); ok; ok = next() {
		key := it.entry().UserKey
		if !span.Contains(key) {
			break
		}
		if _, err := it.value(); err != nil {
			return err
		}
		if err := visit(key, nil); err != nil {
			return err
		}
		if n++; n%entriesPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return it.err()
}

// entriesPerLook is how many entries of a file are read between two looks at the context.
const entriesPerLook = 1024
