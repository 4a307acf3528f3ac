package mvcc

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// The steps of row locks in the store. Each reads the cells of a row's column (row_lock_cell.go)
// that may exclude what it wants, and writes its own. So its cost does not grow with the number of
// cells that exclude nothing.

// RowLockedError is returned for a key of which other transactions hold row locks that exclude the
// wanted one.
type RowLockedError struct {
	Key     []byte
	Holders []RowHolder // those in the way
	// Newest is the key's newest write after the timestamp that LockRow was given.
	Newest Version
	// Before is, of a transaction that queues for the row, how many queue before it: no more than
	// queueCounted are counted.
	Before int
}

// queueCounted bounds RowLockedError.Before.
const queueCounted = 16

func (e *RowLockedError) Error() string {
	h := &e.Holders[0]
	return fmt.Sprintf("key %q has a row lock of transaction %s (%s)", e.Key, h.StartTS,
		h.lock().Holder())
}

// RowRequest is what a transaction wants of a row.
type RowRequest struct {
	// RowHolder is the lock. Its mode covers what the transaction had; Place is its place in the
	// queue.
	RowHolder
	// Had is the mode in which the transaction may hold the row already.
	Had rowlock.Mode
	// Since is the timestamp after which a write of the key is of interest.
	Since tso.Timestamp
	// Gone reports whether a holder in the way has ended; its cell is removed then.
	Gone func(RowHolder) bool
}

// rowLook is what a step finds of a row that a transaction wants.
type rowLook struct {
	held   bool        // some transaction holds the row, in whatever mode
	own    []RowHolder // of those that were read, the transaction's
	gone   []RowHolder
	others []RowHolder // those in the way; of a queue, the first that came first
}

// lookAtRow finds the transactions for which one that wants a mode has to wait: holders that
// exclude the mode, or, when the row has no holder, those that came to the queue before. A request
// that the holders do not exclude is granted, whatever waits in the queue, as in package rowlock.
// It reads the cells that are in the way, the transaction's own among them, and one more.
func (s *step) lookAtRow(ctx context.Context, row []byte, q *RowRequest) (l rowLook, err error) {
	weakest := weakestExcluded(q.Mode)
	isOther := func(h RowHolder) bool {
		switch {
		case h.StartTS == q.StartTS:
			l.own = append(l.own, h)
		case q.Gone != nil && q.Gone(h):
			l.gone = append(l.gone, h)
		default:
			return true
		}
		return false
	}
	err = s.scanRowLocks(ctx, row, holderRank(rowlock.Update), func(h RowHolder) bool {
		if h.Queues() || h.Mode < weakest {
			l.held = l.held || !h.Queues()
			return false
		}
		if isOther(h) {
			l.others = append(l.others, h)
		}
		l.held = len(l.others)+len(l.own) > 0
		return true
	})
	if err != nil || l.held {
		return l, err
	}
	place := cmp.Or(q.Place, tso.Max)
	err = s.scanRowLocks(ctx, row, queueRank(rowlock.Update), func(h RowHolder) bool {
		if h.Mode < weakest {
			return false
		}
		if h.StartTS == q.StartTS {
			place = min(place, h.Place)
		}
		if isOther(h) {
			l.others = append(l.others, h)
		}
		return true
	})
	l.others = slices.DeleteFunc(l.others, func(h RowHolder) bool { return h.Place > place })
	slices.SortFunc(l.others, func(a, b RowHolder) int { return cmp.Compare(a.Place, b.Place) })
	return l, err
}

// queueBefore counts the transactions that queue for a row before a place, of the first few.
func (s *step) queueBefore(ctx context.Context, row []byte, place tso.Timestamp) (n int,
	err error) {
	if place == 0 {
		return 0, nil
	}
	seen := 0
	err = s.scanRowLocks(ctx, row, queueRank(rowlock.Update), func(h RowHolder) bool {
		if h.Place < place {
			n++
		}
		seen++
		return seen < queueCounted
	})
	return n, err
}

