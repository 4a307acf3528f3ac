package catalog

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// Bounds of a batch of keys that foreign keys refer to.
const (
	keysPerBatch  = 4096
	batchKeyBytes = 1 << 20
)

// stepsPerKey is how many keys of the referenced index are stepped over for each one that is looked
// for: a look-up costs about as much.
const stepsPerKey = 8

// referred gathers the keys of a unique index to which rows refer, and finds out whether all of
// them exist: in batches, each in the order of the index, which is read side by side with it.
type referred struct {
	tx      *txn.Txn
	keys    [][]byte
	bytes   int
	missing bool
}

// add adds a key, which may come several times. Once one was missing nothing more is looked for.
func (r *referred) add(ctx context.Context, key []byte) error {
	if n := len(r.keys); r.missing || n > 0 && bytes.Equal(r.keys[n-1], key) {
		return nil
	}
	r.keys = append(r.keys, key)
	if r.bytes += len(key); len(r.keys) < keysPerBatch && r.bytes < batchKeyBytes {
		return nil
	}
	return r.flush(ctx)
}

// flush looks for the keys of the batch.
func (r *referred) flush(ctx context.Context) error {
	keys := r.keys
	r.keys, r.bytes = r.keys[:0], 0
	if len(keys) == 0 || r.missing {
		return nil
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	rest, err := r.walk(ctx, keys)
	for _, key := range rest {
		if err != nil || r.missing {
			return err
		}
		var found bool
		found, err = table.HasKey(ctx, r.tx, key)
		r.missing = r.missing || !found
	}
	return err
}

// walk reads the index beside the keys, and returns those that are left when too much of it lies
// between them.
func (r *referred) walk(ctx context.Context, keys [][]byte) (rest [][]byte, err error) {
	span := kv.Span{Start: keys[0], End: append(bytes.Clone(keys[len(keys)-1]), 0)}
	it, err := r.tx.Scan(ctx, span, txn.ScanOptions{KeysOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	more := it.Next()
	for steps := 1; len(keys) > 0; {
		if !more {
			r.missing = it.Err() == nil
			return nil, it.Err()
		}
		switch order := bytes.Compare(it.Key(), keys[0]); {
		case order > 0:
			r.missing = true
			return nil, nil
		case order == 0:
			keys = keys[1:]
			steps -= stepsPerKey
		case steps > stepsPerKey*stepsPerKey:
			return keys, nil
		}
		if len(keys) > 0 {
			more = it.Next()
			steps++
		}
	}
	return nil, nil
}
