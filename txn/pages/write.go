package pages

import (
	"bytes"
	"context"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// updatesAtOnce is how many updates of a page are under way at a time: on the network each is a
// round trip.
const updatesAtOnce = 8

// Writer writes into a target that is being filled (tso.Fill).
type Writer struct {
	e      kv.Engine
	limits kv.Limits
	files  kv.Ingester // nil: the target takes no files in
}

// NewWriter returns a writer into an engine.
func NewWriter(e kv.Engine) *Writer {
	return &Writer{e: e, limits: kv.LimitsOf(e), files: kv.IngesterOf(e)}
}

// PageBytes is about how many bytes the target takes best in a page.
func (w *Writer) PageBytes() int {
	if w.files != nil {
		return filePage
	}
	return updatePage
}

const (
	filePage   = 16 << 20
	updatePage = 2 << 20
)

// Takes refuses cells that the target can never take, with *ValueError.
func (w *Writer) Takes(c mvcc.RawCells) error {
	if most := w.limits.Value; most != 0 && max(len(c.Value), len(c.Data)) > most {
		key, err := mvcc.UserKey(kv.Row(c.Key), nil)
		if err != nil {
			return err
		}
		return &ValueError{Key: bytes.Clone(key), Bytes: max(len(c.Value), len(c.Data)), Most: most}
	}
	return nil
}

// Write writes a page, and that it is there, under a key that was not there. A page that was
// written in part only is written again: it is not known to be there.
func (w *Writer) Write(ctx context.Context, p *Page, key, value []byte) error {
	if w.files != nil {
		return w.files.Ingest(ctx, append(p.sources(), listed([]Cell{{key, value}})))
	}
	if err := w.update(ctx, p); err != nil {
		return err
	}
	// Durable, and with it what was written lazily before.
	return w.apply(ctx, []Cell{{key, value}}, kv.Attempt)
}

// Add writes a page that is durable with the next durable update, or earlier.
func (w *Writer) Add(ctx context.Context, p *Page) error {
	switch {
	case len(p.Cells) == 0:
		return nil
	case w.files != nil:
		return w.files.Ingest(ctx, p.sources())
	}
	return w.update(ctx, p)
}

// update writes a page in updates that the engine takes, several at a time.
func (w *Writer) update(ctx context.Context, p *Page) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := make(chan []Cell)
	var workers sync.WaitGroup
	for range updatesAtOnce {
		workers.Go(func() {
			for part := range parts {
				if err := w.apply(ctx, part, kv.AttemptLazy); err != nil {
					cancel(err)
				}
			}
		})
	}
	w.cut(p.Cells, func(part []Cell) bool {
		select {
		case parts <- part:
			return true
		case <-ctx.Done():
			return false
		}
	})
	close(parts)
	workers.Wait()
	return context.Cause(ctx)
}

// cut calls visit with parts of cells that are of one group and within the limits of one update,
// until it returns false.
func (w *Writer) cut(cells []Cell, visit func(part []Cell) bool) {
	l := w.limits.Lower(kv.Limits{Rows: partRows, Bytes: partBytes})
	open := map[uint64]*part{}
	for _, c := range cells {
		group := kv.GroupOf(w.e, kv.Row(c.Key))
		p := open[group]
		if p == nil {
			p = &part{}
			open[group] = p
		}
		if len(p.cells) > 0 && !p.holds(c, l) {
			if !visit(p.cells) {
				return
			}
			*p = part{}
		}
		p.add(c)
	}
	for _, p := range open {
		if !visit(p.cells) {
			return
		}
	}
}

// part is what one update writes.
type part struct {
	cells       []Cell
	rows, bytes int
	last        []byte // row
}

func (p *part) add(c Cell) {
	if row := kv.Row(c.Key); !bytes.Equal(row, p.last) {
		p.rows, p.last = p.rows+1, row
	}
	p.cells = append(p.cells, c)
	p.bytes += len(c.Key) + len(c.Value)
}

// holds reports whether a further cell is within the limits.
func (p *part) holds(c Cell, l kv.Limits) bool {
	rows := p.rows
	if !bytes.Equal(kv.Row(c.Key), p.last) {
		rows++
	}
	return l.Holds(rows, len(p.cells)+1, p.bytes+len(c.Key)+len(c.Value))
}

// partRows and partBytes bound an update where the engine does not.
const (
	partRows  = 1024
	partBytes = 1 << 20
)

// attempt is kv.Attempt, or kv.AttemptLazy.
type attempt func(ctx context.Context, e kv.Engine, rows [][]byte, step kv.Step) (unknown bool,
	err error)

// apply writes cells in one update, again when its result is unknown: it may come twice.
func (w *Writer) apply(ctx context.Context, cells []Cell, try attempt) error {
	var rows [][]byte
	for _, c := range cells {
		if row := kv.Row(c.Key); len(rows) == 0 || !bytes.Equal(rows[len(rows)-1], row) {
			rows = append(rows, row)
		}
	}
	for attempts := 1; ; attempts++ {
		unknown, err := try(ctx, w.e, rows, func(_ kv.Reader, b *kv.Batch) error {
			for _, c := range cells {
				b.Set(c.Key, c.Value)
			}
			return nil
		})
		if !unknown || attempts == wait.UnknownAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// Empty deletes all that the target has, and the mark of a store that is being filled last.
func (w *Writer) Empty(ctx context.Context) error {
	mark := txn.OracleKey()
	for _, span := range []kv.Span{{End: mark}, {Start: kv.Successor(mark)}} {
		if _, err := kv.DeleteSpan(ctx, w.e, span, 0); err != nil {
			return err
		}
	}
	return tso.Empty(ctx, w.e, mark)
}
