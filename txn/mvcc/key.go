package mvcc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// The families (kv's doc). Their order is the order in which dump prints a row's columns.
const (
	familyData byte = 'd' // row, ^start_ts  → value too long to be inlined
	familyLock byte = 'l' // row             → Lock
	familyMeta byte = 'm' // name            → the store's own cells: high-water mark, safepoint
	// row, observer, start_ts → Notification: the observer has perhaps not seen the row (notify.go)
	familyNotify byte = 'n'
	// row, qualifier  → RowHolder: a row lock, or a place in its queue (row_lock_cell.go)
	familyRowLock byte = 'r'
	familyWrite   byte = 'w' // row, ^commit_ts → Write
)

// tsLen is the length of a timestamp in a key.
const tsLen = 8

// A row is the user's key with 00 escaped as 00 FF, ended by 00 01. Escaping keeps the order: after
// equal bytes, the end of a key (00 01) sorts below a zero byte (00 FF), and that below any other.
const (
	escByte  byte = 0x00
	escZero  byte = 0xff
	escEnd   byte = 0x01
	rowExtra      = 2 // bytes that the terminator adds
)

// AppendRow appends the row of a user key to dst.
func AppendRow(dst, key []byte) []byte {
	for {
		i := bytes.IndexByte(key, escByte)
		if i < 0 {
			break
		}
		dst = append(dst, key[:i]...)
		dst = append(dst, escByte, escZero)
		key = key[i+1:]
	}
	dst = append(dst, key...)
	return append(dst, escByte, escEnd)
}

// Row returns the row of a user key.
func Row(key []byte) []byte { return AppendRow(make([]byte, 0, len(key)+rowExtra+4), key) }

// UserKey returns the user key of a row. The result aliases row when nothing was escaped;
// otherwise it is built in buf.
func UserKey(row, buf []byte) ([]byte, error) {
	n := len(row) - rowExtra
	if n < 0 || row[n] != escByte || row[n+1] != escEnd {
		return nil, fmt.Errorf("mvcc: row %x has no end: %w", row, kv.ErrCorruption)
	}
	row = row[:n]
	i := bytes.IndexByte(row, escByte)
	if i < 0 {
		return row, nil
	}
	buf = buf[:0]
	for i >= 0 {
		if i+1 >= len(row) || row[i+1] != escZero {
			return nil, fmt.Errorf("mvcc: row with a bad escape: %w", kv.ErrCorruption)
		}
		buf = append(buf, row[:i+1]...)
		row = row[i+2:]
		i = bytes.IndexByte(row, escByte)
	}
	return append(buf, row...), nil
}

func appendLockKey(dst, row []byte) []byte { return append(append(dst, familyLock), row...) }

func appendWriteKey(dst, row []byte, commitTS tso.Timestamp) []byte {
	return appendVersion(append(append(dst, familyWrite), row...), commitTS)
}

func appendDataKey(dst, row []byte, startTS tso.Timestamp) []byte {
	return appendVersion(append(append(dst, familyData), row...), startTS)
}

// appendVersion appends a timestamp so that newer versions sort first.
func appendVersion(dst []byte, ts tso.Timestamp) []byte {
	return binary.BigEndian.AppendUint64(dst, ^uint64(ts))
}

// splitVersion cuts the timestamp off a key of the write or data family.
func splitVersion(key []byte) (prefix []byte, ts tso.Timestamp, err error) {
	n := len(key) - tsLen
	if n < 1+rowExtra {
		return nil, 0, fmt.Errorf("mvcc: key %x is too short for a version: %w", key,
			kv.ErrCorruption)
	}
	return key[:n], tso.Timestamp(^binary.BigEndian.Uint64(key[n:])), nil
}

// MetaKey returns the key of one of the store's own cells.
func MetaKey(name string) []byte { return append([]byte{familyMeta}, name...) }

// familySpan returns the span of a family that holds the user keys of span.
func familySpan(family byte, span kv.Span) kv.Span {
	if span.IsPoint() {
		row := appendFamilyStart(nil, family, span.Start)
		return kv.Span{Start: row, End: kv.PrefixEnd(row)} // one prefix, for engines
	}
	return kv.Span{Start: appendFamilyStart(nil, family, span.Start),
		End: appendFamilyEnd(nil, family, span.End)}
}

// appendFamilyStart appends the raw key from which on those of a family's user keys from key on
// lie.
func appendFamilyStart(dst []byte, family byte, key []byte) []byte {
	if key == nil {
		return append(dst, family)
	}
	return AppendRow(append(slices.Grow(dst, 1+len(key)+rowExtra+8), family), key)
}

// appendFamilyEnd appends the raw key below which those of a family's user keys below key lie; nil
// is above all keys.
func appendFamilyEnd(dst []byte, family byte, key []byte) []byte {
	if key == nil {
		return append(dst, family+1)
	}
	return appendFamilyStart(dst, family, key)
}

// KeyOf takes a raw key of the engine apart: the user key that it is about, and, for a write
// record, the commit_ts. ok is false for a raw key that belongs to no user key.
func KeyOf(raw []byte) (key []byte, commitTS tso.Timestamp, ok bool) {
	if len(raw) == 0 || raw[0] == familyMeta {
		return nil, 0, false
	}
	key, err := UserKey(kv.Row(raw), nil)
	if err != nil {
		return nil, 0, false
	}
	if raw[0] == familyWrite {
		if _, commitTS, err = splitVersion(raw); err != nil {
			return nil, 0, false
		}
	}
	return key, commitTS, true
}

// RawSpans returns where an engine keeps the cells of the user keys in a span.
func RawSpans(span kv.Span) []kv.Span {
	return []kv.Span{familySpan(familyData, span), familySpan(familyLock, span),
		familySpan(familyNotify, span), familySpan(familyRowLock, span),
		familySpan(familyWrite, span)}
}
