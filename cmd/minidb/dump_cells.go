package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

type orderedKeys []*cells

func (o orderedKeys) sort() {
	slices.SortFunc(o, func(a, b *cells) int { return bytes.Compare(a.key, b.key) })
}

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

// lines merges the columns by timestamp, newest first. A value that travels in its write record or
// lock is shown there.
func (c *cells) lines(d *catalog.Describer) []line {
	at := map[tso.Timestamp]*line{}
	get := func(ts tso.Timestamp) *line {
		if at[ts] == nil {
			at[ts] = &line{ts: ts}
		}
		return at[ts]
	}
	for _, x := range c.data {
		get(x.TS).data = d.Value(c.key, x.Value)
	}
	for _, x := range c.lock {
		s := "primary"
		if !bytes.Equal(x.Lock.Primary, c.key) {
			s = "primary@" + d.Key(x.Lock.Primary)
		}
		if x.Lock.HasShort {
			s += " (" + d.Value(c.key, x.Lock.Short) + ")"
		}
		get(x.TS).lock = s + holder(&x.Lock)
	}
	for _, x := range c.rowLocks {
		l := get(x.TS)
		l.lock = strings.TrimPrefix(l.lock+"; "+rowLock(&x.Holder), "; ")
	}
	for _, x := range c.notify {
		n := &x.Notification
		stamp := "no stamp"
		if n.Stamped() {
			stamp = fmt.Sprintf("stamp %d", uint64(n.CommitTS))
		}
		was := "none"
		if n.HasOld {
			was = d.Value(c.key, n.Old)
		}
		get(x.TS).notify += fmt.Sprintf("  notify: observer %d, %s, was %s", n.Observer, stamp, was)
	}
	for _, x := range c.write {
		s := fmt.Sprintf("→ %d", uint64(x.Write.StartTS))
		if x.Write.Kind != mvcc.KindPut {
			s = x.Write.Kind.String() + " " + s
		}
		if x.Write.HasShort {
			s += " (" + d.Value(c.key, x.Write.Short) + ")"
		}
		get(x.TS).write = s
	}
	out := make([]line, 0, len(at))
	for _, l := range at {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b line) int {
		if a.ts > b.ts {
			return -1
		}
		return 1
	})
	return out
}
