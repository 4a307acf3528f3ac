package table

import (
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// The first byte of every key says whose it is. Behind txn.CompanionPrefix, which begins the keys
// of temporary objects, it is the second.
const (
	PrefixCatalog  = 'c' // schema: package catalog
	PrefixSequence = 's' // positions of sequences: package catalog
	PrefixRowID    = 'r' // row ID allocators: package catalog
	PrefixTable    = 't' // rows and index entries
	PrefixStats    = 'a' // what ANALYZE found: package stats
	PrefixObserver = 'o' // what observers keep: package txn/observer
	PrefixView     = 'v' // states of incremental views
	PrefixLarge    = 'l' // large objects: package largeobject
	PrefixAdvisory = 'k' // advisory locks, which have no values: package sql
)

// What follows PrefixCatalog in DescKey and WritersKey.
const (
	descTag    = 'd'
	writersTag = 'w'
)

// appendUint appends v so that the order of bytes is the order of numbers: one byte below 240,
// otherwise a byte with the number of bytes that follow, and those, most significant first.
func appendUint(dst []byte, v uint32) []byte {
	switch {
	case v < 0xF0:
		return append(dst, byte(v))
	case v < 1<<8:
		return append(dst, 0xF0, byte(v))
	case v < 1<<16:
		return append(dst, 0xF1, byte(v>>8), byte(v))
	case v < 1<<24:
		return append(dst, 0xF2, byte(v>>16), byte(v>>8), byte(v))
	}
	return binary.BigEndian.AppendUint32(append(dst, 0xF3), v)
}

// readUint reads what appendUint wrote; ok is false when b is none of its outputs.
func readUint(b []byte) (v uint32, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	if b[0] < 0xF0 {
		return uint32(b[0]), b[1:], true
	}
	n := int(b[0]-0xF0) + 1
	if n > 4 || len(b) < 1+n {
		return 0, nil, false
	}
	for _, c := range b[1 : 1+n] {
		v = v<<8 | uint32(c)
	}
	return v, b[1+n:], true
}

// AppendID appends an object ID in the order-preserving form that all keys use.
func AppendID(dst []byte, id ID) []byte { return appendUint(dst, uint32(id)) }

// ReadID reads what AppendID wrote.
func ReadID(b []byte) (ID, []byte, bool) {
	v, rest, ok := readUint(b)
	return ID(v), rest, ok
}

// FirstTemporaryID is the least object ID of temporary objects: schemas, relations and what they
// consist of. Other objects have lesser ones.
const FirstTemporaryID ID = 3 << 30

// Temporary reports whether the ID is that of a temporary object.
func (id ID) Temporary() bool { return id >= FirstTemporaryID }

// KeyPrefix begins keys of an object: some bytes and its ID, behind txn.CompanionPrefix if the
// object is temporary.
func KeyPrefix(id ID, first ...byte) []byte {
	b := make([]byte, 0, len(first)+6)
	if id.Temporary() {
		b = append(b, txn.CompanionPrefix)
	}
	return AppendID(append(b, first...), id)
}

// DescKey is the key of a relation's descriptor.
func DescKey(id ID) []byte { return KeyPrefix(id, PrefixCatalog, descTag) }

// WritersKey is written with a table's descriptor whenever the change matters to transactions that
// write rows. It is defined here, below the catalog, because every transaction that writes rows
// validates it: such a change that commits in between must make the transaction fail.
func WritersKey(id ID) []byte { return KeyPrefix(id, PrefixCatalog, writersTag) }

// AppendStorageID appends a storage ID as keys have it.
func AppendStorageID(dst []byte, id StorageID) []byte { return appendUint(dst, uint32(id)) }

// storagePrefix begins all keys of a storage ID.
func storagePrefix(id StorageID) []byte { return KeyPrefix(ID(id), PrefixTable) }

// StorageSpan holds all rows and index entries under a storage ID.
func StorageSpan(id StorageID) kv.Span { return PrefixSpan(storagePrefix(id)) }

// PrefixSpan holds all keys that begin with prefix.
func PrefixSpan(prefix []byte) kv.Span {
	return kv.Span{Start: prefix, End: kv.PrefixEnd(prefix)}
}

// PointSpan holds key alone.
func PointSpan(key []byte) kv.Span {
	end := make([]byte, len(key)+1)
	copy(end, key)
	return kv.Span{Start: key, End: end}
}

// Key is a key of a table taken apart.
type Key struct {
	Storage StorageID
	Index   IndexID
	Rest    []byte // the encoded columns; aliases the key
}

// IndexSpan holds the keys of the same index.
func (k Key) IndexSpan() kv.Span {
	return PrefixSpan(appendUint(storagePrefix(k.Storage), uint32(k.Index)))
}

// DecodeKey takes the key of a row or an index entry apart; ok is false for keys of other owners.
func DecodeKey(key []byte) (k Key, ok bool) {
	if len(key) > 0 && key[0] == txn.CompanionPrefix {
		key = key[1:]
	}
	if len(key) == 0 || key[0] != PrefixTable {
		return Key{}, false
	}
	t, rest, ok := readUint(key[1:])
	if !ok {
		return Key{}, false
	}
	ix, rest, ok := readUint(rest)
	if !ok {
		return Key{}, false
	}
	return Key{Storage: StorageID(t), Index: IndexID(ix), Rest: rest}, true
}

func (k Key) String() string {
	if k.Index == RowIndexID {
		return fmt.Sprintf("/table/%d/row/%x", k.Storage, k.Rest)
	}
	return fmt.Sprintf("/table/%d/index/%d/%x", k.Storage, k.Index, k.Rest)
}
