package table

import (
	"context"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Lookup reads, for each of keys, the rows whose key in ix (nil: the row key) begins with it, and
// appends them to b with the columns out; which gets the index into keys for each row appended, and
// may be nil. Rows come in the order of keys. A key with a NULL finds nothing: this is the equality
// of joins.
func Lookup(ctx context.Context, tx *txn.Txn, d *Desc, ix *Index, out []int, keys [][]types.Datum,
	b *types.Batch, which *[]int32) error {
	l, err := layoutOf(d, ix)
	if err != nil {
		return err
	}
	defer trim(b)
	lk := &lookup{tx: tx, l: l, b: b, which: which}
	if which == nil {
		lk.which = new([]int32)
	}
	if l.index != nil && !Covering(d, ix, out) {
		rows, err := layoutOf(d, nil)
		if err != nil {
			return err
		}
		lk.fetch = &fetcher{tx: tx, rows: rows, dec: rows.decoder(out)}
	} else {
		lk.dec = l.decoder(out)
	}
	if len(keys) > 0 && l.single() && len(keys[0]) == len(l.key) {
		err = lk.points(ctx, keys)
	} else {
		err = lk.prefixes(ctx, keys)
	}
	if err == nil && lk.fetch != nil {
		err = lk.fetch.flush(ctx, l, b, lk.which)
	}
	return err
}

type lookup struct {
	tx    *txn.Txn
	l     *layout
	dec   *decoder
	fetch *fetcher
	b     *types.Batch
	which *[]int32
}

func anyNull(ds []types.Datum) bool {
	return slices.ContainsFunc(ds, func(d types.Datum) bool { return d.Null })
}

func (lk *lookup) encode(dst []byte, key []types.Datum) ([]byte, error) {
	var err error
	dst = append(dst, lk.l.prefix...)
	for i, d := range key {
		if dst, err = lk.l.key[i].append(dst, d); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// points reads whole unique keys with one call.
func (lk *lookup) points(ctx context.Context, keys [][]types.Datum) error {
	var arena []byte
	var ends []int
	var tags []int32
	for i, k := range keys {
		if anyNull(k) {
			continue
		}
		var err error
		if arena, err = lk.encode(arena, k); err != nil {
			return err
		}
		ends, tags = append(ends, len(arena)), append(tags, int32(i))
	}
	enc := make([][]byte, len(ends))
	begin := 0
	for i, end := range ends {
		enc[i] = arena[begin:end]
		begin = end
	}
	values, err := lk.tx.GetMany(ctx, enc)
	if err != nil {
		return err
	}
	for i, v := range values {
		if v != nil {
			if err := lk.take(enc[i], v, tags[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// prefixes reads all entries that begin with a key, with one call.
func (lk *lookup) prefixes(ctx context.Context, keys [][]types.Datum) error {
	spans, tags := make([]kv.Span, 0, len(keys)), make([]int32, 0, len(keys))
	var arena []byte
	for i, k := range keys {
		if anyNull(k) {
			continue
		}
		begin := len(arena)
		var err error
		if arena, err = lk.encode(arena, k); err != nil {
			return err
		}
		spans = append(spans, PrefixSpan(arena[begin:len(arena):len(arena)]))
		tags = append(tags, int32(i))
	}
	return lk.tx.ScanMany(ctx, spans, func(span int, key, value []byte) error {
		return lk.take(key, value, tags[span])
	})
}

func (lk *lookup) take(key, value []byte, tag int32) error {
	rest := key[len(lk.l.prefix):]
	if lk.fetch == nil {
		*lk.which = append(*lk.which, tag)
		return lk.dec.append(lk.b, rest, value)
	}
	rowKey, _, err := lk.l.splitEntry(rest, value)
	if err != nil {
		return err
	}
	lk.fetch.addTagged(rowKey, tag)
	return nil
}

// GetRow reads the row with a whole row key; row gets the columns out. False when there is none.
func GetRow(ctx context.Context, tx *txn.Txn, d *Desc, key []types.Datum, out []int,
	row []types.Datum) (bool, error) {
	l, err := layoutOf(d, nil)
	if err != nil || anyNull(key) {
		return false, err
	}
	var stack [64]byte
	enc := append(stack[:0], l.prefix...)
	for i, k := range key {
		if enc, err = l.key[i].append(enc, k); err != nil {
			return false, err
		}
	}
	value, err := tx.Get(ctx, enc)
	if err != nil || value == nil {
		return false, err
	}
	return true, l.pointDecoder(out).row(enc[len(l.prefix):], value, row)
}

// decoder returns a decoder of the columns out into rows and vectors.
func (l *layout) decoder(out []int) *decoder {
	dec := *l.pointDecoder(out)
	return &dec
}

// pointDecoder is a decoder of rows that several goroutines may use.
type pointDecoder struct {
	out []int
	dec *decoder
}

// pointDecoder returns a decoder of the columns out into rows, that of the last call if it was for
// the same columns: a statement that is run again and again reads the same.
func (l *layout) pointDecoder(out []int) *decoder {
	if last := l.point.Load(); last != nil && slices.Equal(last.out, out) {
		return last.dec
	}
	dec := newDecoder(l, out)
	l.point.Store(&pointDecoder{out: slices.Clone(out), dec: dec})
	return dec
}