// LockRow gives a row lock of the key to a transaction, and returns the newest write of the key
// after q.Since. It refuses with *LockedError while another transaction has prewritten the key, and
// with *RowLockedError while others hold row locks that exclude the mode. A free row goes to the
// first of its queue. It may be repeated.
//
// Taking the lock and looking for writes are one step on one row. So of a prewrite of the key and
// of this step, the later one finds the earlier (txn: I9).
func LockRow(ctx context.Context, r kv.Reader, b *kv.Batch, key []byte, q RowRequest) (v Version,
	err error) {
	if v, err = Newest(ctx, r, key, q.StartTS, q.Since); err != nil {
		return v, err
	}
	s := newStep(r, b)
	defer s.close(&err)
	row := Row(key)
	l, err := s.lookAtRow(ctx, row, &q)
	if err != nil {
		return v, err
	}
	if len(l.others) > 0 {
		locked := &RowLockedError{Key: bytes.Clone(key), Holders: l.others, Newest: v}
		locked.Before, err = s.queueBefore(ctx, row, q.Place)
		if err != nil {
			return v, err
		}
		return v, locked
	}
	for i := range l.gone {
		s.dropRowLock(row, &l.gone[i])
	}
	if q.Place != 0 {
		s.dropRowLock(row, &q.RowHolder)
	}
	s.takeRowLock(row, &q, l.own)
	return v, nil
}

// takeRowLock writes the cell of a transaction that has to wait for no other, in place of those
// that it has there. A cell that is there is written again: an update that gives it back, and whose
// answer was lost, may still be on its way, and only a step that writes keeps it out (package kv).
func (s *step) takeRowLock(row []byte, q *RowRequest, own []RowHolder) {
	mine := q.RowHolder
	mine.Place = 0
	if q.Had != rowlock.None { // which may not have been read
		own = append(own, RowHolder{StartTS: q.StartTS, Mode: q.Had})
	}
	for i := range own {
		if !own[i].Queues() {
			mine.Mode = max(mine.Mode, own[i].Mode)
		}
	}
	for i := range own {
		if h := &own[i]; h.Queues() || h.Mode != mine.Mode {
			s.dropRowLock(row, h)
		}
	}
	s.setRowLock(row, &mine)
}

// QueueRow puts a transaction into the queue of a row, at the place that it brings: a timestamp
// which the caller drew for it. It does not look whether the row is free. LockRow and UnlockRows
// take it out of the queue. It may be repeated.
func QueueRow(b *kv.Batch, row []byte, h RowHolder) {
	s := newStep(nil, b)
	s.setRowLock(row, &h)
	s.end()
}

// KeepRow is what a transaction keeps of its row lock of a row: Mode, or nothing with rowlock.None.
type KeepRow struct {
	Row  []byte
	Mode rowlock.Mode
	// Had are the modes in which it may hold the row.
	Had RowModes
	// Place is its place in the row's queue, if it has one, and Queued the mode that it queues for.
	Place  tso.Timestamp
	Queued rowlock.Mode
}

// UnlockRows gives row locks of a transaction back, and takes it out of the rows' queues. It writes
// rows where it is not, too: an update that would put it there, and whose answer was lost, must not
// arrive afterwards. It reads only where a weaker lock is kept.
func UnlockRows(
	ctx context.Context, r kv.Reader, b *kv.Batch, startTS tso.Timestamp, rows []KeepRow,
) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for i := range rows {
		k := &rows[i]
		if k.Place != 0 {
			s.dropRowLock(k.Row, &RowHolder{StartTS: startTS, Mode: k.Queued, Place: k.Place})
		}
		for mode := k.Mode + 1; mode <= rowlock.Update; mode++ {
			if !k.Had.has(mode) {
				continue
			}
			h := RowHolder{StartTS: startTS, Mode: mode}
			if k.Mode != rowlock.None {
				found, err := s.readRowLock(ctx, k.Row, &h)
				if err != nil {
					return err
				}
				if found { // no resolver took it for one of a dead process
					kept := h
					kept.Mode = k.Mode
					s.setRowLock(k.Row, &kept)
				}
			}
			s.dropRowLock(k.Row, &h)
		}
	}
	return nil
}

