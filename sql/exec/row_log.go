package exec

import (
	"context"

	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// rowLog keeps rows in their order of arrival, for readers with positions of their own. When it
// holds more than its share of memory it writes its rows to disk and keeps those that follow:
//
//	rows 0 … disk-1 in stream | rows disk … len-1 in store
type rowLog struct {
	run    *run
	store  *rowStore
	stream *spill.Stream // nil: all rows are in memory
	disk   int
	len    int
}

func newRowLog(r *run, ts []*types.Type) *rowLog {
	return &rowLog{run: r, store: newRowStore(&r.mem, ts)}
}

// add appends rows sel of cols.
func (l *rowLog) add(ctx context.Context, cols []*types.Vec, sel []int32) error {
	if l.run.mem.full(l.store.bytes, l.store.need(cols, sel)) {
		if err := l.write(ctx); err != nil {
			return err
		}
	}
	l.len += len(sel)
	return l.store.add(cols, sel)
}

// write moves the rows in memory to disk.
func (l *rowLog) write(ctx context.Context) error {
	if l.stream == nil {
		l.stream = l.run.newStream(l.store.types())
	}
	var b types.Batch
	for at := 0; l.store.view(&b, at); at += b.Len {
		if err := l.stream.Add(b.Cols, firstRows(b.Len)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	l.disk = l.len
	l.store.free()
	return l.stream.Flush()
}

// reset forgets the rows.
func (l *rowLog) reset() {
	l.dropDisk()
	l.store.reset()
}

// free gives the memory up.
func (l *rowLog) free() {
	l.dropDisk()
	l.store.free()
}

func (l *rowLog) dropDisk() {
	if l.stream != nil {
		l.stream.Free()
	}
	l.stream, l.disk, l.len = nil, 0, 0
}

// logReader reads a rowLog. at is the number of the next row.
type logReader struct {
	log    *rowLog
	at     int
	disk   *spill.Reader
	diskAt int // the next row of disk
	view   types.Batch
}

// next returns the next rows, nil where there are no more for now.
func (r *logReader) next() (*types.Batch, error) {
	l := r.log
	if r.at >= l.disk {
		r.closeDisk()
		if !l.store.view(&r.view, r.at-l.disk) {
			return nil, nil
		}
		r.at += r.view.Len
		return &r.view, nil
	}
	if r.disk == nil {
		r.disk = l.stream.Reader()
	}
	if r.diskAt != r.at {
		if err := r.disk.MoveTo(int64(r.at)); err != nil {
			return nil, err
		}
	}
	b, err := r.disk.Next()
	if b == nil || err != nil {
		return nil, err
	}
	r.at += b.Rows()
	r.diskAt = r.at
	return b, nil
}

func (r *logReader) closeDisk() {
	if r.disk != nil {
		r.disk.Close()
		r.disk, r.diskAt = nil, 0
	}
}

// open makes row at of a log the next one.
func (r *logReader) open(l *rowLog, at int) {
	r.closeDisk()
	r.log, r.at = l, at
}
