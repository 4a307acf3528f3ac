package follow

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// cleanedRows is how many rows are looked for at a time before their notifications are removed.
const cleanedRows = 500

var errEnough = errors.New("enough")

// Clean removes the notifications that Changes cover. Requires: the transaction in which they were
// found has committed, and nothing else that follows the table needs them. It need not be durable:
// what a crash brings back is at or below the frontier. After an error the rest stays for a later
// Look.
func (c *Changes) Clean(ctx context.Context, s *txn.Store) error {
	c.table.Tracker.Note(c.laterKeys())
	err := c.clean(ctx, s)
	if err != nil {
		c.PutBack()
	}
	return err
}

// laterKeys is never nil, which would mean all.
func (c *Changes) laterKeys() [][]byte { return append([][]byte{}, c.later...) }

func (c *Changes) clean(ctx context.Context, s *txn.Store) error {
	if c.TooMany {
		c.table.Tracker.Note(nil) // what is above At was not looked at
		return c.cleanSpan(ctx, s)
	}
	keys := make([][]byte, len(c.rows))
	for i := range c.rows {
		keys[i] = c.rows[i].key
	}
	_, err := s.AcknowledgeAll(ctx, keys, c.table.Observer, c.At)
	return err
}

// cleanSpan does so for keys that memory does not hold.
func (c *Changes) cleanSpan(ctx context.Context, s *txn.Store) error {
	for span := c.table.Rows; ; {
		var keys [][]byte
		err := s.Notifications(ctx, span, func(key []byte, n *txn.Notification) error {
			switch {
			case n.Observer != c.table.Observer || !n.Stamped() || n.CommitTS > c.At:
			case len(keys) == 0 || !bytes.Equal(keys[len(keys)-1], key):
				if len(keys) == cleanedRows {
					return errEnough
				}
				keys = append(keys, bytes.Clone(key))
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		_, aerr := s.AcknowledgeAll(ctx, keys, c.table.Observer, c.At)
		if aerr != nil || err == nil {
			return aerr
		}
		span = kv.Span{Start: keys[len(keys)-1], End: c.table.Rows.End}
	}
}
