package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// line is what one key holds at one timestamp.
type line struct {
	ts                tso.Timestamp
	data, lock, write string
	notify            string // of the transaction that started then
}

// holder describes the owner of a lock, as far as the lock records it: the process that owned the
// store by its session, the client in it, and the statement.
func holder(l *mvcc.Lock) (out string) {
	if l.Owner != 0 {
		out += fmt.Sprintf(", session %d", l.Owner)
	}
	if l.Client != 0 {
		out += fmt.Sprintf(", process %d", l.Client)
	}
	if l.Statement != "" {
		out += fmt.Sprintf(", for %q", l.Statement)
	}
	return out
}

// rowLock describes a row lock that a transaction of a shared store holds, or queues for.
func rowLock(h *mvcc.RowHolder) string {
	what := "row lock, "
	if h.Queues() {
		what = fmt.Sprintf("queues since %d for row lock, ", uint64(h.Place))
	}
	l := h.AsLock()
	return what + h.Mode.String() + holder(&l)
}

// notification describes a change that an observer has yet to see.
func notification(key []byte, n *mvcc.Notification, d *catalog.Describer) string {
	stamp := "no stamp"
	if n.Stamped() {
		stamp = fmt.Sprintf("stamp %d", uint64(n.CommitTS))
	}
	was := "none"
	if n.HasOld {
		was = d.Value(key, n.Old)
	}
	return fmt.Sprintf("  notify: observer %d, %s, was %s", n.Observer, stamp, was)
}

// linesOf merges the cells of a key by timestamp, newest first. A value that travels in its write
// record or lock is shown there.
func linesOf(key []byte, cells []mvcc.Cell, d *catalog.Describer) []*line {
	lines := map[tso.Timestamp]*line{}
	for _, c := range cells {
		l := lines[c.TS]
		if l == nil {
			l = &line{ts: c.TS}
			lines[c.TS] = l
		}
		switch c.Column {
		case mvcc.ColumnData:
			l.data = d.Value(key, c.Value)
		case mvcc.ColumnLock:
			l.lock = "primary"
			if !bytes.Equal(c.Lock.Primary, key) {
				l.lock += "@" + d.Key(c.Lock.Primary)
			}
			if c.Lock.HasShort {
				l.lock += " (" + d.Value(key, c.Lock.Short) + ")"
			}
			l.lock += holder(&c.Lock)
		case mvcc.ColumnRowLock:
			l.lock = strings.TrimPrefix(l.lock+"; "+rowLock(&c.Holder), "; ")
		case mvcc.ColumnNotify:
			l.notify += notification(key, &c.Notification, d)
		case mvcc.ColumnWrite:
			l.write = fmt.Sprintf("→ %d", uint64(c.Write.StartTS))
			if c.Write.Kind != mvcc.KindPut {
				l.write = c.Write.Kind.String() + " " + l.write
			}
			if c.Write.HasShort {
				l.write += " (" + d.Value(key, c.Write.Short) + ")"
			}
		}
	}
	return slices.SortedFunc(maps.Values(lines),
		func(a, b *line) int { return cmp.Compare(b.ts, a.ts) })
}
