package table

import (
	"bytes"
	"maps"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Columns of rows that were read are kept by sections of the table or index (txn.Section): those
// that the scan decoded, in its batches. The next scan that wants no other columns is given them.

// keptColumns are columns of the rows of a section, by ordinal: in memory or on disk. They never
// change.
type keptColumns struct {
	version uint64 // of the descriptor
	rows    []int  // by batch
	cols    map[int][]*types.Vec
	disk    map[int]*diskColumn // nil: they are in memory
}

// keptMost bounds what is kept of one section, in bytes.
const keptMost = 16 << 20

// kept returns the rows of a section, nil unless all columns that are wanted are kept.
func (s *Scanner) kept(of *txn.Section) *keptColumns {
	k := keptOf(of, s.spec.Desc)
	if k == nil {
		return nil
	}
	for _, o := range s.spec.Out {
		if k.cols[o] == nil && k.disk[o] == nil {
			return nil
		}
	}
	return k
}

func keptOf(of *txn.Section, d *Desc) *keptColumns {
	k, ok := of.Kept().(*keptColumns)
	if !ok || k.version != d.Version {
		return nil
	}
	return k
}

// giveKept makes b the next batch of a piece that is in memory as a whole; false: there is none.
func (p *parallelScan) giveKept(from *piece, b *types.Batch) bool {
	k := from.kept
	if from.given == len(k.rows) {
		return false
	}
	b.Len, b.Sel = k.rows[from.given], nil
	for i, o := range p.out {
		t := b.Cols[i].Type
		b.Cols[i].Slice(k.cols[o][from.given], 0, b.Len)
		b.Cols[i].Type = t
	}
	from.given++
	return true
}

// keeper collects the batches of a section while they are read. A nil one collects nothing.
type keeper struct {
	p     *parallelScan
	of    *txn.Section
	k     *keptColumns // nil: they are too large
	bytes int64
	all   []int32
	// alone: what was kept before is not to be kept with it
	alone bool
}

func newKeeper(p *parallelScan, of *txn.Section) *keeper {
	k := &keptColumns{version: p.l.desc.Version, cols: map[int][]*types.Vec{}}
	for _, o := range p.out {
		k.cols[o] = []*types.Vec{}
	}
	return &keeper{p: p, of: of, k: k}
}

// add adds a batch, which is not changed from then on.
func (k *keeper) add(b *types.Batch) {
	if k == nil || k.k == nil {
		return
	}
	for len(k.all) < b.Len {
		k.all = append(k.all, int32(len(k.all)))
	}
	k.k.rows = append(k.k.rows, b.Len)
	for i, o := range k.p.out {
		if len(k.k.cols[o]) == len(k.k.rows) {
			continue // it is wanted twice
		}
		k.k.cols[o] = append(k.k.cols[o], b.Cols[i])
		k.bytes += k.size(b.Cols[i], b.Len)
	}
	if k.bytes > keptMost {
		k.k = nil
	}
}

// size is what a vector of so many rows takes, in bytes.
func (k *keeper) size(v *types.Vec, rows int) int64 {
	return int64(cap(v.Nulls))*v.Type.Family.Storage().EntryWidth() + v.ExtraSize(k.all[:rows])
}

// finish keeps the section, with the columns of it that were kept before.
func (k *keeper) finish(room *diskBuffer) {
	if k == nil || k.k == nil {
		return
	}
	old := keptOf(k.of, k.p.l.desc)
	if old == nil || k.alone || !slices.Equal(old.rows, k.k.rows) {
		old = &keptColumns{}
	}
	for o, vecs := range old.cols {
		if k.k.cols[o] != nil {
			continue
		}
		for i, v := range vecs {
			k.bytes += k.size(v, k.k.rows[i])
		}
		k.k.cols[o] = vecs
	}
	if old.disk != nil || !k.of.Keep(k.k, k.bytes, false) {
		k.toDisk(maps.Clone(old.disk), room)
	}
}

// batchBegin is the key of a batch's first row, and how many rows it has.
type batchBegin struct {
	key  []byte
	rows int
}

// cutter finds where sections of a table or index should begin, so that each has about as many
// rows: all of them in a scan of the whole that finds none, else those of sections that have become
// too large.
type cutter struct {
	rows   int // of a section; 0: there are none
	whole  bool
	have   int // rows since the last place
	starts [][]byte
}

// learn goes through the batches of a piece that was read. Pieces come in their order.
func (c *cutter) learn(p *piece) {
	if len(p.begins) == 0 {
		return
	}
	if !c.whole {
		rows := 0
		for _, b := range p.begins {
			rows += b.rows
		}
		if rows < 2*c.rows {
			return
		}
		c.have = 0
	} else if c.starts == nil {
		c.have = c.rows // those before the first piece
	}
	for _, b := range p.begins {
		if c.have >= c.rows {
			c.starts, c.have = append(c.starts, bytes.Clone(b.key)), 0
		}
		c.have += b.rows
	}
	p.begins = nil
}

// apply cuts the span once all pieces were read.
func (c *cutter) apply(tx *txn.Txn, span kv.Span) {
	if len(c.starts) > 0 {
		tx.CutSpan(span, c.starts)
	}
}
