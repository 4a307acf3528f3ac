package mvcc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Line is one timestamp of a key in the manner of the paper's figure 4: what each column holds at
// it. An empty string is an empty column.
type Line struct {
	TS                tso.Timestamp
	Data, Lock, Write string
}

// Figure lays the cells of one key side by side, newest timestamp first. A value inlined in a lock
// or in a write record is shown in the data column at its start_ts, where the paper has it. show
// prints values and keys.
func Figure(cells []Cell, show func([]byte) string) []Line {
	lines := map[tso.Timestamp]*Line{}
	at := func(ts tso.Timestamp) *Line {
		if lines[ts] == nil {
			lines[ts] = &Line{TS: ts}
		}
		return lines[ts]
	}
	for _, c := range cells {
		switch c.Column {
		case ColumnData:
			at(c.TS).Data = show(c.Value)
		case ColumnLock:
			if c.Lock.HasShort {
				at(c.TS).Data = show(c.Lock.Short)
			}
			at(c.TS).Lock = lockText(&c, show)
		case ColumnRowLock:
			l := at(c.TS)
			l.Lock = strings.TrimPrefix(l.Lock+"; "+rowLockText(&c.Holder), "; ")
		case ColumnWrite:
			if c.Write.HasShort {
				at(c.Write.StartTS).Data = show(c.Write.Short)
			}
			at(c.TS).Write = writeText(&c)
		}
	}
	out := make([]Line, 0, len(lines))
	for _, l := range lines {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Line) int {
		if a.TS > b.TS {
			return -1
		}
		return 1
	})
	return out
}

func lockText(c *Cell, show func([]byte) string) string {
	text := "primary@" + show(c.Lock.Primary)
	if bytes.Equal(c.Lock.Primary, c.Key) {
		text = "I am primary"
	}
	if c.Lock.Kind != KindPut {
		text += ", " + c.Lock.Kind.String()
	}
	if c.Lock.Owner != 0 {
		text += ", " + c.Lock.Holder()
	}
	if c.Lock.Async {
		text += ", async"
	}
	if n := len(c.Lock.Secondaries); n > 0 {
		text += fmt.Sprintf(", %d secondaries", n)
	}
	if c.Lock.MinCommitTS != 0 {
		text += fmt.Sprintf(", commit ≥ %s", c.Lock.MinCommitTS)
	}
	return text
}

func rowLockText(h *RowHolder) string {
	if h.Queues() {
		return fmt.Sprintf("queues for row lock, %s, %s", h.Mode, h.lock().Holder())
	}
	return fmt.Sprintf("row lock, %s, %s", h.Mode, h.lock().Holder())
}

func writeText(c *Cell) string {
	switch {
	case c.Write.Kind == KindPut:
		return "data@" + c.Write.StartTS.String()
	case c.Write.Kind == KindRollback && c.Write.Protected:
		return "rollback, protected"
	case c.Write.Kind == KindRollback:
		return "rollback"
	}
	return fmt.Sprintf("%s@%s", c.Write.Kind, c.Write.StartTS)
}

// Keys calls visit with every user key of the span that has a cell in any column, in order, and
// with its cells: data, lock, row locks, write. The slices are valid during the call.
func Keys(ctx context.Context, r kv.Reader, span kv.Span,
	visit func(key []byte, cells []Cell) error) (err error) {
	families := []byte{familyData, familyLock, familyNotify, familyRowLock, familyWrite}
	its := make([]kv.Iterator, len(families))
	defer func() {
		for _, it := range its {
			if it != nil {
				err = errors.Join(err, it.Close())
			}
		}
	}()
	for i, f := range families {
		it, err := r.NewIter(ctx, familySpan(f, span))
		if err != nil {
			return err
		}
		its[i] = it
		it.First()
	}
	var cells []Cell
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var row []byte
		for _, it := range its {
			if it.Valid() {
				if r := kv.Row(it.Key()); row == nil || bytes.Compare(r, row) < 0 {
					row = r
				}
			} else if err := it.Err(); err != nil {
				return err
			}
		}
		if row == nil {
			return nil
		}
		row = bytes.Clone(row)
		if cells, err = cellsOf(its, row, cells[:0]); err != nil {
			return err
		}
		if err := visit(cells[0].Key, cells); err != nil {
			return err
		}
	}
}

// cellsOf decodes the cells of a row and moves the iterators past it.
func cellsOf(its []kv.Iterator, row []byte, cells []Cell) ([]Cell, error) {
	for _, it := range its {
		for it.Valid() && bytes.Equal(kv.Row(it.Key()), row) {
			value, err := it.Value()
			if err != nil {
				return nil, err
			}
			c, err := Decode(it.Key(), value)
			if err != nil {
				return nil, err
			}
			cells = append(cells, c)
			it.Next()
		}
	}
	return cells, nil
}