// DropRowHolders removes those of the given holders of a row, or places in its queue, that are
// still there under the same session, and returns their number.
func DropRowHolders(
	ctx context.Context, r kv.Reader, b *kv.Batch, row []byte, holders []RowHolder,
) (n int, err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for i := range holders {
		now := holders[i]
		found, err := s.readRowLock(ctx, row, &now)
		if err != nil {
			return 0, err
		}
		if found && now.Owner == holders[i].Owner {
			s.dropRowLock(row, &now)
			n++
		}
	}
	return n, nil
}

// ConvertRowLocks comes before a prewrite of the mutations, in the same update. It refuses with
// *RowLockedError rows that others have locked, or queue for, and removes the transaction's own row
// locks: the locks that replace them exclude more, and stay until the writes are visible. holds
// reports whether the transaction may have any.
func ConvertRowLocks(
	ctx context.Context, r kv.Reader, b *kv.Batch, startTS tso.Timestamp, holds bool,
	muts []Mutation,
	modeOf func(*Mutation) rowlock.Mode,
) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for i := range muts {
		m := &muts[i]
		if m.OwnOnly {
			continue // it may become no lock
		}
		q := RowRequest{RowHolder: RowHolder{StartTS: startTS, Mode: modeOf(m)}}
		l, err := s.lookAtRow(ctx, m.Row, &q)
		if err != nil {
			return err
		}
		if len(l.others) > 0 {
			return &RowLockedError{Key: bytes.Clone(m.Key), Holders: l.others}
		}
		for i := range l.own {
			s.dropRowLock(m.Row, &l.own[i])
		}
		if !holds || len(l.own) > 0 {
			continue
		}
		// those that were not read
		for mode := rowlock.KeyShare; mode < weakestExcluded(q.Mode); mode++ {
			h := RowHolder{StartTS: startTS, Mode: mode}
			found, err := s.readRowLock(ctx, m.Row, &h)
			if err != nil {
				return err
			}
			if found {
				s.dropRowLock(m.Row, &h)
			}
		}
	}
	return nil
}

// Contested reports whether another transaction has a lock of the key, or a row lock that excludes
// the mode.
func Contested(
	ctx context.Context, r kv.Reader, key []byte, startTS tso.Timestamp, mode rowlock.Mode,
) (yes bool, err error) {
	s := newStep(r, nil)
	defer s.close(&err)
	row := Row(key)
	l, locked, err := s.lock(ctx, row)
	if err != nil || locked && l.StartTS != startTS {
		return err == nil, err
	}
	err = s.scanRowLocks(ctx, row, holderRank(rowlock.Update), func(h RowHolder) bool {
		if h.Queues() || !h.Mode.Conflicts(mode) {
			return false
		}
		yes = h.StartTS != startTS
		return !yes
	})
	return yes, err
}

// Blockers lists the transactions for which one waits that wants a mode of a key, and queues for it
// at a place, if that is not zero: the transaction that has a lock of the key, or those whose row
// locks are in the way. With rowlock.None only the former counts.
func Blockers(
	ctx context.Context, r kv.Reader, key []byte, h RowHolder,
) (out []tso.Timestamp, err error) {
	s := newStep(r, nil)
	defer s.close(&err)
	row := Row(key)
	l, locked, err := s.lock(ctx, row)
	switch {
	case err != nil || h.Mode == rowlock.None && !locked:
		return nil, err
	case locked && l.StartTS != h.StartTS:
		return []tso.Timestamp{l.StartTS}, nil
	case h.Mode == rowlock.None:
		return nil, nil
	}
	look, err := s.lookAtRow(ctx, row, &RowRequest{RowHolder: h})
	for i := range look.others {
		out = append(out, look.others[i].StartTS)
	}
	return out, err
}
