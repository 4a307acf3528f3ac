package table

import (
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// decoder turns keys and values of a layout back into the columns that a reader wants, and looks at
// nothing beyond them.
type decoder struct {
	l *layout
	// key and row say for each key column where its value goes, -1 for nowhere. They are cut after
	// the last column wanted.
	key, suffix []int
	values      []wanted // by column ID
	reader      codec.Reader
	same        [][2]int // columns wanted twice: from the first place to the other
}

// wanted is a column to find in the value.
type wanted struct {
	id     ColumnID
	typ    *types.Type
	target int
	// missing is what a value without the column stands for.
	missing types.Datum
	err     error
}

// wholeDecoder prepares reading all columns of the descriptor.
func wholeDecoder(l *layout) *decoder {
	out := make([]int, len(l.desc.Columns))
	for i := range out {
		out[i] = i
	}
	return newDecoder(l, out)
}

// newDecoder prepares reading the columns out.
func newDecoder(l *layout, out []int) *decoder {
	dec := &decoder{l: l}
	var few [32]int // most tables are narrow, and point reads make a decoder each
	at := few[:]    // 1 + target
	if n := len(l.desc.Columns) + len(l.desc.Exprs); n > len(few) {
		at = make([]int, n)
	}
	if n := min(len(out), len(l.stored)); n > 0 {
		dec.values = make([]wanted, 0, n)
	}
	for target, o := range out {
		if at[o] != 0 {
			dec.same = append(dec.same, [2]int{at[o] - 1, target})
			continue
		}
		at[o] = target + 1
	}
	dec.key = claimed(l.key, at)
	if l.index != nil {
		dec.suffix = claimed(l.row, at)
	}
	for _, o := range l.stored {
		if at[o] == 0 {
			continue
		}
		w := wanted{id: l.id(o), typ: l.desc.PartType(o), target: at[o] - 1, missing: types.Null}
		if l.desc.Expr(o) == nil && l.desc.Columns[o].Missing != nil {
			w.missing, w.err = codec.DecodeValue(l.desc.Columns[o].Missing, w.typ)
		}
		dec.values = append(dec.values, w)
		at[o] = 0
	}
	return dec
}

// claimed lists where the exact columns of a key go, and takes them off the list of those wanted.
func claimed(cols []keyColumn, at []int) []int {
	var to []int
	for i, c := range cols {
		if !c.exact || at[c.ordinal] == 0 {
			continue
		}
		for len(to) < i {
			to = append(to, -1)
		}
		to = append(to, at[c.ordinal]-1)
		at[c.ordinal] = 0
	}
	return to
}

// append adds a row to b. rest is the key after its prefix. The vectors may be longer than b
// afterwards, so that most calls need not grow them: the caller trims when it has added all rows.
func (dec *decoder) append(b *types.Batch, rest, value []byte) error {
	n := b.Len
	if len(b.Cols) > 0 && b.Cols[0].Len <= n {
		for _, c := range b.Cols {
			c.Resize(n + 1 + min(n, types.BatchSize))
		}
	}
	b.Len = n + 1
	return dec.decode(rest, value, sink{cols: b.Cols, at: n})
}

// trim cuts the vectors to the length of the batch.
func trim(b *types.Batch) {
	for _, c := range b.Cols {
		c.Resize(b.Len)
	}
}

// row fills row, which has one entry per column wanted. It changes nothing in the decoder.
func (dec *decoder) row(rest, value []byte, row []types.Datum) error {
	return dec.decode(rest, value, sink{row: row})
}

// sink is where decoded values go: entry at of vectors, or a row of datums.
type sink struct {
	cols []*types.Vec
	at   int
	row  []types.Datum
}

func (s *sink) set(target int, d types.Datum) {
	if s.row != nil {
		s.row[target] = d
		return
	}
	s.cols[target].Set(s.at, d)
}

func (dec *decoder) decode(rest, value []byte, to sink) error {
	var err error
	if rest, err = readColumns(rest, dec.l.key, dec.key, &to); err != nil {
		return err
	}
	if dec.l.index != nil && (len(dec.suffix) > 0 || len(dec.values) > 0) {
		for i := len(dec.key); i < len(dec.l.key); i++ {
			if rest, err = dec.l.key[i].skip(rest); err != nil {
				return err
			}
		}
		if rest, value, err = dec.l.splitAfterKey(rest, value); err != nil {
			return err
		}
		if _, err = readColumns(rest, dec.l.row, dec.suffix, &to); err != nil {
			return err
		}
	}
	if err := dec.readValue(value, &to); err != nil {
		return err
	}
	for _, s := range dec.same {
		if to.row != nil {
			to.row[s[1]] = to.row[s[0]]
		} else {
			to.cols[s[1]].Set(to.at, to.cols[s[0]].Get(to.at))
		}
	}
	return nil
}

func readColumns(b []byte, cols []keyColumn, targets []int, to *sink) (rest []byte, err error) {
	for i, target := range targets {
		if target < 0 {
			if b, err = cols[i].skip(b); err != nil {
				return nil, err
			}
			continue
		}
		var d types.Datum
		if d, b, err = cols[i].read(b); err != nil {
			return nil, err
		}
		to.set(target, d)
	}
	return b, nil
}

// field decodes a field of the value, into a vector without a datum in between.
func (s *sink) field(w *wanted, field []byte, r *codec.Reader) error {
	if s.row == nil {
		return r.Into(field, s.cols[w.target], s.at)
	}
	d, err := codec.DecodeValue(field, w.typ)
	if err == nil {
		s.row[w.target] = d
	}
	return err
}

// readValue merges the columns wanted with those of the value, both in order of column ID.
func (dec *decoder) readValue(value []byte, to *sink) error {
	if len(dec.values) == 0 {
		return nil
	}
	var id uint32
	var field []byte
	var err error
	have := false
	for i := range dec.values {
		w := &dec.values[i]
		for (!have || ColumnID(id) < w.id) && len(value) > 0 {
			if id, field, value, err = codec.NextColumn(value); err != nil {
				return err
			}
			have = true
		}
		if !have || ColumnID(id) != w.id {
			if w.err != nil {
				return fmt.Errorf("table %q: default of old rows: %w: %w", dec.l.desc.Name,
					kv.ErrCorruption, w.err)
			}
			to.set(w.target, w.missing)
			continue
		}
		if err := to.field(w, field, &dec.reader); err != nil {
			return err
		}
	}
	return nil
}
