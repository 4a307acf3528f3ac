package commit

import (
	"encoding/binary"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/secondaries"
)

// batch is what one update prewrites or commits.
type batch = secondaries.Batch

// oneBatch reports whether the commit is no more than one batch. A larger one takes two phases: in
// one phase it would keep others waiting for the latches of all its rows at once.
func (c *committer) oneBatch() bool {
	rows := len(c.Muts)
	for i := range c.validate {
		if c.validate[i].Row != nil {
			rows++
		}
	}
	if rows > c.o.Limits.Rows || len(c.Muts) > 1 && c.Bytes > c.o.BatchBytes {
		return false
	}
	if !c.limited() {
		return true
	}
	all := c.room()
	for i := range c.Muts {
		all.add(&c.Muts[i])
	}
	return len(c.Muts) == 1 || all.within(c.o.Limits)
}

// limited reports whether an update is bounded by more than its rows.
func (c *committer) limited() bool { return c.o.Limits.Ops != 0 || c.o.Limits.Bytes != 0 }

// room is what mutations write at most, in any update of the commit.
type room struct {
	primary    []byte
	locks      int // row locks that a prewrite may remove, of each row
	ops, bytes int
}

func (c *committer) room() room {
	r := room{primary: c.Muts[0].Key} // as long as a stream has none
	if len(c.first()) > 0 {
		r.primary = c.primary()
	}
	if c.tx.Protocol == Async {
		r.bytes = asyncBytesMax + asyncKeysMax*binary.MaxVarintLen16 // in the primary's lock
	}
	if c.tx.RowLocks.Mark() > 0 {
		r.locks = int(rowlock.Update)
	}
	return r
}

func (r *room) add(m *mvcc.Mutation) {
	ops, bytes := mvcc.MostWritten(m, r.primary)
	r.ops, r.bytes = r.ops+ops+r.locks, r.bytes+bytes+r.locks*mvcc.CellKeyBytes(m.Row)
}

// within leaves the rows to the caller.
func (r *room) within(l kv.Limits) bool {
	return l.Holds(0, r.ops, r.bytes)
}

func (c *committer) oneGroup() bool {
	if _, grouped := c.o.Engine.(kv.Grouped); !grouped {
		return true
	}
	first := kv.GroupOf(c.o.Engine, c.Muts[0].Row)
	for i := range c.Muts[1:] {
		if kv.GroupOf(c.o.Engine, c.Muts[i+1].Row) != first {
			return false
		}
	}
	for _, v := range c.validate {
		if v.Row != nil && kv.GroupOf(c.o.Engine, v.Row) != first {
			return false
		}
	}
	return true
}

// batches cuts the mutations by group, and by size. The first batch begins with the primary, which
// is the first key: one that is really written.
func (c *committer) batches() []batch {
	all := batch{Muts: c.Muts, Rows: rowsOf(c.Muts)}
	groups := c.groups()
	if groups == nil {
		return c.cut(nil, all)
	}
	var parts []batch
	at := map[uint64]int{} // group → index in parts
	for i := range all.Muts {
		k, ok := at[groups[i]]
		if !ok {
			k = len(parts)
			at[groups[i]] = k
			parts = append(parts, batch{})
		}
		parts[k].Muts = append(parts[k].Muts, all.Muts[i])
		parts[k].Rows = append(parts[k].Rows, all.Rows[i])
	}
	var out []batch
	for _, part := range parts {
		out = c.cut(out, part)
	}
	return out
}

// groups returns the group of each mutation, nil when all are of one.
func (c *committer) groups() []uint64 {
	if _, grouped := c.o.Engine.(kv.Grouped); !grouped {
		return nil
	}
	groups, several := make([]uint64, len(c.Muts)), false
	for i := range c.Muts {
		groups[i] = kv.GroupOf(c.o.Engine, c.Muts[i].Row)
		several = several || groups[i] != groups[0]
	}
	if !several {
		return nil
	}
	return groups
}

// cut appends the batch to out, in pieces of the size that one Update may have.
func (c *committer) cut(out []batch, b batch) []batch {
	from, size := 0, 0
	limited, taken := c.limited(), c.room()
	for i := range b.Muts {
		with := taken
		if limited {
			with.add(&b.Muts[i])
		}
		if i > from && (i-from >= c.o.Limits.Rows || size >= c.o.BatchBytes ||
			!with.within(c.o.Limits)) {
			out = append(out, b.Part(from, i))
			from, size, with = i, 0, c.room()
			with.add(&b.Muts[i])
		}
		size += len(b.Muts[i].Row) + len(b.Muts[i].Value)
		taken = with
	}
	return append(out, b.Part(from, len(b.Muts)))
}

// lanes returns the batches by group: those of one group are neighbours.
func (c *committer) lanes(batches []batch) (lanes [][]batch) {
	from := 0
	for i := 1; i <= len(batches); i++ {
		if i < len(batches) && kv.GroupOf(c.o.Engine, batches[i].Rows[0]) == kv.GroupOf(c.o.Engine,
			batches[from].Rows[0]) {
			continue
		}
		lanes = append(lanes, batches[from:i])
		from = i
	}
	return lanes
}

func rowsOf(muts []mvcc.Mutation) [][]byte {
	rows := make([][]byte, len(muts))
	for i := range muts {
		rows[i] = muts[i].Row
	}
	return rows
}
