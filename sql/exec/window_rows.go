package exec

import (
	"context"
	"slices"

	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// windowRows are the rows of a window in their order, any of which a call may ask for. They are in
// memory, or on disk; then the pages that were asked for last are in memory.
type windowRows struct {
	sorter *rowSorter
	len    int
	stream *spill.Stream // nil: they are in the sorter's memory
	pages  []windowPage  // that of the last row asked for first
	out    *spill.Reader // of stream, for the rows to return
	none   []*types.Vec  // a row of NULLs
	err    error         // of the first page that could not be read
}

// windowPage is a part of the rows on disk.
type windowPage struct {
	reader *spill.Reader
	batch  *types.Batch // nil: nothing was read
	first  int
}

// windowPages is how many pages are in memory. A call asks for the row at hand, for one at some
// distance, or for those at the ends of a frame. There are two at least: rows are compared.
const windowPages = 4

// sort ends the adding of rows to the sorter.
func (w *windowRows) sort(ctx context.Context) error {
	s := w.sorter
	if err := s.finish(ctx); err != nil {
		return err
	}
	if s.merge == nil {
		w.len = s.store.len
		return nil
	}
	w.stream = s.run.newStream(s.types)
	for {
		b, err := s.next(ctx, len(s.types))
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := w.stream.Add(b.Cols, firstRows(b.Len)); err != nil {
			return err
		}
	}
	if err := w.stream.Flush(); err != nil {
		return err
	}
	s.bytes += w.stream.Bytes()
	s.reset()
	w.len = int(w.stream.Rows())
	w.out = w.stream.Reader()
	return nil
}

// next returns the first width columns of the next rows, nil at the end.
func (w *windowRows) next(ctx context.Context, width int) (*types.Batch, error) {
	if w.stream == nil {
		return w.sorter.next(ctx, width)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return w.out.Next()
}

// reset forgets the rows and gives their memory up.
func (w *windowRows) reset() {
	for i := range w.pages {
		w.pages[i].reader.Close()
	}
	if w.out != nil {
		w.out.Close()
	}
	if w.stream != nil {
		w.stream.Free()
	}
	w.sorter.free()
	*w = windowRows{sorter: w.sorter}
}

// at returns columns and the number in them of a row. They are valid until the second call after
// it. After an error, which it leaves in err, the row is NULL.
func (w *windowRows) at(row int) ([]*types.Vec, int) {
	if w.stream == nil {
		return w.sorter.store.cols, int(w.sorter.sorted[row].row)
	}
	for i := range w.pages {
		p := &w.pages[i]
		if p.batch == nil || row < p.first || row >= p.first+p.batch.Len {
			continue
		}
		if i > 0 {
			found := *p
			copy(w.pages[1:i+1], w.pages[:i])
			w.pages[0] = found
		}
		return w.pages[0].batch.Cols, row - w.pages[0].first
	}
	return w.load(row)
}

// load reads the page of a row in the place of the one that was not asked for longest.
func (w *windowRows) load(row int) ([]*types.Vec, int) {
	p := windowPage{}
	if n := len(w.pages); n == windowPages {
		p = w.pages[n-1]
		w.pages = w.pages[:n-1]
	} else {
		p.reader = w.stream.Reader()
	}
	b, first, err := p.reader.Page(int64(row))
	if err != nil {
		p.batch = nil
		w.pages = append(w.pages, p)
		return w.failed(err), 0
	}
	p.batch, p.first = b, int(first)
	w.pages = slices.Insert(w.pages, 0, p)
	return b.Cols, row - p.first
}

// failed notes an error and returns a row of NULLs.
func (w *windowRows) failed(err error) []*types.Vec {
	if w.err == nil {
		w.err = err
	}
	if w.none == nil {
		b := types.NewBatchCap(w.sorter.types, 1)
		for i, c := range b.Cols {
			nulls(c, w.sorter.types[i], 1)
		}
		w.none = b.Cols
	}
	return w.none
}

// compare orders two rows by some of the sorter's keys, of which the first is number from.
func (w *windowRows) compare(from, to, i, j int) int {
	a, x := w.at(i)
	b, y := w.at(j)
	for n := from; n < to; n++ {
		s := w.sorter
		k := orderKey{desc: s.keys[n].Desc, nullsFirst: s.keys[n].NullsFirst}
		if c := k.compareKey(a[s.from[n]], x, b[s.from[n]], y); c != 0 {
			return c
		}
	}
	return 0
}
