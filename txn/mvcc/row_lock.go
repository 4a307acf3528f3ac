package mvcc

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// RowHolder is one of those in the row lock column of a key: a transaction that holds a row lock of it,
// of which the lock column says nothing yet, or one that queues for it. Readers never look at this column.
type RowHolder struct {
	StartTS tso.Timestamp
	// Owner is the session (package session) of the transaction: with it the lock ends.
	Owner uint64
	Mode  rowlock.Mode
	// Queues says that the transaction does not hold the lock, but waits for its turn (QueueRow).
	Queues bool
	// Client and Statement are for whoever wants to know whom he waits for, as those of a Lock.
	Client    uint64
	Statement string
}

// rowLocks are all of those, apart.
type rowLocks struct {
	holders []RowHolder // in the order of start_ts
	queue   []RowHolder // in the order of arrival
}

// RowLockedError says that others hold row locks of a key that exclude what is wanted of it.
type RowLockedError struct {
	Key     []byte
	Holders []RowHolder // those in the way
	// Newest is the key's newest write after the timestamp that LockRow was given.
	Newest Version
}

func (e *RowLockedError) Error() string {
	return fmt.Sprintf("key %q has a row lock of transaction %s (%s)", e.Key, e.Holders[0].StartTS, e.Holders[0].lock().Holder())
}

// lock is the holder as a lock, for whoever shows both.
func (h *RowHolder) lock() *Lock {
	return &Lock{Kind: KindLock, StartTS: h.StartTS, Owner: h.Owner, Client: h.Client, Statement: h.Statement}
}

// AsLock shows the holder as a lock of its own.
func (h *RowHolder) AsLock() Lock { return *h.lock() }

// rowLockFormat is the first byte of the column; rowLockQueues is a bit of a mode.
const (
	rowLockFormat byte = 1
	rowLockQueues byte = 0x80
)

func appendRowLockKey(dst, row []byte) []byte { return append(append(dst, familyRowLock), row...) }

// appendRowLocks appends the encoding of the column:
//
//	format, then for each holder, in the order of start_ts, and for each who queues, in the order of arrival:
//	start_ts (8 bytes), owner (8 bytes), mode (1 byte, with bit 80 of who queues), uvarint client,
//	uvarint length of statement, statement
func appendRowLocks(dst []byte, l rowLocks) []byte {
	dst = append(dst, rowLockFormat)
	return appendRowHolders(appendRowHolders(dst, l.holders), l.queue)
}

func appendRowHolders(dst []byte, holders []RowHolder) []byte {
	for i := range holders {
		h := &holders[i]
		dst = binary.BigEndian.AppendUint64(dst, uint64(h.StartTS))
		dst = binary.BigEndian.AppendUint64(dst, h.Owner)
		mode := byte(h.Mode)
		if h.Queues {
			mode |= rowLockQueues
		}
		dst = append(dst, mode)
		dst = binary.AppendUvarint(dst, h.Client)
		dst = binary.AppendUvarint(dst, uint64(len(h.Statement)))
		dst = append(dst, h.Statement...)
	}
	return dst
}

// decodeRowHolders decodes the column. The result shares nothing with it.
func decodeRowHolders(value []byte) (out []RowHolder, err error) {
	bad := func() ([]RowHolder, error) {
		return nil, fmt.Errorf("mvcc: bad row locks %x: %w", value, kv.ErrCorruption)
	}
	if len(value) < 2 || value[0] != rowLockFormat {
		return bad()
	}
	for rest := value[1:]; len(rest) > 0; {
		if len(rest) < 8+8+1 {
			return bad()
		}
		h := RowHolder{
			StartTS: tso.Timestamp(binary.BigEndian.Uint64(rest)), Owner: binary.BigEndian.Uint64(rest[8:]),
			Mode: rowlock.Mode(rest[16] &^ rowLockQueues), Queues: rest[16]&rowLockQueues != 0,
		}
		if h.Mode == rowlock.None || h.Mode > rowlock.Update || len(out) > 0 && !h.follows(&out[len(out)-1]) {
			return bad()
		}
		var fields [2]uint64
		rest = rest[17:]
		for i := range fields {
			v, n := binary.Uvarint(rest)
			if n <= 0 {
				return bad()
			}
			fields[i], rest = v, rest[n:]
		}
		if fields[1] > uint64(len(rest)) || fields[1] > StatementMax {
			return bad()
		}
		h.Client, h.Statement, rest = fields[0], string(rest[:fields[1]]), rest[fields[1]:]
		out = append(out, h)
	}
	return out, nil
}

