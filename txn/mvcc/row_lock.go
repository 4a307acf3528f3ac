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
// of which the lock column says nothing yet. Readers never look at this column.
type RowHolder struct {
	StartTS tso.Timestamp
	// Owner is the session (package session) of the transaction: with it the lock ends.
	Owner uint64
	Mode  rowlock.Mode
	// Client and Statement are for whoever wants to know whom he waits for, as those of a Lock.
	Client    uint64
	Statement string
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

// rowLockFormat is the first byte of the column.
const rowLockFormat byte = 1

func appendRowLockKey(dst, row []byte) []byte { return append(append(dst, familyRowLock), row...) }

// appendRowHolders appends the encoding of the column:
//
//	format, then for each holder, in the order of start_ts:
//	start_ts (8 bytes), owner (8 bytes), mode (1 byte), uvarint client, uvarint length of statement, statement
func appendRowHolders(dst []byte, holders []RowHolder) []byte {
	dst = append(dst, rowLockFormat)
	for i := range holders {
		h := &holders[i]
		dst = binary.BigEndian.AppendUint64(dst, uint64(h.StartTS))
		dst = binary.BigEndian.AppendUint64(dst, h.Owner)
		dst = append(dst, byte(h.Mode))
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
			Mode: rowlock.Mode(rest[16]),
		}
		if h.Mode == rowlock.None || h.Mode > rowlock.Update || len(out) > 0 && out[len(out)-1].StartTS >= h.StartTS {
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

// rowHolders returns who has row locks of a row.
func (s *step) rowHolders(ctx context.Context, row []byte) ([]RowHolder, error) {
	s.key = appendRowLockKey(s.key[:0], row)
	value, err := s.r.Get(ctx, s.key)
	if err != nil || value == nil {
		return nil, err
	}
	return decodeRowHolders(value)
}

func (s *step) setRowHolders(row []byte, holders []RowHolder) {
	s.key = appendRowLockKey(s.key[:0], row)
	if len(holders) == 0 {
		s.b.Delete(s.key)
		return
	}
	s.val = appendRowHolders(s.val[:0], holders)
	s.b.Set(s.key, s.val)
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
// says which holders are no more; they are removed. It may be repeated.
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
	found, err := s.rowHolders(ctx, row)
	if err != nil {
		return v, err
	}
	holders := slices.DeleteFunc(slices.Clone(found), gone)
	if others := inTheWay(holders, h.StartTS, h.Mode); len(others) > 0 && !planted.Is(planted.RowRecordUnread) {
		return v, &RowLockedError{Key: bytes.Clone(key), Holders: others, Newest: v}
	}
	at, own := findHolder(holders, h.StartTS)
	switch {
	case !own:
		holders = slices.Insert(holders, at, h)
	case holders[at].Mode < h.Mode || holders[at].Owner != h.Owner:
		h.Mode = max(h.Mode, holders[at].Mode)
		holders[at] = h
	case len(holders) == len(found):
		return v, nil
	}
	s.setRowHolders(row, holders)
	return v, nil
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

// UnlockRows gives row locks of a transaction back. Rows of which it has none are left alone.
func UnlockRows(ctx context.Context, r kv.Reader, b *kv.Batch, startTS tso.Timestamp, rows []KeepRow) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for _, k := range rows {
		holders, err := s.rowHolders(ctx, k.Row)
		if err != nil {
			return err
		}
		at, own := findHolder(holders, startTS)
		switch {
		case !own || holders[at].Mode <= k.Mode:
			continue
		case k.Mode == rowlock.None:
			holders = slices.Delete(holders, at, at+1)
		default:
			holders[at].Mode = k.Mode
		}
		s.setRowHolders(k.Row, holders)
	}
	return nil
}

// DropRowHolders removes the holders of a row that are gone, and returns how many there were.
func DropRowHolders(ctx context.Context, r kv.Reader, b *kv.Batch, row []byte, gone func(RowHolder) bool) (n int, err error) {
	s := newStep(r, b)
	defer s.close(&err)
	found, err := s.rowHolders(ctx, row)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	left := slices.DeleteFunc(slices.Clone(found), gone)
	if n = len(found) - len(left); n > 0 {
		s.setRowHolders(row, left)
	}
	return n, nil
}

// ConvertRowLocks comes before a prewrite of the mutations, in the same update. It refuses with
// *RowLockedError what others have locked, and takes away the transaction's own row locks: the locks
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
		holders, err := s.rowHolders(ctx, m.Row)
		if err != nil {
			return err
		}
		if others := inTheWay(holders, startTS, modeOf(m)); len(others) > 0 && !planted.Is(planted.RowRecordOverwritten) {
			return &RowLockedError{Key: bytes.Clone(m.Key), Holders: others}
		}
		if at, own := findHolder(holders, startTS); own {
			s.setRowHolders(m.Row, slices.Delete(holders, at, at+1))
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
	holders, err := s.rowHolders(ctx, row)
	return len(inTheWay(holders, startTS, mode)) > 0, err
}

// RowLocks calls visit with the holders of every key of a span of user keys that has any, in order.
func RowLocks(ctx context.Context, r kv.Reader, span kv.Span, visit func(key []byte, holders []RowHolder) error) error {
	return rawCells(ctx, r, familySpan(familyRowLock, span), func(c Cell) error { return visit(c.Key, c.Holders) })
}
