package pebblekv

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// tableIter is a cursor over the entries of a table file: by key, and of one key the newest first.
// Its functions close over Pebble's type of an entry, which has no exported name. Those that move
// report whether the cursor is on an entry; if not, err is nil at the end and otherwise the
// failure.
type tableIter struct {
	seekGE, seekLT func(key []byte) bool
	next, prev     func() bool
	// entry and value are valid until the cursor moves.
	entry      func() pebble.InternalKey
	value      func() ([]byte, error)
	err, close func() error
}

func (t *tableReader) iter(ctx context.Context) (*tableIter, error) {
	it, err := t.r.NewPointIter(ctx, sstable.IterOptions{
		FilterBlockSizeLimit: sstable.NeverUseFilterBlock,
		ReaderProvider:       sstable.MakeTrivialReaderProvider(t.r),
		BlobContext:          sstable.AssertNoBlobHandles,
	})
	if err != nil {
		return nil, mark(err)
	}
	at := it.First()
	var buf []byte
	return &tableIter{
		seekGE: func(key []byte) bool { at = it.SeekGE(key, 0); return at != nil },
		seekLT: func(key []byte) bool {
			if key == nil {
				at = it.Last()
			} else {
				at = it.SeekLT(key, 0)
			}
			return at != nil
		},
		next:  func() bool { at = it.Next(); return at != nil },
		prev:  func() bool { at = it.Prev(); return at != nil },
		entry: func() pebble.InternalKey { return at.K },
		value: func() ([]byte, error) {
			value, owned, err := at.Value(buf)
			if owned {
				buf = value[:0]
			}
			return value, mark(err)
		},
		err:   func() error { return mark(it.Error()) },
		close: func() error { return mark(it.Close()) },
	}, nil
}
