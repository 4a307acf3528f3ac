package observer

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// sweepKeys is how many rows Sweep looks for before it removes their notifications.
const sweepKeys = 500

// Sweep removes the notifications of an observer that was dropped, from whatever rows they are on.
// Requires: no later commit leaves any. left reports whether some have no stamp yet, or are held
// (txn.Hold), perhaps: they are for another sweep.
func Sweep(ctx context.Context, s *txn.Store, observer uint32) (left bool, err error) {
	for from := []byte(nil); ; {
		var keys [][]byte
		err := s.Notifications(ctx, kv.Span{Start: from},
			func(key []byte, n *txn.Notification) error {
				switch {
				case n.Observer != observer:
				case !n.Stamped():
					left = true
				case len(keys) == 0 || !bytes.Equal(keys[len(keys)-1], key):
					if len(keys) == sweepKeys {
						return errFull
					}
					keys = append(keys, bytes.Clone(key))
				}
				return nil
			})
		if err != nil && !errors.Is(err, errFull) {
			return left, err
		}
		for _, key := range keys {
			if err := s.Acknowledge(ctx, key, observer, tso.Max); err != nil {
				return left, err
			}
		}
		if err == nil {
			held, err := s.Holds(ctx)
			return left || held, err
		}
		from = keys[len(keys)-1]
	}
}
