package backup

import (
	"context"
	"slices"
	"time"

	"github.com/minidb/minidb/txn/tso"
)

// Prune removes the finished backups that no moment since the given one needs: of each store it
// keeps those that are newer, the last one before them, and what these continue. It returns the
// names of the removed. An interruption leaves whole backups.
func Prune(ctx context.Context, p Place, since time.Time) (removed []string, err error) {
	all, err := List(ctx, p)
	if err != nil {
		return nil, err
	}
	floor := map[string]tso.Timestamp{} // by store: the last one that is not newer
	for _, m := range all {
		if s := string(m.Store); !m.Time().After(since) && m.At > floor[s] {
			floor[s] = m.At
		}
	}
	needed := map[string]bool{}
	for _, m := range all {
		if m.At < floor[string(m.Store)] {
			continue
		}
		chain, err := Chain(all, m.Name)
		if err != nil {
			return nil, err
		}
		for _, c := range chain {
			needed[c.Name] = true
		}
	}
	// Those that continue others go before them: no chain is ever without its beginning.
	slices.SortFunc(all, func(a, b *Manifest) int { return b.Time().Compare(a.Time()) })
	for _, m := range all {
		if needed[m.Name] {
			continue
		}
		if err := remove(ctx, p, m.Name); err != nil {
			return removed, err
		}
		removed = append(removed, m.Name)
	}
	return removed, nil
}