// follows says whether the column may have h directly after the other.
func (h *RowHolder) follows(before *RowHolder) bool {
	return h.Queues || !before.Queues && before.StartTS < h.StartTS
}

// rowLocks returns who has row locks of a row, and who queues for them.
func (s *step) rowLocks(ctx context.Context, row []byte) (l rowLocks, err error) {
	s.key = appendRowLockKey(s.key[:0], row)
	value, err := s.r.Get(ctx, s.key)
	if err != nil || value == nil {
		return l, err
	}
	all, err := decodeRowHolders(value)
	at := slices.IndexFunc(all, func(h RowHolder) bool { return h.Queues })
	if at < 0 {
		at = len(all)
	}
	return rowLocks{holders: all[:at:at], queue: all[at:]}, err
}

func (s *step) setRowLocks(row []byte, l rowLocks) {
	s.key = appendRowLockKey(s.key[:0], row)
	if len(l.holders)+len(l.queue) == 0 {
		s.b.Delete(s.key)
		return
	}
	s.val = appendRowLocks(s.val[:0], l)
	s.b.Set(s.key, s.val)
}

// drop removes those for whom which holds, and returns their number.
func (l *rowLocks) drop(which func(RowHolder) bool) int {
	before := len(l.holders) + len(l.queue)
	l.holders, l.queue = slices.DeleteFunc(l.holders, which), slices.DeleteFunc(l.queue, which)
	return before - len(l.holders) - len(l.queue)
}

// leaveQueue removes a transaction from the queue, and says whether it was there.
func (l *rowLocks) leaveQueue(startTS tso.Timestamp) bool {
	before := len(l.queue)
	l.queue = slices.DeleteFunc(l.queue, func(h RowHolder) bool { return h.StartTS == startTS })
	return len(l.queue) < before
}

// before returns those for whom a transaction that wants a mode has to wait: holders that exclude it,
// or, when nobody holds the row, those that came to the queue first. Beside holders that do not exclude
// it nobody waits, whoever queues, as in package rowlock.
func (l *rowLocks) before(startTS tso.Timestamp, mode rowlock.Mode) []RowHolder {
	if len(l.holders) > 0 || planted.Is(planted.RowQueuePassed) {
		return inTheWay(l.holders, startTS, mode)
	}
	at := slices.IndexFunc(l.queue, func(h RowHolder) bool { return h.StartTS == startTS })
	if at < 0 {
		at = len(l.queue)
	}
	return inTheWay(l.queue[:at], startTS, mode)
}

// inTheWay returns the holders, other than the transaction itself, that exclude a mode.
func inTheWay(holders []RowHolder, startTS tso.Timestamp, mode rowlock.Mode) (out []RowHolder) {
	for i := range holders {
		if holders[i].StartTS != startTS && holders[i].Mode.Conflicts(mode) {
			out = append(out, holders[i])
		}
	}
	return out
}

// LockRow gives a row lock of the key to a transaction, in a mode that covers the ones it had, and tells
// what was written to the key after since. It refuses with *LockedError while another transaction has
// prewritten the key, and with *RowLockedError while others hold row locks that exclude the mode. gone
// says who of the column is no more; they are removed. A free row goes to who is first in its queue. It
// may be repeated.
//
// Lock and look are one step on one row: of a prewrite of the key and of this, the later one finds the
// earlier (txn: I9).
func LockRow(
	ctx context.Context, r kv.Reader, b *kv.Batch, key []byte, h RowHolder, since tso.Timestamp, gone func(RowHolder) bool,
) (v Version, err error) {
	if v, err = Newest(ctx, r, key, h.StartTS, since); err != nil {
		return v, err
	}
	s := newStep(r, b)
	defer s.close(&err)
	row := Row(key)
	l, err := s.rowLocks(ctx, row)
	if err != nil {
		return v, err
	}
	changed := l.drop(gone) > 0
	if others := l.before(h.StartTS, h.Mode); len(others) > 0 && !planted.Is(planted.RowRecordUnread) {
		return v, &RowLockedError{Key: bytes.Clone(key), Holders: others, Newest: v}
	}
	changed = l.leaveQueue(h.StartTS) || changed
	at, own := findHolder(l.holders, h.StartTS)
	switch {
	case !own:
		l.holders = slices.Insert(l.holders, at, h)
	case l.holders[at].Mode < h.Mode || l.holders[at].Owner != h.Owner:
		h.Mode = max(h.Mode, l.holders[at].Mode)
		l.holders[at] = h
	case !changed:
		return v, nil
	}
	s.setRowLocks(row, l)
	return v, nil
}

