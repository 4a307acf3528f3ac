package exec

import (
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// Partitions divide rows by the hash of their keys: rows with equal keys are in one. Each can then
// be worked on by itself, and be divided again where it does not fit memory. Rows keep their order.
const (
	fanOutBits = 4
	fanOut     = 1 << fanOutBits
	// deepest is how often rows are divided at most: hash bits of more partitions would be those
	// by which tables find their slots.
	deepest = 8
)

// partitions are the rows that one level of dividing made.
type partitions struct {
	run     *run
	types   []*types.Type
	depth   int
	streams [fanOut]*spill.Stream
	sel     [fanOut][]int32
	hashes  []uint64
}

func (r *run) newPartitions(ts []*types.Type, depth int) *partitions {
	return &partitions{run: r, types: ts, depth: depth}
}

// add puts rows sel of cols into the partitions of their keys.
func (p *partitions) add(cols, keys []*types.Vec, sel []int32) error {
	p.hashes = types.HashRows(keys, sel, p.hashes)
	for i := range p.sel {
		p.sel[i] = p.sel[i][:0]
	}
	shift := 64 - fanOutBits*(p.depth+1)
	for k, i := range sel {
		n := p.hashes[k] >> shift % fanOut
		p.sel[n] = append(p.sel[n], i)
	}
	for n, sub := range p.sel {
		if len(sub) == 0 {
			continue
		}
		if p.streams[n] == nil {
			p.streams[n] = p.run.newStream(p.types)
		}
		if err := p.streams[n].Add(cols, sub); err != nil {
			return err
		}
	}
	return nil
}

// flush makes the partitions readable and returns their bytes.
func (p *partitions) flush() (bytes int64, err error) {
	for _, s := range p.streams {
		if s == nil {
			continue
		}
		if err := s.Flush(); err != nil {
			return 0, err
		}
		bytes += s.Bytes()
	}
	return bytes, nil
}

func (p *partitions) free() {
	if p != nil {
		freeStreams(p.streams[:])
		p.streams = [fanOut]*spill.Stream{}
	}
}

// pile are partitions that wait to be worked on, the last one first.
type pile struct {
	parts []waiting
	// at is the partition that is being read, reader its rows; nil: none.
	at     waiting
	reader *spill.Reader
	spilled
}

// waiting is a partition and how often its rows were divided.
type waiting struct {
	stream *spill.Stream
	depth  int
}

// put puts partitions on the pile, the first one on top.
func (p *pile) put(from *partitions) error {
	bytes, err := from.flush()
	p.bytes += bytes
	for i := fanOut - 1; i >= 0; i-- {
		if s := from.streams[i]; s != nil {
			p.parts = append(p.parts, waiting{s, from.depth + 1})
			p.pieces++
		}
	}
	from.streams = [fanOut]*spill.Stream{}
	return err
}

// take begins to read the partition on top; false: there is none.
func (p *pile) take() bool {
	p.done()
	n := len(p.parts)
	if n == 0 {
		return false
	}
	p.at, p.parts = p.parts[n-1], p.parts[:n-1]
	p.reader = p.at.stream.Reader()
	return true
}

// done frees the partition that was read.
func (p *pile) done() {
	if p.reader != nil {
		p.reader.Close()
		p.at.stream.Free()
		p.at, p.reader = waiting{}, nil
	}
}

// free gives all partitions up.
func (p *pile) free() {
	p.done()
	for _, w := range p.parts {
		w.stream.Free()
	}
	p.parts = nil
}
