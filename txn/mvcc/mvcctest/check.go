// Package mvcctest is for tests that look at a store as a whole: it checks the invariants of
// package mvcc, and draws the cells of a key as the paper's figures do.
package mvcctest

import (
	"context"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// Check walks the whole store and calls report with each broken invariant of package mvcc (I1 to
// I3, I5, I6), each cell that does not decode, and each orphan: a lock whose primary knows nothing
// of its transaction. After a crash such a lock may be there, when a secondary's prewrite survived
// and its primary's did not; a transaction that meets it rolls it back. So let the locks be settled
// first (txn.Store.SettleLocks): an orphan that is left then is an error.
func Check(ctx context.Context, r kv.Reader, report func(problem string)) error {
	var locks []mvcc.Cell
	known := map[string]bool{} // key@start_ts of each lock and each record
	err := mvcc.Keys(ctx, r, kv.Span{}, func(key []byte, cells []mvcc.Cell) error {
		var c checker
		for i := range cells {
			c.add(&cells[i])
		}
		for _, p := range c.problems() {
			report(fmt.Sprintf("key %q: %s", key, p))
		}
		for _, w := range c.writes {
			known[transactionOn(key, w.Write.StartTS)] = true
		}
		if c.lock != nil {
			known[transactionOn(key, c.lock.Lock.StartTS)] = true
			locks = append(locks, *c.lock)
		}
		return nil
	})
	for _, l := range locks {
		if !known[transactionOn(l.Lock.Primary, l.Lock.StartTS)] {
			report(fmt.Sprintf("key %q: orphan lock of transaction %s, primary %q", l.Key,
				l.Lock.StartTS, l.Lock.Primary))
		}
	}
	return err
}

func transactionOn(key []byte, startTS tso.Timestamp) string {
	return fmt.Sprintf("%s@%d", key, startTS)
}

// checker gathers the cells of one key.
type checker struct {
	lock   *mvcc.Cell
	writes []*mvcc.Cell
	data   map[tso.Timestamp]bool
	held   [rowlock.Update + 1]*mvcc.RowHolder // the first holder of the row in each mode
	notes  []*mvcc.Notification
	found  []string
}

func (c *checker) add(cell *mvcc.Cell) {
	switch cell.Column {
	case mvcc.ColumnLock:
		if c.lock != nil {
			c.problem("two locks")
		}
		c.lock = cell
	case mvcc.ColumnRowLock:
		c.addRowLock(&cell.Holder)
	case mvcc.ColumnNotify:
		c.notes = append(c.notes, &cell.Notification)
	case mvcc.ColumnWrite:
		c.writes = append(c.writes, cell)
	case mvcc.ColumnData:
		if c.data == nil {
			c.data = map[tso.Timestamp]bool{}
		}
		c.data[cell.TS] = true
	}
}

func (c *checker) addRowLock(h *mvcc.RowHolder) {
	if h.Queues() {
		return
	}
	for mode, other := range c.held {
		if other != nil && other.StartTS != h.StartTS && h.Mode.Conflicts(rowlock.Mode(mode)) {
			c.problem("row locks of transactions %s and %s, which exclude each other",
				other.StartTS, h.StartTS)
		}
	}
	if c.held[h.Mode] == nil {
		c.held[h.Mode] = h
	}
}

func (c *checker) problem(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *checker) problems() []string {
	started := map[tso.Timestamp]bool{}
	take := func(kind mvcc.Kind, startTS tso.Timestamp, short bool) {
		if started[startTS] {
			c.problem("two records of transaction %s", startTS)
		}
		started[startTS] = true
		long := kind == mvcc.KindPut && !short
		if long && !c.data[startTS] {
			c.problem("no data at %s", startTS)
		}
		if long {
			delete(c.data, startTS)
		}
	}
	for _, w := range c.writes {
		take(w.Write.Kind, w.Write.StartTS, w.Write.HasShort)
		if w.Write.Kind == mvcc.KindRollback && w.TS != w.Write.StartTS ||
			w.Write.Kind != mvcc.KindRollback && w.TS <= w.Write.StartTS {
			c.problem("%s record at %s of transaction %s", w.Write.Kind, w.TS, w.Write.StartTS)
		}
	}
	if c.lock != nil {
		take(c.lock.Lock.Kind, c.lock.Lock.StartTS, c.lock.Lock.HasShort)
	}
	c.checkNotes()
	for ts := range c.data {
		c.problem("data at %s that nothing points at", ts)
	}
	return c.found
}

// checkNotes compares the notifications with what their transactions have written. A record may
// have been collected.
func (c *checker) checkNotes() {
	committed := map[tso.Timestamp]tso.Timestamp{}
	for _, w := range c.writes {
		switch {
		case w.Write.Kind != mvcc.KindRollback:
			committed[w.Write.StartTS] = w.TS
		case !w.Write.Protected:
			committed[w.Write.StartTS] = 0
		}
		// A protected rollback record may come late: a resolver that met a lock long ago asks the
		// primary, whose record has been collected since.
	}
	locked := false // some cell went down with the lock
	for _, n := range c.notes {
		if ofLock := c.lock != nil && c.lock.Lock.StartTS == n.StartTS; ofLock {
			locked = true
			if n.Stamped() {
				c.problem("notification of transaction %s has a stamp beside its lock", n.StartTS)
			}
			continue
		}
		commitTS, known := committed[n.StartTS]
		if !n.Stamped() {
			c.problem("notification of transaction %s has no stamp and no lock", n.StartTS)
		} else if known && commitTS != n.CommitTS {
			c.problem("notification of transaction %s is stamped %s, its record is at %s",
				n.StartTS, n.CommitTS, commitTS)
		}
	}
	if c.lock != nil && c.lock.Lock.Notified && !locked {
		c.problem("lock of transaction %s without its notification", c.lock.Lock.StartTS)
	}
}
