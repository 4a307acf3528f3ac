package clone

import (
	"bytes"
	"context"
	"slices"
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

// writer writes into the target.
type writer struct {
	e      kv.Engine
	limits kv.Limits
	files  kv.Ingester // nil: the target takes no files in
}

func newWriter(e kv.Engine) *writer {
	return &writer{e: e, limits: kv.LimitsOf(e), files: kv.IngesterOf(e)}
}

// takes refuses cells that the target can never take.
func (w *writer) takes(c mvcc.RawCells) error {
	if most := w.limits.Value; most != 0 && max(len(c.Value), len(c.Data)) > most {
		key, err := mvcc.UserKey(kv.Row(c.Key), nil)
		if err != nil {
			return err
		}
		return &ValueError{Key: bytes.Clone(key), Bytes: max(len(c.Value), len(c.Data)), Most: most}
	}
	return nil
}

// write writes a page, and that it is there, under a key that was not there. A page that was
// written in part only is written again: it is not known to be there.
func (w *writer) write(ctx context.Context, p *page, key, value []byte) error {
	if w.files != nil {
		return w.files.Ingest(ctx, append(p.sources(), listed([]pair{{key, value}})))
	}
	if err := w.update(ctx, p); err != nil {
		return err
	}
	// Durable, and with it what was written lazily before.
	return w.apply(ctx, []pair{{key, value}}, kv.Attempt)
}

// sources cuts a page into the columns that it has cells of, each in its order.
func (p *page) sources() (out []kv.Source) {
	byColumn := map[byte][]pair{}
	for _, c := range p.cells {
		byColumn[c.key[0]] = append(byColumn[c.key[0]], c)
	}
	for _, cells := range byColumn {
		// Data lies by start_ts, and came in the order of commit_ts.
		slices.SortFunc(cells, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
		out = append(out, listed(cells))
	}
	return out
}

// listed is a source of cells in their order.
func listed(cells []pair) kv.Source {
	return func(put func(key, value []byte) error) error {
		for _, c := range cells {
			if err := put(c.key, c.value); err != nil {
				return err
			}
		}
		return nil
	}
}

// update writes a page in updates that the engine takes, several at a time.
func (w *writer) update(ctx context.Context, p *page) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := make(chan []pair)
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
	w.cut(p.cells, func(part []pair) bool {
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
func (w *writer) cut(cells []pair, visit func(part []pair) bool) {
	l := w.limits.Lower(kv.Limits{Rows: partRows, Bytes: partBytes})
	open := map[uint64]*part{}
	for _, c := range cells {
		group := kv.GroupOf(w.e, kv.Row(c.key))
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
	cells       []pair
	rows, bytes int
	last        []byte // row
}

func (p *part) add(c pair) {
	if row := kv.Row(c.key); !bytes.Equal(row, p.last) {
		p.rows, p.last = p.rows+1, row
	}
	p.cells = append(p.cells, c)
	p.bytes += len(c.key) + len(c.value)
}

// holds reports whether a further cell is within the limits.
func (p *part) holds(c pair, l kv.Limits) bool {
	rows := p.rows
	if !bytes.Equal(kv.Row(c.key), p.last) {
		rows++
	}
	return l.Holds(rows, len(p.cells)+1, p.bytes+len(c.key)+len(c.value))
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
func (w *writer) apply(ctx context.Context, cells []pair, try attempt) error {
	var rows [][]byte
	for _, c := range cells {
		if row := kv.Row(c.key); len(rows) == 0 || !bytes.Equal(rows[len(rows)-1], row) {
			rows = append(rows, row)
		}
	}
	for attempts := 1; ; attempts++ {
		unknown, err := try(ctx, w.e, rows, func(_ kv.Reader, b *kv.Batch) error {
			for _, c := range cells {
				b.Set(c.key, c.value)
			}
			return nil
		})
		if !unknown || attempts == wait.UnknownAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// empty deletes all that the target has, and the mark of an unfinished copy last.
func (w *writer) empty(ctx context.Context) error {
	mark := txn.OracleKey()
	for _, span := range []kv.Span{{End: mark}, {Start: kv.Successor(mark)}} {
		if _, err := kv.DeleteSpan(ctx, w.e, span, 0); err != nil {
			return err
		}
	}
	return tso.Empty(ctx, w.e, mark)
}
