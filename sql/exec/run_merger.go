package exec

import (
	"cmp"
	"context"

	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// runMerger merges sorted runs. The run with the least row is at the root of a heap; of equal rows
// the one of the earlier run comes first.
type runMerger struct {
	s       *rowSorter
	sources []*runSource
	heap    []*runSource
	out     *types.Batch
	which   []int32 // by row of the output: its source
	rows    []int32 // by row of the output: its row in the source's batch
	cols    []*types.Vec
	counted int64
}

// runSource is a run that is being merged.
type runSource struct {
	number int32
	reader *spill.Reader
	batch  *types.Batch
	keys   []orderKey
	heads  []sortEntry // of batch
	at     int
}

// mergeMost and mergeLeast bound how many runs are merged at once. The reader of one takes about
// mergeRead bytes.
const (
	mergeMost  = 128
	mergeLeast = 4
	mergeRead  = 256 << 10
)

// fanIn is how many runs are merged at once: as many as fit the share of the operator and the
// memory that is left.
func (s *rowSorter) fanIn() int {
	n := int(min(s.run.mem.share/mergeRead, mergeMost))
	for n > mergeLeast && !s.run.mem.room(int64(n)*mergeRead) {
		n /= 2
	}
	return max(n, mergeLeast)
}

// mergeSome merges runs into longer ones until few enough are left to be merged at once.
func (s *rowSorter) mergeSome(ctx context.Context, runs []*spill.Stream) ([]*spill.Stream, error) {
	for n := s.fanIn(); len(runs) > n; {
		var longer []*spill.Stream
		for len(runs) > 0 {
			some := runs[:min(n, len(runs))]
			out := s.run.newStream(s.types)
			s.runs = append(append(append(s.runs[:0:0], longer...), out), runs...)
			if err := s.mergeInto(ctx, some, out); err != nil {
				return s.runs, err
			}
			freeStreams(some)
			runs, longer = runs[len(some):], append(longer, out)
		}
		runs = longer
	}
	return runs, nil
}

func (s *rowSorter) mergeInto(ctx context.Context, runs []*spill.Stream, out *spill.Stream) error {
	m, err := s.newMerger(runs)
	if err != nil {
		return err
	}
	defer m.close()
	for {
		b, err := m.next(len(s.types))
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := out.Add(b.Cols, firstRows(b.Len)); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	s.bytes += out.Bytes()
	return nil
}

func (s *rowSorter) newMerger(runs []*spill.Stream) (*runMerger, error) {
	m := &runMerger{s: s, cols: make([]*types.Vec, len(runs)),
		counted: int64(len(runs)) * types.BatchSize * sortEntryBytes}
	if err := s.run.mem.grow(m.counted); err != nil {
		m.close()
		return nil, err
	}
	for i, r := range runs {
		src := &runSource{number: int32(i), reader: r.Reader()}
		m.sources = append(m.sources, src)
		if err := m.fill(src); err != nil {
			m.close()
			return nil, err
		}
		if src.batch != nil {
			m.heap = append(m.heap, src)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m, nil
}

func (m *runMerger) close() {
	for _, src := range m.sources {
		src.reader.Close()
	}
	m.s.run.mem.shrink(m.counted)
	m.counted, m.sources, m.heap = 0, nil, nil
}

// fill reads the next batch of a source, which is nil at its end.
func (m *runMerger) fill(src *runSource) (err error) {
	if src.batch, err = src.reader.Next(); err != nil || src.batch == nil {
		return err
	}
	src.at = 0
	src.keys = src.keys[:0]
	for i, k := range m.s.keys {
		src.keys = append(src.keys, orderKey{col: src.batch.Cols[m.s.from[i]], desc: k.Desc,
			nullsFirst: k.NullsFirst})
	}
	if cap(src.heads) < src.batch.Len {
		src.heads = make([]sortEntry, types.BatchSize)
	}
	src.heads = src.heads[:src.batch.Len]
	for i := range src.heads {
		src.heads[i] = sortEntry{row: int32(i)}
	}
	if len(src.keys) > 0 {
		packHeads(&src.keys[0], src.heads)
	}
	return nil
}

// less reports whether the next row of a comes before that of b.
func (a *runSource) less(b *runSource) bool {
	x, y := a.heads[a.at].head, b.heads[b.at].head
	if x != y {
		return x < y
	}
	for i := range a.keys {
		k := &a.keys[i]
		if c := k.compareKey(k.col, a.at, b.keys[i].col, b.at); c != 0 {
			return c < 0
		}
	}
	return cmp.Less(a.number, b.number)
}

// down restores the heap where the source at i may be greater than those below it.
func (m *runMerger) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(m.heap); c++ {
			if m.heap[c].less(m.heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// next returns the first width columns of the next rows; nil at the end. A batch of a source is
// read to its end before the next one takes its place, so some batches are short.
func (m *runMerger) next(width int) (*types.Batch, error) {
	if len(m.heap) > 0 && m.heap[0].at == len(m.heap[0].heads) {
		if err := m.refill(); err != nil {
			return nil, err
		}
	}
	m.which, m.rows = m.which[:0], m.rows[:0]
	for len(m.heap) > 0 && len(m.rows) < types.BatchSize {
		src := m.heap[0]
		m.which = append(m.which, src.number)
		m.rows = append(m.rows, int32(src.at))
		if src.at++; src.at == len(src.heads) {
			break
		}
		m.down(0)
	}
	if len(m.rows) == 0 {
		return nil, nil
	}
	if m.out == nil {
		m.out = types.NewBatchCap(m.s.types[:width], 0)
	}
	for i, c := range m.out.Cols {
		for k, src := range m.sources {
			if m.cols[k] = c; src.batch != nil {
				m.cols[k] = src.batch.Cols[i]
			}
		}
		c.Interleave(m.cols, m.which, m.rows)
	}
	m.out.Len = len(m.rows)
	return m.out, nil
}

// refill reads on in the source at the root, and drops it at its end.
func (m *runMerger) refill() error {
	src := m.heap[0]
	if err := m.fill(src); err != nil {
		return err
	}
	if src.batch == nil {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down(0)
	return nil
}
