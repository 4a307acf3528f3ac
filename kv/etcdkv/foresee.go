package etcdkv

import (
	"bytes"
	"context"
	"slices"
	"sort"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/paged"
)

// What a step reads of a row depends on the layer above, and is much the same each time. So the
// families in which it read are remembered, and read of all rows in one request before the next
// step runs. The paper delays reads to batch them, and predicts them from what was read before
// (§2.5).

// habits are the families in which rows were read lately.
type habits [256]atomic.Int32

const (
	always     = 1 << 10     // a family in which each row is read
	often      = always / 64 // a family more costs a few bytes, and one less a request
	fading     = 8           // a row takes away one part of so many of an old habit
	cellsAhead = 16          // of a row in a family
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
			h[f].Store(old + (target-old)/fading + sign(target-old))
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
	cells []paged.Cell
	end   []byte // they are all below it
}

// get returns the value of a key, nil for none; known reports whether the block says so.
func (b *block) get(key []byte) (value []byte, known bool) {
	if bytes.Compare(key, b.end) >= 0 {
		return nil, false
	}
	n := sort.Search(len(b.cells), func(i int) bool {
		return bytes.Compare(b.cells[i].Key, key) >= 0
	})
	if n < len(b.cells) && bytes.Equal(b.cells[n].Key, key) {
		return b.cells[n].Value, true
	}
	return nil, true
}

// ahead is what a reader knows before it is asked, by prefix.
type ahead map[string]*block

// of returns the block of the prefix of a key, or nil.
func (a ahead) of(key []byte) *block { return a[string(kv.Prefix(key))] }

// byRow returns the blocks of rows, by family.
func (a ahead) byRow(rows map[string]*[256]bool) map[string]map[byte]*block {
	out := make(map[string]map[byte]*block, len(rows))
	for row := range rows {
		out[row] = map[byte]*block{}
	}
	for p, b := range a {
		if blocks := out[string(kv.Row([]byte(p)))]; blocks != nil {
			blocks[p[0]] = b
		}
	}
	return out
}

// bytes is what the block holds.
func (b *block) bytes() (n int) {
	for _, c := range b.cells {
		n += len(c.Key) + len(c.Value)
	}
	return n
}

// some is the part of some prefixes.
func (a ahead) some(prefixes [][]byte) ahead {
	out := make(ahead, len(prefixes))
	for _, p := range prefixes {
		out[string(p)] = a[string(p)]
	}
	return out
}

// has reports whether all prefixes were read.
func (a ahead) has(prefixes [][]byte) bool {
	for _, p := range prefixes {
		if a[string(p)] == nil {
			return false
		}
	}
	return true
}

// prefixesOf returns those of rows in some families.
func prefixesOf(rows [][]byte, families []byte) (out [][]byte) {
	for _, row := range rows {
		for _, f := range families {
			prefix := append([]byte{f}, row...)
			if kv.PrefixEnd(prefix) != nil && bytes.Equal(kv.Prefix(prefix), prefix) {
				out = append(out, prefix)
			}
		}
	}
	return out
}

// readAhead reads the first cells of prefixes, at the revision of the reader.
func (r *reader) readAhead(ctx context.Context, prefixes [][]byte) (ahead, error) {
	out, named := ahead{}, map[string]bool{}
	prefixes = slices.DeleteFunc(slices.Clone(prefixes), func(p []byte) bool {
		again := named[string(p)]
		named[string(p)] = true
		return again
	})
	for part := range slices.Chunk(prefixes, r.e.o.MaxOps) {
		got, err := r.askAll(ctx, r.aheadOps(part))
		if err != nil {
			return nil, err
		}
		out.take(r.e, part, got.Responses)
	}
	r.e.memory.noteRead(r.rev, prefixes, out)
	return out, nil
}

// aheadOps are the operations that read the first cells of prefixes.
func (r *reader) aheadOps(prefixes [][]byte) []clientv3.Op {
	ops := make([]clientv3.Op, len(prefixes))
	for i, p := range prefixes {
		ops[i] = r.e.rangeOp(p, kv.PrefixEnd(p), r.rev, cellsAhead)
	}
	return ops
}

// aheadOf takes the answers to aheadOps of prefixes.
func (r *reader) aheadOf(prefixes [][]byte, got []*pb.ResponseOp) ahead {
	out := ahead{}
	out.take(r.e, prefixes, got)
	r.e.memory.noteRead(r.rev, prefixes, out)
	return out
}

// take puts the answers to aheadOps in.
func (a ahead) take(e *Engine, prefixes [][]byte, got []*pb.ResponseOp) {
	for i, p := range prefixes {
		b := &block{cells: e.cells(got[i].GetResponseRange().Kvs), end: kv.PrefixEnd(p)}
		if len(b.cells) == cellsAhead {
			b.end = kv.Successor(b.cells[cellsAhead-1].Key)
		}
		a[string(p)] = b
	}
}

// rangeOp reads the first n cells from start to below end.
func (e *Engine) rangeOp(start, end []byte, rev int64, n int) clientv3.Op {
	return clientv3.OpGet(e.names.cell(start), clientv3.WithRange(e.names.end(end)),
		clientv3.WithLimit(int64(n)), clientv3.WithRev(rev))
}
