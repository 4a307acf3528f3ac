package mvcc

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Column is which of Percolator's columns a cell belongs to.
type Column byte

// The columns of figure 4, and the store's own cells.
const (
	ColumnData    = Column(familyData)
	ColumnLock    = Column(familyLock)
	ColumnWrite   = Column(familyWrite)
	ColumnMeta    = Column(familyMeta)
	ColumnRowLock = Column(familyRowLock)
	ColumnNotify  = Column(familyNotify)
)

// String names the column.
func (c Column) String() string {
	switch c {
	case ColumnData:
		return "data"
	case ColumnLock:
		return "lock"
	case ColumnWrite:
		return "write"
	case ColumnMeta:
		return "meta"
	case ColumnRowLock:
		return "row lock"
	case ColumnNotify:
		return "notify"
	}
	return fmt.Sprintf("column(%#x)", byte(c))
}

// Cell is one raw pair of the store, decoded.
type Cell struct {
	Column Column
	// Key is the user key, or the name of a cell of ColumnMeta.
	Key []byte
	// TS is the timestamp of the version: commit_ts in the write column (start_ts of a rollback),
	// start_ts in the data, lock, row lock and notify columns, zero for meta.
	TS     tso.Timestamp
	Lock   Lock      // of ColumnLock
	Write  Write     // of ColumnWrite
	Holder RowHolder // of ColumnRowLock
	Value  []byte    // of ColumnData and ColumnMeta
	// Notification is of ColumnNotify.
	Notification Notification
}

// Decode decodes a raw pair. The result shares nothing with its arguments.
func Decode(rawKey, rawValue []byte) (Cell, error) {
	if len(rawKey) == 0 {
		return Cell{}, fmt.Errorf("mvcc: empty key: %w", kv.ErrCorruption)
	}
	c := Cell{Column: Column(rawKey[0])}
	row, err := rawKey[1:], error(nil)
	switch c.Column {
	case ColumnMeta:
		c.Key, c.Value = bytes.Clone(row), bytes.Clone(rawValue)
		return c, nil
	case ColumnLock:
		var l Lock
		l, err = decodeLock(rawValue)
		c.Lock = l.clone()
		c.TS = l.StartTS
	case ColumnRowLock:
		n := kv.PrefixLen(rawKey)
		row = rawKey[1:n]
		c.Holder, err = decodeRowHolder(rawKey[n:], rawValue)
		c.TS = c.Holder.StartTS
	case ColumnNotify:
		n := kv.PrefixLen(rawKey)
		row = rawKey[1:n]
		c.Notification, err = decodeNotification(rawKey[n:], rawValue)
		c.Notification.Old = bytes.Clone(c.Notification.Old)
		c.TS = c.Notification.StartTS
	case ColumnWrite, ColumnData:
		var prefix []byte
		prefix, c.TS, err = splitVersion(rawKey)
		if err != nil {
			return Cell{}, err
		}
		row = prefix[1:]
		if c.Column == ColumnData {
			c.Value = append([]byte{}, rawValue...)
			break
		}
		c.Write, err = decodeWrite(rawValue)
		c.Write.Short = bytes.Clone(c.Write.Short)
	default:
		return Cell{}, fmt.Errorf("mvcc: key %x of no column: %w", rawKey, kv.ErrCorruption)
	}
	if err != nil {
		return Cell{}, err
	}
	key, err := UserKey(row, nil)
	c.Key = append([]byte{}, key...)
	return c, err
}

// Cells calls visit with every cell of the store in the order of raw keys, the store's own
// included, until visit fails.
func Cells(ctx context.Context, r kv.Reader, visit func(Cell) error) error {
	return rawCells(ctx, r, kv.Span{}, false, visit)
}

// LockOf returns the lock of a row, if it has one.
func LockOf(ctx context.Context, r kv.Reader, row []byte) (l Lock, locked bool, err error) {
	value, err := r.Get(ctx, appendLockKey(nil, row))
	if err != nil || value == nil {
		return l, false, err
	}
	l, err = decodeLock(value)
	return l.clone(), err == nil, err
}

