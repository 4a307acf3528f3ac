package mvcctest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/minidb/minidb/txn/mvcc"
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
func Figure(cells []mvcc.Cell, show func([]byte) string) []*Line {
	lines := map[tso.Timestamp]*Line{}
	at := func(ts tso.Timestamp) *Line {
		if lines[ts] == nil {
			lines[ts] = &Line{TS: ts}
		}
		return lines[ts]
	}
	for _, c := range cells {
		switch c.Column {
		case mvcc.ColumnData:
			at(c.TS).Data = show(c.Value)
		case mvcc.ColumnLock:
			if c.Lock.HasShort {
				at(c.TS).Data = show(c.Lock.Short)
			}
			at(c.TS).Lock = lockText(&c, show)
		case mvcc.ColumnRowLock:
			l := at(c.TS)
			l.Lock = strings.TrimPrefix(l.Lock+"; "+rowLockText(&c.Holder), "; ")
		case mvcc.ColumnWrite:
			if c.Write.HasShort {
				at(c.Write.StartTS).Data = show(c.Write.Short)
			}
			at(c.TS).Write = writeText(&c)
		}
	}
	return slices.SortedFunc(maps.Values(lines),
		func(a, b *Line) int { return cmp.Compare(b.TS, a.TS) })
}

func lockText(c *mvcc.Cell, show func([]byte) string) string {
	text := "primary@" + show(c.Lock.Primary)
	if bytes.Equal(c.Lock.Primary, c.Key) {
		text = "I am primary"
	}
	if c.Lock.Kind != mvcc.KindPut {
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

func rowLockText(h *mvcc.RowHolder) string {
	l := h.AsLock()
	if h.Queues() {
		return fmt.Sprintf("queues for row lock, %s, %s", h.Mode, l.Holder())
	}
	return fmt.Sprintf("row lock, %s, %s", h.Mode, l.Holder())
}

func writeText(c *mvcc.Cell) string {
	switch {
	case c.Write.Kind == mvcc.KindPut:
		return "data@" + c.Write.StartTS.String()
	case c.Write.Kind == mvcc.KindRollback && c.Write.Protected:
		return "rollback, protected"
	case c.Write.Kind == mvcc.KindRollback:
		return "rollback"
	}
	return fmt.Sprintf("%s@%s", c.Write.Kind, c.Write.StartTS)
}
