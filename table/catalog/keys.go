package catalog

import (
	"encoding/binary"

	"github.com/minidb/minidb/table"
)

// Tags after the catalog's prefix; 'd', the descriptors, is table.DescKey, and 'w' is
// table.WritersKey.
const (
	tagFormat   = 'f'
	tagVersion  = 'v'
	tagNextID   = 'i'
	tagDatabase = 'b'
	tagSchema   = 's'
	tagName     = 'n'
	tagDesc     = 'd'
	tagDepend   = 'p'
	tagWriters  = 'w'
	tagSystem   = 'y'
	tagStorage  = 'o'
	tagObserver = 'e'
)

var (
	formatKey  = []byte{table.PrefixCatalog, tagFormat}
	versionKey = []byte{table.PrefixCatalog, tagVersion}
	nextIDKey  = []byte{table.PrefixCatalog, tagNextID}
	systemKey  = []byte{table.PrefixCatalog, tagSystem}
)

func databaseKey(name string) []byte {
	return append([]byte{table.PrefixCatalog, tagDatabase}, name...)
}

func schemaPrefix(db table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagSchema}, db)
}

func schemaKey(db table.ID, name string) []byte { return append(schemaPrefix(db), name...) }

func namePrefix(db table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagName}, db)
}

// namesPrefix is that of the names in one schema.
func namesPrefix(db, schema table.ID) []byte { return table.AppendID(namePrefix(db), schema) }

func nameKey(db, schema table.ID, name string) []byte {
	return append(namesPrefix(db, schema), name...)
}

func dependPrefix(on table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagDepend}, on)
}

func dependKey(on, view table.ID) []byte { return table.AppendID(dependPrefix(on), view) }

// storageKey leads from a storage ID that is not a table's own number to the table.
func storageKey(id table.StorageID) []byte {
	return table.AppendStorageID([]byte{table.PrefixCatalog, tagStorage}, id)
}

func observerPrefix(db table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagObserver}, db)
}

func observerKey(db table.ID, name string) []byte { return append(observerPrefix(db), name...) }

func sequencePrefix(id table.ID) []byte {
	return table.AppendID([]byte{table.PrefixSequence}, id)
}

func sequenceKey(id table.ID, epoch uint32) []byte {
	return binary.BigEndian.AppendUint32(sequencePrefix(id), epoch)
}

func rowIDKey(id table.ID) []byte { return table.AppendID([]byte{table.PrefixRowID}, id) }

// nameEntry is what a name in a schema refers to: a relation, or an index of one.
type nameEntry struct {
	relation table.ID
	index    table.ID // the index's OID; 0: the relation itself
}

func (e nameEntry) encode() []byte {
	b := table.AppendID(nil, e.relation)
	if e.index != 0 {
		b = table.AppendID(b, e.index)
	}
	return b
}

func decodeNameEntry(b []byte) (e nameEntry, ok bool) {
	if e.relation, b, ok = table.ReadID(b); !ok {
		return e, false
	}
	if len(b) > 0 {
		e.index, b, ok = table.ReadID(b)
	}
	return e, ok && len(b) == 0
}
