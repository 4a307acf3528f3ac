package mvcc

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// RowHolder is a cell of the row lock column of a key: a transaction that holds a row lock of it,
// of which the lock column says nothing yet, or one that queues for it. Readers never look at this
// column.
type RowHolder struct {
	StartTS tso.Timestamp
	// Owner is the session (package lease) of the transaction: the lock ends with it.
	Owner uint64
	Mode  rowlock.Mode
	// Place is where the transaction queues for the lock (QueueRow); zero of one that holds it.
	Place tso.Timestamp
	// Client and Statement are shown to clients that wait for the lock, as those of a Lock.
	Client    uint64
	Statement string
}

// Queues reports whether the transaction does not hold the lock, but waits for its turn.
func (h *RowHolder) Queues() bool { return h.Place != 0 }

// lock returns the holder as a lock, for a view that shows both.
func (h *RowHolder) lock() *Lock {
	return &Lock{Kind: KindLock, StartTS: h.StartTS, Owner: h.Owner, Client: h.Client,
		Statement: h.Statement}
}

// AsLock returns the holder as a lock of its own.
func (h *RowHolder) AsLock() Lock { return *h.lock() }

// RowModes is a set of modes of a row.
type RowModes uint8

// With returns the set with one more mode; rowlock.None adds nothing.
func (s RowModes) With(m rowlock.Mode) RowModes { return s | 1<<m&^1 }

func (s RowModes) has(m rowlock.Mode) bool { return s&(1<<m) != 0 }

// The cells of a row are ordered so that those which exclude a mode come first: each mode excludes
// the stronger ones that a weaker mode excludes, and more. So a request for a mode reads from the
// front up to weakestExcluded: one more key share lock beside ten thousand others reads none of
// them.
//
//	r  row  rank (1 byte)  start_ts (8 bytes)                   a holder; rank 1 … 4
//	r  row  rank (1 byte)  place (8 bytes)  start_ts (8 bytes)  a place in the queue; rank 11 … 14
//	value: format (1 byte), owner (8 bytes), uvarint client, uvarint length of statement,
//	statement
const (
	rowLockFormat byte = 1
	rankQueue     byte = 0x10
)

func holderRank(m rowlock.Mode) byte { return byte(rowlock.Update-m) + 1 }

func queueRank(m rowlock.Mode) byte { return rankQueue + holderRank(m) }

// weakestExcluded is the weakest mode that excludes m; so do all stronger ones.
func weakestExcluded(m rowlock.Mode) rowlock.Mode { return rowlock.Update + 1 - m }

func appendRowLockKey(dst, row []byte, h *RowHolder) []byte {
	dst = append(append(dst, familyRowLock), row...)
	if h.Queues() {
		dst = append(dst, queueRank(h.Mode))
		dst = binary.BigEndian.AppendUint64(dst, uint64(h.Place))
	} else {
		dst = append(dst, holderRank(h.Mode))
	}
	return binary.BigEndian.AppendUint64(dst, uint64(h.StartTS))
}

func (h *RowHolder) appendTo(dst []byte) []byte {
	dst = append(dst, rowLockFormat)
	dst = binary.BigEndian.AppendUint64(dst, h.Owner)
	dst = binary.AppendUvarint(dst, h.Client)
	dst = binary.AppendUvarint(dst, uint64(len(h.Statement)))
	return append(dst, h.Statement...)
}

// decodeRowHolder decodes a cell by what follows the row in its key. The result shares nothing with
// them.
func decodeRowHolder(qualifier, value []byte) (h RowHolder, err error) {
	bad := fmt.Errorf("mvcc: bad row lock %x=%x: %w", qualifier, value, kv.ErrCorruption)
	if len(qualifier) == 0 {
		return h, bad
	}
	rank, rest := qualifier[0], qualifier[1:]
	if rank > rankQueue && len(rest) == 2*tsLen {
		rank -= rankQueue
		h.Place = tso.Timestamp(binary.BigEndian.Uint64(rest))
		if rest = rest[tsLen:]; h.Place == 0 {
			return h, bad
		}
	}
	if rank < holderRank(rowlock.Update) || rank > holderRank(rowlock.KeyShare) ||
		len(rest) != tsLen {
		return h, bad
	}
	h.Mode = rowlock.Update + rowlock.Mode(holderRank(rowlock.Update)) - rowlock.Mode(rank)
	h.StartTS = tso.Timestamp(binary.BigEndian.Uint64(rest))
	if len(value) < 1+8 || value[0] != rowLockFormat {
		return h, bad
	}
	h.Owner = binary.BigEndian.Uint64(value[1:])
	var n int
	if h.Client, n = binary.Uvarint(value[9:]); n <= 0 {
		return h, bad
	}
	text := value[9+n:]
	size, n := binary.Uvarint(text)
	if n <= 0 || size > StatementMax || size != uint64(len(text)-n) {
		return h, bad
	}
	h.Statement = string(text[n:])
	return h, nil
}

// scanRowLocks calls visit with the cells of a row from a rank on until it returns false.
func (s *step) scanRowLocks(ctx context.Context, row []byte, from byte,
	visit func(RowHolder) bool) error {
	if s.rowLocks == nil {
		it, err := s.r.NewIter(ctx, familySpan(familyRowLock, kv.Span{}))
		if err != nil {
			return err
		}
		s.rowLocks = it
	}
	s.key = append(append(append(s.key[:0], familyRowLock), row...), from)
	prefix := s.key[:len(s.key)-1]
	for ok := s.rowLocks.SeekPrefixGE(s.key); ok; ok = s.rowLocks.Next() {
		key := s.rowLocks.Key()
		if !bytes.HasPrefix(key, prefix) {
			break
		}
		value, err := s.rowLocks.Value()
		if err != nil {
			return err
		}
		h, err := decodeRowHolder(key[len(prefix):], value)
		if err != nil {
			return err
		}
		if !visit(h) {
			return nil
		}
	}
	return s.rowLocks.Err()
}

// readRowLock reads the cell of a holder, known by start_ts, mode and place, if it is there.
func (s *step) readRowLock(ctx context.Context, row []byte, h *RowHolder) (found bool, err error) {
	s.key = appendRowLockKey(s.key[:0], row, h)
	value, err := s.r.Get(ctx, s.key)
	if err != nil || value == nil {
		return false, err
	}
	*h, err = decodeRowHolder(s.key[1+len(row):], value)
	return err == nil, err
}

func (s *step) setRowLock(row []byte, h *RowHolder) {
	s.key, s.val = appendRowLockKey(s.key[:0], row, h), h.appendTo(s.val[:0])
	s.b.Set(s.key, s.val)
}

func (s *step) dropRowLock(row []byte, h *RowHolder) {
	s.key = appendRowLockKey(s.key[:0], row, h)
	s.b.Delete(s.key)
}

// RowLocks calls visit with every row lock and place in a queue of a span of user keys: key by key,
// and of a key the strongest holders first, then the queue.
func RowLocks(ctx context.Context, r kv.Reader, span kv.Span,
	visit func(key []byte, h RowHolder) error) error {
	return rawCells(ctx, r, familySpan(familyRowLock, span), false,
		func(c Cell) error { return visit(c.Key, c.Holder) })
}
