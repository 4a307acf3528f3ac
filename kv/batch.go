package kv

import "bytes"

// Batch collects the writes of one Update. Keys and values given in are copied. The zero Batch is
// empty and ready.
type Batch struct {
	buf []byte
	ops []op
}

// op points into buf: the key at [key, val), the value at [val, end).
type op struct {
	key, val, end int
	del           bool
}

// Set maps key to value.
func (b *Batch) Set(key, value []byte) {
	at := len(b.buf)
	b.buf = append(b.buf, key...)
	val := len(b.buf)
	b.buf = append(b.buf, value...)
	b.ops = append(b.ops, op{key: at, val: val, end: len(b.buf)})
}

// Delete removes key; absent keys are no error.
func (b *Batch) Delete(key []byte) {
	at := len(b.buf)
	b.buf = append(b.buf, key...)
	b.ops = append(b.ops, op{key: at, val: len(b.buf), end: len(b.buf), del: true})
}

// Len returns the number of writes.
func (b *Batch) Len() int { return len(b.ops) }

// Empty reports whether there is nothing to write.
func (b *Batch) Empty() bool { return len(b.ops) == 0 }

// Bytes returns the size of all keys and values.
func (b *Batch) Bytes() int { return len(b.buf) }

// Op returns the i-th write in the order in which they were made. The slices are valid until the
// batch is reset.
func (b *Batch) Op(i int) (key, value []byte, deleted bool) {
	o := b.ops[i]
	return b.buf[o.key:o.val:o.val], b.buf[o.val:o.end:o.end], o.del
}

// CheckRows returns ErrForeignRow, marked as not applied, when the batch writes a row that is not
// one of rows (kv I6).
func (b *Batch) CheckRows(rows [][]byte) error {
	at := 0 // writes come in the order of the rows, mostly
	var all map[string]struct{}
	for i := range b.ops {
		row := Row(b.buf[b.ops[i].key:b.ops[i].val])
		for n := 0; ; n++ {
			if at < len(rows) && bytes.Equal(rows[at], row) {
				break
			}
			if n == rowsNear || n > len(rows) {
				if all == nil {
					all = nameSet(rows)
				}
				if _, named := all[string(row)]; !named {
					return NotApplied(ErrForeignRow)
				}
				break
			}
			if at++; at >= len(rows) {
				at = 0
			}
		}
	}
	return nil
}

// rowsNear is how many rows are compared with one of a batch before all are put into a set.
const rowsNear = 16

func nameSet(rows [][]byte) map[string]struct{} {
	set := make(map[string]struct{}, len(rows))
	for _, r := range rows {
		set[string(r)] = struct{}{}
	}
	return set
}

// maxKept bounds what a reused batch keeps of its buffers.
const maxKept = 1 << 20

// Reset empties the batch and keeps its memory when it is small.
func (b *Batch) Reset() {
	if cap(b.buf) > maxKept {
		*b = Batch{}
		return
	}
	b.buf, b.ops = b.buf[:0], b.ops[:0]
}
