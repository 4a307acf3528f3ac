package catalog

import (
	"bytes"
	"slices"

	"github.com/minidb/minidb/txn"
)

// backfillBatch is how many bytes of entries Backfill sorts at a time.
const backfillBatch = 8 << 20

// entryBatch collects the entries of a new index, to write them in the order of their keys: the
// transaction appends such to what it holds, where it would have to search for a place for each
// entry in the order of the rows. The batches of a GIN index, with many entries for a row, each
// span all of the index.
type entryBatch struct {
	bytes   []byte // keys and values
	entries []batchedEntry
}

// batchedEntry is where in the bytes of a batch a key begins, its value, and the next key.
type batchedEntry struct{ key, value, end int }

func (b *entryBatch) full() bool { return len(b.bytes) >= backfillBatch }

// add copies an entry into the batch.
func (b *entryBatch) add(key, value []byte) {
	e := batchedEntry{key: len(b.bytes)}
	b.bytes = append(b.bytes, key...)
	e.value = len(b.bytes)
	b.bytes = append(b.bytes, value...)
	e.end = len(b.bytes)
	b.entries = append(b.entries, e)
}

func (b *entryBatch) key(e batchedEntry) []byte { return b.bytes[e.key:e.value] }

// write sets the entries in tx and empties the batch.
func (b *entryBatch) write(tx *txn.Txn) error {
	slices.SortFunc(b.entries, func(x, y batchedEntry) int {
		return bytes.Compare(b.key(x), b.key(y))
	})
	for _, e := range b.entries {
		if err := tx.Set(b.key(e), b.bytes[e.value:e.end]); err != nil {
			return err
		}
	}
	b.bytes, b.entries = b.bytes[:0], b.entries[:0]
	return nil
}
