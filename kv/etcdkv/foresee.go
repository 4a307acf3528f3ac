package etcdkv

import (
	"bytes"
	"context"
	"sort"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb/kv"
)

// What a step reads of a row depends on the layer above, and is much the same each time. So the
// families in which it read are remembered, and read of all rows in one request before the next
// step runs. The paper delays reads to batch them, and predicts them from what was read before
// (§2.5).

// habits are the families in which rows were read lately.
type habits [256]atomic.Int32

const (
	always     = 1 << 10 // a family in which each row is read
	often      = always / 4
	memory     = 8  // rows after which little of an old habit is left
	cellsAhead = 16 // of a row in a family
)

// note takes in whether a row was read in each of the families.
func (h *habits) note(read *[256]bool) {
	for f := range h {
		old := h[f].Load()
		target := int32(0)
		if read[f] {
			target = always
		}
		if old != target {
			// A lost race loses one row's part of it.
			h[f].Store(old + (target-old)/memory + sign(target-old))
		}
	}
}

func sign(n int32) int32 {
	if n < 0 {
		return -1
	}
	return 1
}

// families are those that a row is likely to be read in.
func (h *habits) families() (out []byte) {
	for f := range h {
		if h[f].Load() >= often {
			out = append(out, byte(f))
		}
	}
	return out
}

// block is what was read ahead of a prefix: all its cells, or the first ones.
type block struct {
	cells []cell
	end   []byte // they are all below it
}

// get returns the value of a key, nil for none; known reports whether the block says so.
func (b *block) get(key []byte) (value []byte, known bool) {
	if bytes.Compare(key, b.end) >= 0 {
		return nil, false
	}
	n := sort.Search(len(b.cells), func(i int) bool {
		return bytes.Compare(b.cells[i].key, key) >= 0
	})
	if n < len(b.cells) && bytes.Equal(b.cells[n].key, key) {
		return b.cells[n].value, true
	}
	return nil, true
}

// ahead is what a reader knows before it is asked, by prefix.
type ahead map[string]*block

// of returns the block of the prefix of a key, or nil.
func (a ahead) of(key []byte) *block { return a[string(kv.Prefix(key))] }

// readAhead reads rows in some families, at the revision of the reader.
func (r *reader) readAhead(ctx context.Context, rows [][]byte, families []byte) (ahead, error) {
	out := ahead{}
	var prefixes [][]byte
	var ops []clientv3.Op
	flush := func() error {
		if len(ops) == 0 {
			return nil
		}
		got, err := r.e.getAll(ctx, ops)
		if err != nil {
			return err
		}
		if r.rev == 0 {
			r.rev = got.Header.Revision
		}
		for i, prefix := range prefixes {
			b := &block{cells: r.e.cells(got.Responses[i].GetResponseRange().Kvs)}
			if b.end = kv.PrefixEnd(prefix); len(b.cells) == cellsAhead {
				b.end = kv.Successor(b.cells[cellsAhead-1].key)
			}
			out[string(prefix)] = b
		}
		prefixes, ops = prefixes[:0], ops[:0]
		return nil
	}
	for _, row := range rows {
		for _, f := range families {
			prefix := append([]byte{f}, row...)
			if end := kv.PrefixEnd(prefix); end != nil && bytes.Equal(kv.Prefix(prefix), prefix) {
				prefixes = append(prefixes, prefix)
				ops = append(ops, clientv3.OpGet(r.e.names.cell(prefix),
					clientv3.WithRange(r.e.names.end(end)), clientv3.WithLimit(cellsAhead),
					clientv3.WithRev(r.rev)))
			}
			if len(ops) == r.e.o.MaxOps {
				if err := flush(); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, flush()
}
