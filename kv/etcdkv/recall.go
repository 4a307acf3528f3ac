package etcdkv

import (
	"bytes"
	"errors"
	"slices"
	"sort"

	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/paged"
)

// Most rows that an update names were read or written by the same process a moment before. So what
// rows were like is remembered, and a step runs on that first, without a request. Such a run counts
// only if the cluster applies its batch on the condition that no row was written since which the
// step has read or the update names: then it was shown the state of that very moment. Else, and
// when the run asks for more, fails or writes nothing, the step runs again, on what the cluster
// shows now.
//
// A row that an update names although nothing is remembered of it is most likely new: else it would
// have been read before. So it is taken for one that was never written, on that condition.

// errNotRemembered ends the run of a step on what is remembered.
var errNotRemembered = errors.New("etcdkv: a step reads what is not remembered")

const (
	rowsRemembered  = 4096
	bytesRemembered = 1 << 10 // of a row in one family
	noteMost        = 256     // prefixes of one request: more are of a large read
)

// remembered is what a row was like at a revision, in some families. It does not change.
type remembered struct {
	rev    int64
	blocks map[byte]*block
}

// has reports whether all of some families are known. Of a row that was only written nothing is.
func (m *remembered) has(families []byte) bool {
	for _, f := range families {
		if m == nil || m.blocks[f] == nil {
			return false
		}
	}
	return m != nil && (len(m.blocks) > 0 || m.rev == never)
}

// memory holds the rows that were read or written last, by row.
type memory struct {
	*lru.Cache[string, *remembered]
}

// put remembers a row, unless something newer is known. What another one puts meanwhile may be
// lost: then a condition fails.
func (m memory) put(row string, now *remembered) {
	old, _ := m.Get(row)
	switch {
	case old == nil || old.rev < now.rev:
	case old.rev > now.rev:
		return
	default:
		both := make(map[byte]*block, len(old.blocks)+len(now.blocks))
		for _, blocks := range []map[byte]*block{old.blocks, now.blocks} {
			for f, b := range blocks {
				both[f] = b
			}
		}
		now = &remembered{rev: now.rev, blocks: both}
	}
	m.Put(row, now)
}

// noteRead remembers what was read ahead of prefixes at a revision.
func (m memory) noteRead(rev int64, prefixes [][]byte, known ahead) {
	if len(prefixes) > noteMost {
		return
	}
	rows := map[string]*remembered{}
	for _, p := range prefixes {
		b := known[string(p)]
		if b == nil || b.bytes() > bytesRemembered {
			continue
		}
		row := string(kv.Row(p))
		if rows[row] == nil {
			rows[row] = &remembered{rev: rev, blocks: map[byte]*block{}}
		}
		rows[row].blocks[p[0]] = b
	}
	for row, now := range rows {
		m.put(row, now)
	}
}

// noteWritten remembers what rows are like after a batch that was applied at a revision, when what
// they were like until then is known.
func (m memory) noteWritten(rev int64, before map[string]map[byte]*block, b *kv.Batch) {
	after := map[string]*remembered{}
	for row, blocks := range before {
		now := &remembered{rev: rev, blocks: map[byte]*block{}}
		for f, known := range blocks {
			now.blocks[f] = known
		}
		after[row] = now
	}
	copied := map[*block]bool{}
	for i := range b.Len() {
		key, value, deleted := b.Op(i)
		now := after[string(kv.Row(key))]
		if now == nil || now.blocks[key[0]] == nil {
			continue
		}
		at := now.blocks[key[0]]
		if !copied[at] {
			at = &block{cells: slices.Clone(at.cells), end: at.end}
			copied[at], now.blocks[key[0]] = true, at
		}
		if bytes.Compare(key, at.end) < 0 {
			at.write(key, value, deleted)
		}
	}
	for row, now := range after {
		for f, known := range now.blocks {
			if known.bytes() > bytesRemembered {
				delete(now.blocks, f)
			}
		}
		m.put(row, now)
	}
}

// write changes a block that nothing else has.
func (b *block) write(key, value []byte, deleted bool) {
	n := sort.Search(len(b.cells), func(i int) bool {
		return bytes.Compare(b.cells[i].Key, key) >= 0
	})
	found := n < len(b.cells) && bytes.Equal(b.cells[n].Key, key)
	c := paged.Cell{Key: bytes.Clone(key), Value: append([]byte{}, value...)}
	switch {
	case deleted && found:
		b.cells = slices.Delete(b.cells, n, n+1)
	case deleted:
	case found:
		b.cells[n] = c
	default:
		b.cells = slices.Insert(b.cells, n, c)
	}
}

// recall is what the run of a step is shown of what is remembered: rows as they were, each at a
// revision of its own.
type recall struct {
	m    memory
	rows map[string]*remembered // that the update names, or the step has read
	read map[string]*[256]bool  // in which families
	news bool                   // a row is taken for new
}

// never is the revision of what was never written.
const never = 0

// recall returns what is remembered of the rows of an update, or nil when that is not enough.
func (e *Engine) recall(rows [][]byte) *recall {
	families := e.ofSteps.families()
	r := &recall{m: e.memory, rows: map[string]*remembered{}, read: map[string]*[256]bool{}}
	for _, row := range rows {
		now, known := e.memory.Get(string(row))
		if !known && (r.news || e.news.likely()) {
			now, r.news = newRow(row, families), true
		}
		if !now.has(families) {
			return nil
		}
		r.rows[string(row)], r.read[string(row)] = now, new([256]bool)
	}
	return r
}

// newRow is a row that was never written, in some families.
func newRow(row []byte, families []byte) *remembered {
	m := &remembered{rev: never, blocks: map[byte]*block{}}
	for _, prefix := range prefixesOf([][]byte{row}, families) {
		m.cover(prefix)
	}
	return m
}

// cover adds the family of a prefix of a new row, in which there is nothing either.
func (m *remembered) cover(prefix []byte) {
	if end := kv.PrefixEnd(prefix); end != nil && m.blocks[prefix[0]] == nil {
		m.blocks[prefix[0]] = &block{end: end}
	}
}

// block returns what is remembered of the prefix of a key.
func (r *recall) block(key []byte) (*block, error) {
	if len(key) == 0 {
		return nil, errNotRemembered
	}
	row := kv.Row(key)
	now := r.rows[string(row)]
	if now == nil {
		if now, _ = r.m.Get(string(row)); now == nil {
			return nil, errNotRemembered
		}
		r.rows[string(row)] = now
	}
	if read := r.read[string(row)]; read != nil {
		read[key[0]] = true
	}
	if now.rev == never {
		now.cover(kv.Prefix(key))
	}
	if b := now.blocks[key[0]]; b != nil {
		return b, nil
	}
	return nil, errNotRemembered
}

// noteRead takes in how the rows of an update were read: so that a snapshot reads as much of them.
func (r *recall) noteRead(h *habits) {
	for _, read := range r.read {
		h.note(read)
	}
}

// revisions are those since which the rows must not have been written, or the run does not count.
func (r *recall) revisions() map[string]int64 {
	out := make(map[string]int64, len(r.rows))
	for row, now := range r.rows {
		out[row] = now.rev
	}
	return out
}

// shown returns what is known of the rows of the run.
func (r *recall) shown() map[string]map[byte]*block {
	out := make(map[string]map[byte]*block, len(r.rows))
	for row, now := range r.rows {
		out[row] = now.blocks
	}
	return out
}
