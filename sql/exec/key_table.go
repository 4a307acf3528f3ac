package exec

import (
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/table/types"
)

// keyTable numbers distinct keys from 0 up in order of arrival: the groups of an aggregate, the
// keys of a hash join. It is an open-addressing table over keys kept by column. NULL equals NULL
// here; callers for which it must not leave out rows with NULLs.
type keyTable struct {
	keys   *rowStore
	hashes []uint64 // by key number
	slots  []int32  // key number + 1, 0: free
	mask   uint64
	buf    []uint64
	one    [1]int32
	bytes  int64 // counted for hashes and slots
}

func newKeyTable(mem *budget, ts []*types.Type) *keyTable {
	return &keyTable{keys: newRowStore(mem, ts)}
}

// len is the number of distinct keys.
func (t *keyTable) len() int { return len(t.hashes) }

// held is what the table takes, in bytes.
func (t *keyTable) held() int64 { return t.keys.bytes + t.bytes }

// need is how many more bytes count at most while add adds rows sel of cols, all of them new.
func (t *keyTable) need(cols []*types.Vec, sel []int32) int64 {
	n := t.keys.need(cols, sel)
	slots := len(t.slots)
	for 2*(len(t.hashes)+len(sel)) > slots {
		slots = max(16, 2*slots)
		n += int64(slots) * (4 + 8/2)
	}
	return n
}

// reset forgets all keys.
func (t *keyTable) reset() {
	t.keys.reset()
	t.hashes = t.hashes[:0]
	clear(t.slots)
}

// free gives the memory up.
func (t *keyTable) free() {
	t.keys.free()
	t.keys.mem.shrink(t.bytes)
	t.bytes = 0
	t.hashes, t.slots, t.mask = nil, nil, 0
}

// add sets out[k] to the number of the key of row sel[k]. A new key gets the next number.
func (t *keyTable) add(cols []*types.Vec, sel []int32, out []int32) ([]int32, error) {
	out = resizeRows(out, len(sel))
	t.buf = types.HashRows(cols, sel, t.buf)
	for k, i := range sel {
		if 2*(len(t.hashes)+1) > len(t.slots) {
			if err := t.rehash(); err != nil {
				return nil, err
			}
		}
		h := t.buf[k]
		at := h & t.mask
		for {
			s := t.slots[at]
			if s == 0 {
				t.slots[at] = int32(len(t.hashes) + 1)
				out[k] = int32(len(t.hashes))
				t.hashes = append(t.hashes, h)
				t.one[0] = i
				if err := t.keys.add(cols, t.one[:]); err != nil {
					return nil, err
				}
				break
			}
			if t.hashes[s-1] == h && t.equal(cols, int(i), int(s-1)) {
				out[k] = s - 1
				break
			}
			at = (at + 1) & t.mask
		}
	}
	return out, nil
}

// find sets out[k] to the number of the key of row sel[k], or to -1 if it is not in the table.
func (t *keyTable) find(cols []*types.Vec, sel []int32, out []int32) []int32 {
	out = resizeRows(out, len(sel))
	if len(t.hashes) == 0 {
		for k := range out {
			out[k] = -1
		}
		return out
	}
	t.buf = types.HashRows(cols, sel, t.buf)
	for k, i := range sel {
		h := t.buf[k]
		out[k] = -1
		for at := h & t.mask; t.slots[at] != 0; at = (at + 1) & t.mask {
			s := t.slots[at] - 1
			if t.hashes[s] == h && t.equal(cols, int(i), int(s)) {
				out[k] = s
				break
			}
		}
	}
	return out
}

// equal compares row i of cols with key n.
func (t *keyTable) equal(cols []*types.Vec, i, n int) bool {
	if len(cols) == 1 && !cols[0].HasNull && !t.keys.cols[0].HasNull {
		switch c, d := cols[0], t.keys.cols[0]; c.Type.Family.Order() {
		case types.I64:
			return c.I[i] == d.I[n]
		case types.Str:
			return c.S[i] == d.S[n]
		}
	}
	return types.EqualRows(cols, i, t.keys.cols, n)
}

// rehash doubles the slots, of which at most half are taken, and makes room for as many hashes. The
// old arrays live until they are copied, so both are counted meanwhile.
func (t *keyTable) rehash() error {
	n := max(16, 2*len(t.slots))
	old := t.bytes
	more := int64(n) * (4 + 8/2)
	t.bytes += more
	if err := t.keys.mem.grow(more); err != nil {
		return err
	}
	t.hashes = append(make([]uint64, 0, n/2), t.hashes...)
	t.slots, t.mask = make([]int32, n), uint64(n-1)
	for k, h := range t.hashes {
		at := h & t.mask
		for t.slots[at] != 0 {
			at = (at + 1) & t.mask
		}
		t.slots[at] = int32(k + 1)
	}
	t.bytes -= old
	t.keys.mem.shrink(old)
	return nil
}

func resizeRows(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, max(n, 16))
	}
	return s[:n]
}

// evalKeys computes key expressions over a batch.
func (r *run) evalKeys(ps []*eval.Program, b *types.Batch, out []*types.Vec) ([]*types.Vec, error) {
	out = out[:0]
	for _, p := range ps {
		v, err := p.EvalVec(&r.ev, b, b.Sel)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// withoutNulls appends to dst[:0] the rows of sel that have no NULL among cols.
func withoutNulls(cols []*types.Vec, sel, dst []int32) []int32 {
	dst = append(dst[:0], sel...)
	for _, c := range cols {
		if !c.HasNull {
			continue
		}
		keep := dst[:0]
		for _, i := range dst {
			if !c.Nulls[i] {
				keep = append(keep, i)
			}
		}
		dst = keep
	}
	return dst
}