// QueueRow puts a transaction at the end of the queue of a row, if it is not in it. It does not look
// whether the row is free. LockRow and UnlockRows take it out of the queue.
func QueueRow(ctx context.Context, r kv.Reader, b *kv.Batch, row []byte, h RowHolder) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	l, err := s.rowLocks(ctx, row)
	if err != nil || slices.ContainsFunc(l.queue, func(q RowHolder) bool { return q.StartTS == h.StartTS }) {
		return err
	}
	h.Queues = true
	l.queue = append(l.queue, h)
	s.setRowLocks(row, l)
	return nil
}

func findHolder(holders []RowHolder, startTS tso.Timestamp) (int, bool) {
	return slices.BinarySearchFunc(holders, startTS, func(h RowHolder, ts tso.Timestamp) int {
		switch {
		case h.StartTS < ts:
			return -1
		case h.StartTS > ts:
			return 1
		}
		return 0
	})
}

// KeepRow is what a transaction keeps of its row lock of a row: Mode, or nothing with rowlock.None.
type KeepRow struct {
	Row  []byte
	Mode rowlock.Mode
}

// UnlockRows gives row locks of a transaction back, and takes it out of the rows' queues. Rows where it
// is not are left alone.
func UnlockRows(ctx context.Context, r kv.Reader, b *kv.Batch, startTS tso.Timestamp, rows []KeepRow) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for _, k := range rows {
		l, err := s.rowLocks(ctx, k.Row)
		if err != nil {
			return err
		}
		queued := l.leaveQueue(startTS)
		at, own := findHolder(l.holders, startTS)
		switch {
		case !own || l.holders[at].Mode <= k.Mode:
			if !queued {
				continue
			}
		case k.Mode == rowlock.None:
			l.holders = slices.Delete(l.holders, at, at+1)
		default:
			l.holders[at].Mode = k.Mode
		}
		s.setRowLocks(k.Row, l)
	}
	return nil
}

// DropRowHolders removes those in the column of a row that are gone, and returns how many there were.
func DropRowHolders(ctx context.Context, r kv.Reader, b *kv.Batch, row []byte, gone func(RowHolder) bool) (n int, err error) {
	s := newStep(r, b)
	defer s.close(&err)
	l, err := s.rowLocks(ctx, row)
	if err != nil {
		return 0, err
	}
	if n = l.drop(gone); n > 0 {
		s.setRowLocks(row, l)
	}
	return n, nil
}

// ConvertRowLocks comes before a prewrite of the mutations, in the same update. It refuses with
// *RowLockedError what others have locked, or queue for, and takes away the transaction's own row locks: the locks
// that take their place exclude more, and stand until the writes are visible.
func ConvertRowLocks(
	ctx context.Context, r kv.Reader, b *kv.Batch, startTS tso.Timestamp, muts []Mutation, modeOf func(*Mutation) rowlock.Mode,
) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for i := range muts {
		m := &muts[i]
		if m.OwnOnly {
			continue // it may become no lock
		}
		l, err := s.rowLocks(ctx, m.Row)
		if err != nil {
			return err
		}
		if others := l.before(startTS, modeOf(m)); len(others) > 0 && !planted.Is(planted.RowRecordOverwritten) {
			return &RowLockedError{Key: bytes.Clone(m.Key), Holders: others}
		}
		queued := l.leaveQueue(startTS)
		at, own := findHolder(l.holders, startTS)
		if own {
			l.holders = slices.Delete(l.holders, at, at+1)
		}
		if own || queued {
			s.setRowLocks(m.Row, l)
		}
	}
	return nil
}

// Contested reports whether another transaction has a lock of the key, or a row lock that excludes the mode.
func Contested(ctx context.Context, r kv.Reader, key []byte, startTS tso.Timestamp, mode rowlock.Mode) (yes bool, err error) {
	s := newStep(r, nil)
	defer s.close(&err)
	row := Row(key)
	l, locked, err := s.lock(ctx, row)
	if err != nil || locked && l.StartTS != startTS {
		return err == nil, err
	}
	rows, err := s.rowLocks(ctx, row)
	return len(inTheWay(rows.holders, startTS, mode)) > 0, err
}

// RowLocks calls visit with the holders of every key of a span of user keys that has any, in order, and
// with those who queue after them.
func RowLocks(ctx context.Context, r kv.Reader, span kv.Span, visit func(key []byte, holders []RowHolder) error) error {
	return rawCells(ctx, r, familySpan(familyRowLock, span), false, func(c Cell) error { return visit(c.Key, c.Holders) })
}
