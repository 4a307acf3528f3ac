package txn

import (
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/tso"
)

// Notification is a change of a row that an observer has perhaps not seen (package observer).
type Notification = mvcc.Notification

// Notify makes the next write of key, which has to follow, leave a notification for an observer if
// the transaction commits: in the same atomic update as the write, without a read and without a
// conflict. old is the value of the key that the transaction found, nil for none; of several writes
// of a key the first one counts.
func (t *Txn) Notify(key []byte, observer uint32, old []byte) {
	t.buf.Note(key, mvcc.Note{Observer: observer, HasOld: old != nil, Origin: t.origin.ts,
		Generation: t.origin.generation, Path: t.origin.path}, old)
}

// RunFor marks the transaction as the run of an observer: changes that it makes have the origin,
// the generation after it, and the path, which ends in the observer that runs.
func (t *Txn) RunFor(from tso.Timestamp, generation uint32, path mvcc.Path) {
	t.origin = origin{ts: from, generation: generation + 1, path: path}
}

// AlsoRunFor is RunFor of a further change in the same run: the lowest origin and the lowest
// generation count, with its path.
func (t *Txn) AlsoRunFor(from tso.Timestamp, generation uint32, path mvcc.Path) {
	if o := t.origin; o.ts != 0 {
		from = min(from, o.ts)
		if o.generation-1 <= generation {
			generation, path = o.generation-1, o.path
		}
	}
	t.RunFor(from, generation, path)
}

// WakeObserver makes the commit wake the workers of an observer, for something in the store that
// they are to look for.
func (t *Txn) WakeObserver(observer uint32) { t.woken = append(t.woken, observer) }

// wokenKeys bounds how many keys of one commit are passed on one by one.
const wokenKeys = 1024

// OnNotified calls f after each commit of this Store that has left notifications, or has perhaps,
// with the observer and the keys, or with nil keys when they are too many: they are found in the
// store then. f must not block, and keeps nothing of what it gets. It is set once, before the first
// transaction.
func (s *Store) OnNotified(f func(observer uint32, keys [][]byte)) { s.notified = f }

// Shared reports whether other processes write to the store too.
func (s *Store) Shared() bool { return !s.alone }

// Notifications calls visit with the notifications of a span of keys, key by key, until visit
// fails. What visit gets is valid during the call. Commits under way may be missing.
func (s *Store) Notifications(ctx context.Context, span kv.Span,
	visit func(key []byte, n *Notification) error) error {
	return s.reading(func(r kv.Reader) error { return mvcc.Notifications(ctx, r, span, visit) })
}

// Notifications is Store.Notifications for a transaction. What it finds is of the present.
func (t *Txn) Notifications(ctx context.Context, span kv.Span,
	visit func(key []byte, n *Notification) error) error {
	return t.s.Notifications(ctx, span, visit)
}

// Unowned calls visit with each notification that has no stamp, and whose transaction has no lock
// on the key, so that nothing will ever stamp or remove it. What visit gets is valid during the
// call.
func (s *Store) Unowned(ctx context.Context, visit func(key []byte, n *Notification) error) error {
	return s.reading(func(r kv.Reader) error {
		return mvcc.Notifications(ctx, r, kv.Span{}, func(key []byte, n *Notification) error {
			if n.Stamped() {
				return nil
			}
			row := mvcc.Row(key)
			l, locked, err := mvcc.LockOf(ctx, r, row)
			if err != nil || locked && l.StartTS == n.StartTS {
				return err
			}
			// A lock that went away between both reads has left a stamp.
			now, err := mvcc.RowNotifications(ctx, r, row, n.Observer)
			same := func(x Notification) bool { return x.StartTS == n.StartTS && !x.Stamped() }
			if err != nil || !slices.ContainsFunc(now, same) {
				return err
			}
			return visit(key, n)
		})
	})
}

// ErrNextSpan is what visit returns to pass over the rest of a span.
var ErrNextSpan = errors.New("txn: the rest of the span is passed over")

// NotificationsIn is Notifications of several spans as of one moment: a run of an observer that has
// removed the notification which it dealt with has left those of what it has written. All spans are
// visited again when the engine has given up the state of that moment.
func (s *Store) NotificationsIn(ctx context.Context, spans []kv.Span,
	visit func(span int, key []byte, n *Notification) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	return kv.Repeat(ctx, s.engine, func(r kv.Reader) error {
		for i, span := range spans {
			err := mvcc.Notifications(ctx, r, span, func(key []byte, n *Notification) error {
				return visit(i, key, n)
			})
			if err != nil && !errors.Is(err, ErrNextSpan) {
				return err
			}
		}
		return nil
	})
}

// NotificationsOf returns the notifications of one observer on a key: if the transaction has read
// the key, at least those of the commits that it sees. settled reports whether all have a stamp. If
// not, another transaction has a lock on the key; if that transaction has ended, the lock is
// settled here.
func (t *Txn) NotificationsOf(ctx context.Context, key []byte,
	observer uint32) (all []Notification, settled bool, err error) {
	row := mvcc.Row(key)
	for range 2 {
		err = t.s.reading(func(r kv.Reader) (err error) {
			all, err = mvcc.RowNotifications(ctx, r, row, observer)
			return err
		})
		unstamped := func(n Notification) bool { return !n.Stamped() }
		if err != nil || !slices.ContainsFunc(all, unstamped) {
			return all, err == nil, err
		}
		if gone, err := t.s.settleLock(ctx, key); err != nil || !gone {
			return all, false, err
		}
	}
	return all, false, nil
}

