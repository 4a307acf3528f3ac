package txn

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/tso"
)

// Held is what the holds that are in force keep of a store's past.
type Held struct {
	Holds  int
	Oldest tso.Timestamp // that is held; zero: none
}

// Held counts the holds and ends none, whose lease may be over: it is for those that watch. On an
// exclusive store it reads only where there may be any.
func (s *Store) Held(ctx context.Context) (h Held, err error) {
	if !s.holds.Load() {
		return h, nil
	}
	now, err := s.oracleTime(ctx)
	if err != nil {
		return h, err
	}
	err = kv.Repeat(ctx, s.engine, func(r kv.Reader) error {
		h = Held{}
		all, err := lease.Holds(ctx, r)
		for i := range all {
			if all[i].Expired(now) {
				continue
			}
			if h.Holds++; h.Oldest == 0 || all[i].Oldest < h.Oldest {
				h.Oldest = all[i].Oldest
			}
		}
		return err
	})
	return h, err
}
