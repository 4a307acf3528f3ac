package stats

import (
	"bytes"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// Tags after 'a' and the table's ID.
const (
	tagTable    = 't'
	tagColumn   = 'c'
	tagCounters = 'n'
	tagKeys     = 'k'
)

// Prefix is the prefix of all keys that a table has here.
func Prefix(id table.ID) []byte { return table.KeyPrefix(id, table.PrefixStats) }

func tableKey(id table.ID) []byte    { return append(Prefix(id), tagTable) }
func countersKey(id table.ID) []byte { return append(Prefix(id), tagCounters) }
func columnsSpan(id table.ID) kv.Span {
	return table.PrefixSpan(append(Prefix(id), tagColumn))
}

func columnKey(id table.ID, column table.ColumnID) []byte {
	return table.AppendID(append(Prefix(id), tagColumn), table.ID(column))
}

func keysSpan(id table.ID) kv.Span { return table.PrefixSpan(append(Prefix(id), tagKeys)) }

func keysKey(id table.ID, keys KeysID) []byte {
	b := table.AppendID(append(Prefix(id), tagKeys), table.ID(keys.Column))
	return append(b, keys.Class...)
}

// decodeKeysKey reads a key of keysKey.
func decodeKeysKey(id table.ID, key []byte) (KeysID, bool) {
	rest, ok := bytes.CutPrefix(key, append(Prefix(id), tagKeys))
	if !ok {
		return KeysID{}, false
	}
	column, class, ok := table.ReadID(rest)
	return KeysID{table.ColumnID(column), string(class)}, ok
}

// DecodeKey reads a key that begins with 'a'; column is 0 unless what is "column" or "keys".
func DecodeKey(key []byte) (id table.ID, what string, column table.ColumnID, ok bool) {
	if len(key) > 0 && key[0] == txn.CompanionPrefix {
		key = key[1:]
	}
	if len(key) == 0 || key[0] != table.PrefixStats {
		return 0, "", 0, false
	}
	id, rest, ok := table.ReadID(key[1:])
	if !ok || len(rest) == 0 {
		return 0, "", 0, false
	}
	switch rest[0] {
	case tagTable:
		return id, "table", 0, len(rest) == 1
	case tagCounters:
		return id, "counters", 0, len(rest) == 1
	case tagKeys:
		n, _, ok := table.ReadID(rest[1:])
		return id, "keys", table.ColumnID(n), ok
	case tagColumn:
		n, rest, ok := table.ReadID(rest[1:])
		return id, "column", table.ColumnID(n), ok && len(rest) == 0
	}
	return 0, "", 0, false
}
