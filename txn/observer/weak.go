package observer

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// A weak notification (Percolator, §2.4) asks for a run on a row that its transaction does not
// write. It is the notification of a key that no other transaction writes: the row's, with the
// transaction's start_ts behind it. So the commit delivers it, or nothing does, and no two
// transactions conflict over it. The run deletes the key in its own transaction, and acknowledges
// nothing.

const startTSLen = 8

// NotifyWeakly makes the commit of t ask for a run on a row, which need not exist.
func (o *Target) NotifyWeakly(t *txn.Txn, rowKey []byte) error {
	key := binary.BigEndian.AppendUint64(o.weakKey(rowKey), uint64(t.StartTS()))
	t.Notify(key, o.ID, nil)
	return t.Set(key, []byte{1})
}

// weakKey begins the keys of the weak notifications of a row. It has no prefix of the row's place:
// a table-level change takes the row to another one.
func (o *Target) weakKey(rowKey []byte) []byte {
	return o.stateKey(stateWeak, bytes.TrimPrefix(rowKey, o.Rows.Start))
}

// RunKey returns the key by which a worker knows what a key with a notification asks for: the
// row's, or for a weak one that of all weak ones of the row.
func (o *Target) RunKey(key []byte) []byte {
	if o.stateSpan(stateWeak).Contains(key) && len(key) > len(o.State)+1+startTSLen {
		return key[:len(key)-startTSLen]
	}
	return key
}

// RowKey returns the key of the row that is to be run on for a RunKey.
func (o *Target) RowKey(key []byte) []byte {
	prefix := o.stateKey(stateWeak, nil)
	if rest, weak := bytes.CutPrefix(key, prefix); weak {
		return append(slices.Clip(bytes.Clone(o.Rows.Start)), rest...)
	}
	return key
}

// asked are the weak notifications of a row.
type asked struct {
	notes []txn.Notification
	fresh bool // there is one that was not given up
	later bool // there is one that the snapshot does not show
}

// weakly finds the weak notifications of a change's row. Those on which the observer has run stay
// until they are cleaned up: their keys have no value any more.
func (o *Target) weakly(ctx context.Context, t *txn.Txn, c *Change, since tso.Timestamp) (a asked,
	err error) {
	prefix := o.weakKey(c.Key)
	var keys [][]byte
	span := kv.Span{Start: prefix, End: kv.PrefixEnd(prefix)}
	err = t.Notifications(ctx, span, func(key []byte, n *txn.Notification) error {
		if n.Observer == o.ID && len(key) == len(prefix)+startTSLen {
			keys = append(keys, bytes.Clone(key))
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	for _, key := range keys {
		value, err := t.GetCurrent(ctx, key)
		if err != nil {
			return a, err
		}
		asks := value != nil
		all, settled, err := t.NotificationsOf(ctx, key, o.ID)
		if err != nil {
			return a, err
		}
		for i := range all {
			switch n := &all[i]; {
			case !settled || n.CommitTS > c.At:
				a.later = true
			case !asks:
				c.done = append(c.done, key)
			default:
				c.weak = append(c.weak, key)
				a.notes, a.fresh = append(a.notes, *n), a.fresh || n.CommitTS > since
			}
		}
	}
	return a, nil
}

// add adds the weak notifications to what collapse has made of the others.
func (c *Change) add(a *asked, found Found) Found {
	c.Weak = len(a.notes) > 0
	c.only = c.Weak && c.Origin == 0
	if c.only {
		c.Old = bytes.Clone(c.Value) // it is as it was
	}
	sum := image{origin: c.Origin, generation: c.Generation, path: c.Path}
	for i := range a.notes {
		n := &a.notes[i]
		sum.include(n.From(), n.Generation, n.Path)
	}
	c.Origin, c.Generation, c.Path = sum.origin, sum.generation, sum.path
	switch {
	case a.fresh:
		return Pending
	case found == Nothing && a.later:
		return Later
	}
	return found
}

// cleanWeak removes the weak notifications that a run has dealt with.
func (o *Target) cleanWeak(ctx context.Context, s *txn.Store, c *Change) error {
	keys := c.done
	keys = append(slices.Clip(keys), c.weak...)
	if len(keys) == 0 {
		return nil
	}
	_, err := s.AcknowledgeAll(ctx, keys, o.ID, c.At)
	return err
}