// Locks calls visit with the lock of every locked key in a span of user keys, in order.
func Locks(ctx context.Context, r kv.Reader, span kv.Span,
	visit func(key []byte, l Lock) error) error {
	return rawCells(ctx, r, familySpan(familyLock, span), false,
		func(c Cell) error { return visit(c.Key, c.Lock) })
}

// LocksReverse is Locks in the reverse order.
func LocksReverse(ctx context.Context, r kv.Reader, span kv.Span,
	visit func(key []byte, l Lock) error) error {
	return rawCells(ctx, r, familySpan(familyLock, span), true,
		func(c Cell) error { return visit(c.Key, c.Lock) })
}

func rawCells(ctx context.Context, r kv.Reader, span kv.Span, reverse bool,
	visit func(Cell) error) (err error) {
	it, err := r.NewIter(ctx, span)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := it.Close(); err == nil {
			err = closeErr
		}
	}()
	first, next := it.First, it.Next
	if reverse {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok; ok = next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		value, err := it.Value()
		if err != nil {
			return err
		}
		c, err := Decode(it.Key(), value)
		if err != nil {
			return err
		}
		if err := visit(c); err != nil {
			return err
		}
	}
	return it.Err()
}

// RowSpan returns the span of rows that holds the rows of a span of user keys.
func RowSpan(span kv.Span) (rows kv.Span) {
	if span.Start != nil {
		rows.Start = Row(span.Start)
	}
	if span.End != nil {
		rows.End = Row(span.End)
	}
	return rows
}

// WriteSpans returns the spans of the engine's keys that hold the records and values of a span of
// rows.
func WriteSpans(rows kv.Span) []kv.Span {
	return []kv.Span{columnSpan(familyWrite, rows), columnSpan(familyData, rows)}
}

// LockSpan returns the span of the engine's keys that holds all locks.
func LockSpan() kv.Span { return columnSpan(familyLock, kv.Span{}) }

// columnSpan returns the span of a family that holds a span of rows.
func columnSpan(family byte, rows kv.Span) kv.Span {
	out := kv.Span{Start: append([]byte{family}, rows.Start...), End: []byte{family + 1}}
	if rows.End != nil {
		out.End = append([]byte{family}, rows.End...)
	}
	return out
}

// Walked is what Versions has passed.
type Walked struct {
	Rows int
	Next []byte // the row to go on from; nil at the end of the span
}

// Versions finds the rows of a span of rows that have more to them than one put: those on which
// Collect may find something. It calls visit with each row and the number of its records. After
// limit rows of any kind it stops, if limit is not zero.
func Versions(
	ctx context.Context, r kv.Reader, rows kv.Span, limit int, visit func(row []byte,
		records int) error,
) (w Walked, err error) {
	it, err := r.NewIter(ctx, columnSpan(familyWrite, rows))
	if err != nil {
		return w, err
	}
	defer func() {
		if closeErr := it.Close(); err == nil {
			err = closeErr
		}
	}()
	var prefix []byte
	records, single := 0, false
	flush := func() error {
		if records > 1 || records == 1 && !single {
			return visit(prefix[1:], records)
		}
		return nil
	}
	var passed looks
	for ok := it.First(); ok; ok = it.Next() {
		if err := passed.pass(ctx); err != nil {
			return w, err
		}
		p, _, err := splitVersion(it.Key())
		if err != nil {
			return w, err
		}
		if !bytes.Equal(p, prefix) {
			if err := errors.Join(flush(), ctx.Err()); err != nil {
				return w, err
			}
			if w.Rows == limit && limit > 0 {
				w.Next = bytes.Clone(p[1:])
				return w, nil
			}
			w.Rows++
			prefix, records = append(prefix[:0], p...), 0
			value, err := it.Value()
			if err != nil {
				return w, err
			}
			single = len(value) > 0 && Kind(value[0]) == KindPut
		}
		records++
	}
	if err := it.Err(); err != nil {
		return w, err
	}
	return w, flush()
}
