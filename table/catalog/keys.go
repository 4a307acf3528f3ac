package catalog

import (
	"encoding/binary"

	"github.com/minidb/minidb/table"
)

// Tags after the catalog's prefix; 'd', the descriptors, is table.DescKey, and 'w' is
// table.WritersKey.
const (
	tagFormat    = 'f'
	tagVersion   = 'v'
	tagNextID    = 'i'
	tagDatabase  = 'b'
	tagSchema    = 's'
	tagName      = 'n'
	tagDesc      = 'd'
	tagDepend    = 'p'
	tagWriters   = 'w'
	tagSystem    = 'y'
	tagStorage   = 'o'
	tagObserver  = 'e'
	tagRole      = 'r'
	tagType      = 't'
	tagTypeName  = 'm'
	tagExtension = 'x'
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

// namesPrefix is that of the names in one schema. A temporary schema's ID is enough.
func namesPrefix(db, schema table.ID) []byte {
	if schema.Temporary() {
		return table.KeyPrefix(schema, table.PrefixCatalog, tagName)
	}
	return table.AppendID(namePrefix(db), schema)
}

func nameKey(db, schema table.ID, name string) []byte {
	return append(namesPrefix(db, schema), name...)
}

func dependPrefix(on table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagDepend}, on)
}

func dependKey(on, view table.ID) []byte { return table.AppendID(dependPrefix(on), view) }

// ownDependPrefix is dependPrefix for the temporary views of one session. Another session that
// drops what they read is not to know of them.
func ownDependPrefix(schema, on table.ID) []byte {
	return table.AppendID(table.KeyPrefix(schema, table.PrefixCatalog, tagDepend), on)
}

// temporaryVersionKey is the version of one session's temporary objects.
func temporaryVersionKey(schema table.ID) []byte {
	return table.KeyPrefix(schema, table.PrefixCatalog, tagVersion)
}

// storageKey leads from a storage ID that is not a table's own number to the table.
func storageKey(id table.StorageID) []byte {
	return table.KeyPrefix(table.ID(id), table.PrefixCatalog, tagStorage)
}

func observerPrefix(db table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagObserver}, db)
}

func observerKey(db table.ID, name string) []byte { return append(observerPrefix(db), name...) }

func typeKey(id table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagType}, id)
}

func typeNamePrefix(db table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagTypeName}, db)
}

// typeNamesPrefix is that of the names of types in one schema.
func typeNamesPrefix(db, schema table.ID) []byte {
	return table.AppendID(typeNamePrefix(db), schema)
}

func typeNameKey(db, schema table.ID, name string) []byte {
	return append(typeNamesPrefix(db, schema), name...)
}

func extensionPrefix(db table.ID) []byte {
	return table.AppendID([]byte{table.PrefixCatalog, tagExtension}, db)
}

func extensionKey(db table.ID, name string) []byte { return append(extensionPrefix(db), name...) }

func sequencePrefix(id table.ID) []byte {
	return table.KeyPrefix(id, table.PrefixSequence)
}

func sequenceKey(id table.ID, epoch uint32) []byte {
	return binary.BigEndian.AppendUint32(sequencePrefix(id), epoch)
}

func rowIDKey(id table.ID) []byte { return table.KeyPrefix(id, table.PrefixRowID) }

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
