package largeobject

import (
	"encoding/binary"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
)

// ID is the object ID of a large object. The objects of each database have IDs of their own.
type ID uint32

// What follows the database in a key.
const (
	tagRecord = 1
	tagPage   = 2
)

// PageBytes is the size of a page.
const PageBytes = 2048

// MaxBytes is the greatest length of an object.
const MaxBytes = (1<<31 - 1) * PageBytes

func prefix(db table.ID, tag byte) []byte {
	return append(table.AppendID([]byte{table.PrefixLarge}, db), tag)
}

// RecordKey is the key of an object's record.
func RecordKey(db table.ID, id ID) []byte {
	return binary.BigEndian.AppendUint32(prefix(db, tagRecord), uint32(id))
}

// pageKey is the key of a page. It may be one behind the last that an object can have.
func pageKey(db table.ID, id ID, page uint32) []byte {
	b := binary.BigEndian.AppendUint32(prefix(db, tagPage), uint32(id))
	return binary.BigEndian.AppendUint32(b, page)
}

// pagesSpan holds the pages from one on, up to the last.
func pagesSpan(db table.ID, id ID, from uint32) kv.Span {
	last := binary.BigEndian.AppendUint32(prefix(db, tagPage), uint32(id))
	return kv.Span{Start: pageKey(db, id, from), End: kv.PrefixEnd(last)}
}

// RecordsPrefix begins the keys of the records of a database's objects.
func RecordsPrefix(db table.ID) []byte { return prefix(db, tagRecord) }

// PagesPrefix begins the keys of the pages of a database's objects.
func PagesPrefix(db table.ID) []byte { return prefix(db, tagPage) }

// Span holds all keys of the large objects of a database.
func Span(db table.ID) kv.Span {
	return table.PrefixSpan(table.AppendID([]byte{table.PrefixLarge}, db))
}

// Key is a key of a large object taken apart.
type Key struct {
	Database table.ID
	ID       ID
	Record   bool // else it is a page's
	Page     uint32
}

// DecodeKey takes a key apart; ok is false for keys of other owners.
func DecodeKey(b []byte) (k Key, ok bool) {
	if len(b) == 0 || b[0] != table.PrefixLarge {
		return k, false
	}
	if k.Database, b, ok = table.ReadID(b[1:]); !ok || len(b) < 5 {
		return k, false
	}
	tag := b[0]
	k.ID, b = ID(binary.BigEndian.Uint32(b[1:])), b[5:]
	switch {
	case tag == tagRecord && len(b) == 0:
		k.Record = true
		return k, true
	case tag == tagPage && len(b) == 4:
		k.Page = binary.BigEndian.Uint32(b)
		return k, true
	}
	return k, false
}
