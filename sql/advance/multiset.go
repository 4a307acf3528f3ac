package advance

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// imageHash identifies an image. It is part of a cryptographic hash, so that no client can make two
// rows that are taken for one.
type imageHash [16]byte

// multiset collects the delta of a view's rows and writes it.
type multiset struct {
	*runner
	view    *table.Desc
	writer  *table.Writer
	visible int
	byHash  map[imageHash]int // place in order
	order   []weighted
	full    []types.Datum // the row being written
	image   []byte
}

// weighted is a row of the view with the sum of its weights.
type weighted struct {
	row    []types.Datum // visible columns
	hash   imageHash
	weight int64
}

// weightedBytes is about what a row takes beside its values.
const weightedBytes = 120

func newMultiset(r *runner, view *table.Desc) *multiset {
	return &multiset{runner: r, view: view, writer: table.NewWriter(view, r.env.RowIDs),
		visible: view.VisibleColumns(), byHash: map[imageHash]int{},
		full: make([]types.Datum, len(view.Columns))}
}

// add adds a weight to a row.
func (m *multiset) add(row []types.Datum, weight int64) error {
	copy(m.full, row)
	var err error
	if m.image, err = m.writer.Image(m.image[:0], m.full); err != nil {
		return err
	}
	hash := m.hash()
	i, there := m.byHash[hash]
	if !there {
		i = len(m.order)
		if err := m.held.Grow(weightedBytes + types.RowSize(row)); err != nil {
			return err
		}
		m.byHash[hash] = i
		m.order = append(m.order, weighted{row: row, hash: hash})
	}
	m.order[i].weight += weight
	return nil
}

// hash is that of the last row that was added.
func (m *multiset) hash() imageHash {
	sum := sha256.Sum256(m.image)
	return imageHash(sum[:len(imageHash{})])
}

// write writes the rows and returns what changes of them. Rows that go are deleted before others
// come, since both may have the same key in a unique index of the view.
func (m *multiset) write(ctx context.Context) (*exec.Delta, error) {
	out := &exec.Delta{}
	for i := range m.order {
		if w := &m.order[i]; w.weight < 0 {
			if err := m.remove(ctx, w); err != nil {
				return nil, err
			}
			out.Add(w.row, w.weight)
		}
	}
	for i := range m.order {
		if w := &m.order[i]; w.weight > 0 {
			if err := m.insert(ctx, w); err != nil {
				return nil, err
			}
			out.Add(w.row, w.weight)
		}
	}
	return out, nil
}

func (m *multiset) remove(ctx context.Context, w *weighted) error {
	there, err := m.count(ctx, w)
	if err != nil {
		return err
	}
	if there+w.weight < 0 {
		return fmt.Errorf("view %q: of row %s there are %d, and %d are to go: %w", m.view.Name,
			table.FormatRow(m.view, m.whole(w, 0)), there, -w.weight, kv.ErrCorruption)
	}
	for n := there - 1; n >= there+w.weight; n-- {
		if err := m.writer.Delete(ctx, m.env.Tx, m.whole(w, n)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (m *multiset) insert(ctx context.Context, w *weighted) error {
	there, err := m.count(ctx, w)
	if err != nil {
		return err
	}
	for n := range w.weight {
		if err := m.writer.Insert(ctx, m.env.Tx, m.whole(w, there+n)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// whole is a row with its key: the hash of its image, and its number among equal rows.
func (m *multiset) whole(w *weighted, ordinal int64) []types.Datum {
	copy(m.full, w.row)
	m.full[m.visible] = types.NewString(string(w.hash[:]))
	m.full[m.visible+1] = types.NewInt(ordinal)
	return m.full
}

// count returns how often a row is there: the number of its last one, plus one.
func (m *multiset) count(ctx context.Context, w *weighted) (int64, error) {
	eq := []types.Datum{types.NewString(string(w.hash[:]))}
	spans, err := table.Spans(m.view, nil, []table.Range{{Eq: eq}}, true)
	if err != nil {
		return 0, err
	}
	last, err := m.first(ctx, m.view, m.visible+1, spans, true)
	if err != nil || last.Null {
		return 0, err
	}
	return last.I + 1, nil
}
