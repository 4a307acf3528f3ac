package follow

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// Table is one that is followed.
type Table struct {
	Observer uint32  // for which its writers leave notifications
	Rows     kv.Span // its keys
	Tracker  *Tracker

	rowsMax, bytesMax int // tests lower them; 0 means rowsMax, bytesMax
}

const (
	// rowsMax and bytesMax bound Changes.
	rowsMax  = 100_000
	bytesMax = 64 << 20
	// lookRows is how many rows are read at a time.
	lookRows = 1024
)

// Changes are those of a table up to a timestamp.
type Changes struct {
	At tso.Timestamp
	// TooMany means that they are not here: there are more than fit into memory.
	TooMany bool

	table *Table
	rows  []row // in the order of their keys
	size  int
	taken taken
	later [][]byte // keys with notifications that are no part of Changes
}

// Empty reports whether the store has no notifications up to At.
func (c *Changes) Empty() bool { return !c.TooMany && len(c.rows) == 0 }

// row is one with notifications that are stamped at or below At.
type row struct {
	key   []byte
	value []byte // at At; nil: there is none
	cells []cell // in the order of their stamps
}

type cell struct {
	stamp tso.Timestamp
	old   []byte // nil: there was no row
}

var errTooMany = errors.New("too many changes")

// Look finds the changes that t sees: all that were committed at or below its read timestamp and
// are not cleaned up. The caller ends them with Clean when t has committed, or with PutBack.
// Requires: t has not written keys of the table.
func (f *Table) Look(ctx context.Context, s *txn.Store, t *txn.Txn) (*Changes, error) {
	c := &Changes{At: t.ReadTS(), table: f, taken: f.Tracker.take(s, f.Observer)}
	err := c.look(ctx, s, t)
	if errors.Is(err, errTooMany) {
		c.TooMany, c.rows, err = true, nil, nil
	}
	if err != nil {
		c.PutBack()
		return nil, err
	}
	return c, nil
}

func (c *Changes) look(ctx context.Context, s *txn.Store, t *txn.Txn) error {
	if c.taken.lost {
		if err := c.scan(ctx, s); err != nil {
			return err
		}
	}
	keys := make([][]byte, 0, len(c.taken.keys))
	for _, key := range slices.Sorted(maps.Keys(c.taken.keys)) {
		if k := []byte(key); c.table.Rows.Contains(k) { // else of a former place of the rows
			keys = append(keys, k)
		}
	}
	if len(keys) > cmp.Or(c.table.rowsMax, rowsMax) {
		return errTooMany
	}
	for some := range slices.Chunk(keys, lookRows) {
		if err := c.read(ctx, t, some); err != nil {
			return err
		}
	}
	slices.SortFunc(c.rows, func(a, b row) int { return bytes.Compare(a.key, b.key) })
	return nil
}

// scan adds the keys of all notifications that the store has.
func (c *Changes) scan(ctx context.Context, s *txn.Store) error {
	most := cmp.Or(c.table.rowsMax, rowsMax)
	return s.Notifications(ctx, c.table.Rows, func(key []byte, n *txn.Notification) error {
		if n.Observer != c.table.Observer {
			return nil
		}
		c.taken.keys[string(key)] = struct{}{}
		if len(c.taken.keys) > most {
			return errTooMany
		}
		return nil
	})
}

// read looks at some rows: the values first, so that every commit which they show has left its
// notification, and none below At is to come (follow I2).
func (c *Changes) read(ctx context.Context, t *txn.Txn, keys [][]byte) error {
	values, err := t.GetMany(ctx, keys)
	if err != nil {
		return err
	}
	return t.NotificationsOfEach(ctx, keys, c.table.Observer,
		func(i int, all []txn.Notification, _ bool) error {
			return c.add(keys[i], values[i], all)
		})
}

// add adds a row with its notifications up to At. Others are for a later look (follow I3).
func (c *Changes) add(key, value []byte, all []txn.Notification) error {
	r := row{key: key, value: value}
	c.size += len(key) + len(value)
	newer := false
	for i := range all {
		n := &all[i]
		if !n.Stamped() || n.CommitTS > c.At {
			newer = true
			continue
		}
		old := cell{stamp: n.CommitTS}
		if n.HasOld {
			old.old = n.Old
			if old.old == nil {
				old.old = []byte{}
			}
		}
		c.size += len(n.Old)
		r.cells = append(r.cells, old)
	}
	if newer {
		c.later = append(c.later, key)
	}
	if len(r.cells) == 0 {
		return nil
	}
	slices.SortFunc(r.cells, func(a, b cell) int { return cmp.Compare(a.stamp, b.stamp) })
	c.rows = append(c.rows, r)
	if c.size > cmp.Or(c.table.bytesMax, bytesMax) ||
		len(c.rows) > cmp.Or(c.table.rowsMax, rowsMax) {
		return errTooMany
	}
	return nil
}

// first is the row's first cell above a timestamp, nil when there is none.
func (r *row) first(since tso.Timestamp) *cell {
	for i := range r.cells {
		if r.cells[i].stamp > since {
			return &r.cells[i]
		}
	}
	return nil
}

// First returns the lowest stamp above a timestamp, zero when there is none. In between, nothing
// that is followed has changed: the table is at the timestamp right below First what it was at
// since. Requires: not TooMany.
func (c *Changes) First(since tso.Timestamp) (lowest tso.Timestamp) {
	for i := range c.rows {
		if f := c.rows[i].first(since); f != nil && (lowest == 0 || f.stamp < lowest) {
			lowest = f.stamp
		}
	}
	return lowest
}

// Each calls visit with each row that is not at At what it was at since, in the order of the keys.
// old and new are nil where there is no row. Requires: not TooMany.
func (c *Changes) Each(since tso.Timestamp, visit func(key, old, new []byte) error) error {
	for i := range c.rows {
		r := &c.rows[i]
		f := r.first(since)
		if f == nil || (f.old == nil) == (r.value == nil) && bytes.Equal(f.old, r.value) {
			continue
		}
		if err := visit(r.key, f.old, r.value); err != nil {
			return err
		}
	}
	return nil
}

// PutBack returns to the Tracker what was to be looked at: the transaction has not committed.
func (c *Changes) PutBack() { c.table.Tracker.putBack(c.taken) }