// NotificationsOfEach is NotificationsOf for several keys: it calls visit with each key of them
// that has notifications of the observer.
func (t *Txn) NotificationsOfEach(ctx context.Context, keys [][]byte, observer uint32,
	visit func(i int, all []Notification, settled bool) error) error {
	rows := make([][]byte, len(keys))
	for i, key := range keys {
		rows[i] = mvcc.Row(key)
	}
	var unstamped []int
	err := t.s.reading(func(r kv.Reader) error {
		return mvcc.RowsNotifications(ctx, r, rows, observer,
			func(i int, all []Notification) error {
				if slices.ContainsFunc(all, func(n Notification) bool { return !n.Stamped() }) {
					unstamped = append(unstamped, i)
					return nil
				}
				return visit(i, all, true)
			})
	})
	for _, i := range unstamped {
		if err != nil {
			return err
		}
		var all []Notification
		var settled bool
		if all, settled, err = t.NotificationsOf(ctx, keys[i], observer); err == nil {
			err = visit(i, all, settled)
		}
	}
	return err
}

// settleLock settles the lock on a key, if there is one and its transaction has ended. It reports
// whether the key is unlocked.
func (s *Store) settleLock(ctx context.Context, key []byte) (gone bool, err error) {
	locked := &LockedError{Key: key}
	found := false
	err = s.reading(func(r kv.Reader) (err error) {
		locked.Lock, found, err = mvcc.LockOf(ctx, r, mvcc.Row(key))
		return err
	})
	if err != nil || !found {
		return err == nil, err
	}
	out, err := s.resolver.Settle(ctx, locked, 0)
	return out == resolve.Settled, err
}

// reading runs f over what is there now (kv.Latest).
func (s *Store) reading(f func(r kv.Reader) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	snap, err := kv.Latest(s.engine)
	if err != nil {
		return err
	}
	return errors.Join(f(snap), snap.Close())
}

// Acknowledge removes the notifications of an observer on a key up to the start_ts of a run of it
// that has committed, and nothing newer. It need not be durable, nor atomic: what a crash brings
// back or leaves is at or below the acknowledgement. What a hold keeps stays too, for a later
// acknowledgement (Hold).
func (s *Store) Acknowledge(ctx context.Context, key []byte, observer uint32,
	run tso.Timestamp) error {
	_, err := s.AcknowledgeAll(ctx, [][]byte{key}, observer, run)
	return err
}

const (
	// acknowledgedRows bounds one update of AcknowledgeAll.
	acknowledgedRows = 512
	// acknowledgeRuns is how often the step of such an update runs before it is cut into halves.
	acknowledgeRuns = 3
)

// AcknowledgeAll is Acknowledge for many keys, in as many updates as it takes. On an engine that
// runs a step again when one of its rows was written meanwhile, an update of many rows that others
// write all the time would never come to its end, so it is cut.
//
// It reports whether a hold may have kept some: then whatever says that they were seen has to stay.
func (s *Store) AcknowledgeAll(ctx context.Context, keys [][]byte, observer uint32,
	run tso.Timestamp) (held bool, err error) {
	if err := s.enter(); err != nil {
		return false, err
	}
	defer s.gate.RUnlock()
	kept, err := s.keptStamp(ctx)
	if err != nil || kept >= run {
		return true, err
	}
	for _, group := range s.rowsByGroup(keys) {
		limits := s.limits.Lower(kv.Limits{Rows: acknowledgedRows})
		err := kv.InParts(limits, group, func(rows [][]byte) (err error) {
			longest := slices.MaxFunc(rows, func(a, b []byte) int { return len(a) - len(b) })
			most := limits.Writes(mvcc.CellKeyBytes(longest))
			for more := true; more && err == nil; {
				runs := 0
				err = kv.UpdateLazy(ctx, s.engine, rows, func(r kv.Reader, b *kv.Batch) error {
					if runs++; runs > acknowledgeRuns && len(rows) > 1 {
						return kv.ErrContended
					}
					more, err = mvcc.Acknowledge(ctx, r, b, rows, observer,
						mvcc.Stamps{Above: kept, Through: run}, most)
					return err
				})
			}
			return err
		})
		if err != nil {
			return true, err
		}
	}
	return kept != 0, nil
}

// rowsByGroup returns the rows of keys, those of a group of the engine together.
func (s *Store) rowsByGroup(keys [][]byte) map[uint64][][]byte {
	groups := map[uint64][][]byte{}
	for _, key := range keys {
		row := mvcc.Row(key)
		g := kv.GroupOf(s.engine, row)
		groups[g] = append(groups[g], row)
	}
	return groups
}

// Announce leaves notifications for an observer on keys that have not changed, so that it runs on
// each of them. They are durable once a later commit is.
func (s *Store) Announce(ctx context.Context, keys [][]byte, observer uint32) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	for _, rows := range s.rowsByGroup(keys) {
		ts, err := s.source.Next(ctx)
		if err != nil {
			return err
		}
		err = kv.InParts(s.limits, rows, func(part [][]byte) error {
			return kv.UpdateLazy(ctx, s.engine, part, func(_ kv.Reader, b *kv.Batch) error {
				mvcc.Announce(b, part, observer, ts)
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
