package catalog

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/largeobject"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/txn"
)

// Describer turns the store's keys and values into text, by the schema as it is now.
type Describer struct {
	names     map[table.ID]string
	tables    map[table.StorageID]*table.Desc
	observers map[table.ID]string // names
}

// NewDescriber reads the schema that tx sees.
func NewDescriber(ctx context.Context, tx *txn.Txn) (*Describer, error) {
	c := &Catalog{}
	c.cache.descs = map[table.ID]*table.Desc{}
	v := c.View(tx)
	ds := &Describer{names: map[table.ID]string{}, tables: map[table.StorageID]*table.Desc{},
		observers: map[table.ID]string{}}
	dbs, err := v.Databases(ctx)
	if err != nil {
		return nil, err
	}
	for _, db := range dbs {
		rels, err := v.Relations(ctx, db.ID)
		if err != nil {
			return nil, err
		}
		for _, d := range rels {
			name := d.Name
			if d.Schema != "public" {
				name = d.Schema + "." + name
			}
			if db.ID != PostgresID {
				name = db.Name + "." + name
			}
			ds.names[d.ID] = name
			if d.HasRows() {
				ds.tables[d.Storage()] = d
			}
			for i, s := range d.States() {
				ds.names[s.ID] = fmt.Sprintf("%s, state %d", name, i+1)
				ds.tables[s.Storage()] = s
			}
			for i := range d.Observers {
				ds.observers[d.Observers[i].ID] = d.Observers[i].Title()
			}
		}
	}
	return ds, nil
}

// Key is the text of a key: /table/16384 docs/row/(1). The number of a table is its storage ID.
func (ds *Describer) Key(key []byte) string {
	if len(key) == 0 {
		return "/"
	}
	switch key[0] {
	case table.PrefixCatalog:
		return ds.catalogKey(key[1:])
	case table.PrefixSequence:
		if id, rest, ok := table.ReadID(key[1:]); ok && len(rest) == 4 {
			return fmt.Sprintf("/sequence/%s/%d", ds.relation(id), binary.BigEndian.Uint32(rest))
		}
	case table.PrefixRowID:
		if id, rest, ok := table.ReadID(key[1:]); ok && len(rest) == 0 {
			return "/rowid/" + ds.relation(id)
		}
	case table.PrefixTable:
		if k, ok := table.DecodeKey(key); ok {
			return ds.tableKey(k)
		}
	case table.PrefixObserver:
		if id, kind, row, ok := table.DecodeObserverKey(key); ok {
			return ds.observerKey(id, kind, row)
		}
	case table.PrefixLarge:
		if k, ok := largeobject.DecodeKey(key); ok && k.Record {
			return fmt.Sprintf("/largeobject/%d/%d", k.Database, k.ID)
		} else if ok {
			return fmt.Sprintf("/largeobject/%d/%d/page/%d", k.Database, k.ID, k.Page)
		}
	case table.PrefixView:
		if id, ok := table.ViewOfStateKey(key); ok {
			return "/view/" + ds.relation(id)
		}
	case 0:
		if start, ok := txn.DroppedStart(key); ok {
			return "/dropped" + ds.Key(start)
		}
	case table.PrefixStats:
		if id, what, column, ok := stats.DecodeKey(key); ok {
			name := "/stats/" + ds.relation(id) + "/" + what
			if what == "column" {
				name += fmt.Sprintf("/%d", column)
			}
			return name
		}
	}
	return fmt.Sprintf("/%x", key)
}

func (ds *Describer) relation(id table.ID) string {
	if n, ok := ds.names[id]; ok {
		return fmt.Sprintf("%d %s", id, n)
	}
	return fmt.Sprintf("%d", id)
}

func (ds *Describer) tableKey(k table.Key) string {
	d := ds.tables[k.Storage]
	if d == nil {
		return k.String()
	}
	name := "row"
	if k.Index != table.RowIndexID {
		name = fmt.Sprintf("index/%d", k.Index)
		ix := d.Index(k.Index)
		if ix == nil {
			return k.String()
		}
		name += " " + ix.Name
	}
	return fmt.Sprintf("/table/%d %s/%s/%s", k.Storage, ds.names[d.ID], name,
		table.DescribeKey(d, k))
}

func (ds *Describer) observerKey(id table.ID, kind table.ObserverKind, row []byte) string {
	name := fmt.Sprintf("/observer/%d", id)
	if n, ok := ds.observers[id]; ok {
		name += " " + n
	}
	switch name += "/" + kind.String(); kind {
	case table.ObserverBackfill:
	case table.ObserverPlace, table.ObserverWalk:
		name += fmt.Sprintf("/%d", binary.BigEndian.Uint32(row))
	default:
		name += ds.Key(row)
	}
	return name
}

// catalogKeys are the names of the catalog's keys by their tags, and what follows these: i is an
// ID, r the ID of a relation, s a text up to the end.
var catalogKeys = map[byte]struct{ name, parts string }{
	tagFormat: {"format", ""}, tagVersion: {"version", ""}, tagNextID: {"next-id", ""},
	tagDatabase: {"database", "s"}, tagSchema: {"schema", "is"}, tagName: {"name", "iis"},
	tagDesc: {"desc", "r"}, tagWriters: {"writers", "r"}, tagStorage: {"storage", "i"},
	tagObserver: {"observer", "is"}, tagDepend: {"reads", "rr"},
	tagType: {"type", "i"}, tagTypeName: {"type-name", "iis"},
	tagExtension: {"extension", "is"},
}

func (ds *Describer) catalogKey(rest []byte) string {
	if len(rest) == 0 {
		return "/catalog"
	}
	tag, rest := rest[0], rest[1:]
	key, ok := catalogKeys[tag]
	text, b := "/catalog/"+key.name, rest
	for _, part := range key.parts {
		if part == 's' {
			text += "/" + string(b)
			continue
		}
		var id table.ID
		if id, b, ok = table.ReadID(b); !ok {
			break
		}
		if part == 'r' {
			text += "/" + ds.relation(id)
		} else {
			text += fmt.Sprintf("/%d", id)
		}
	}
	if !ok {
		return fmt.Sprintf("/catalog/%c/%x", tag, rest)
	}
	return text
}

// Value is the text of the value stored under key.
func (ds *Describer) Value(key, value []byte) string {
	if len(key) == 0 {
		return fmt.Sprintf("%x", value)
	}
	switch key[0] {
	case table.PrefixCatalog:
		return catalogValue(key[1:], value)
	case table.PrefixSequence:
		if p, err := decodePosition(value); err == nil {
			return fmt.Sprintf("last=%d called=%t", p.last, p.called)
		}
	case table.PrefixRowID:
		if len(value) == 8 {
			return fmt.Sprintf("next=%d", binary.BigEndian.Uint64(value))
		}
	case table.PrefixLarge:
		if k, ok := largeobject.DecodeKey(key); ok && k.Record {
			return string(value)
		}
	case table.PrefixTable:
		if k, ok := table.DecodeKey(key); ok && ds.tables[k.Storage] != nil {
			return table.DescribeValue(ds.tables[k.Storage], k, value)
		}
	}
	if key[0] == table.PrefixStats {
		return stats.Describe(key, value)
	}
	return fmt.Sprintf("%x", value)
}

func catalogValue(rest, value []byte) string {
	if len(rest) > 0 {
		switch rest[0] {
		case tagDatabase, tagSchema, tagType:
			return string(value)
		case tagDesc:
			if v, js, err := descVersion(value); err == nil {
				return fmt.Sprintf("v%d %s", v, js)
			}
		case tagName:
			if e, ok := decodeNameEntry(value); ok {
				if e.index != 0 {
					return fmt.Sprintf("relation %d, index %d", e.relation, e.index)
				}
				return fmt.Sprintf("relation %d", e.relation)
			}
		case tagTypeName:
			if id, _, ok := table.ReadID(value); ok {
				return fmt.Sprintf("type %d", id)
			}
		case tagStorage:
			if id, _, ok := table.ReadID(value); ok {
				return fmt.Sprintf("relation %d", id)
			}
		case tagObserver:
			if e, ok := decodeObserverEntry(value); ok {
				return fmt.Sprintf("relation %d, observer %d, version %d", e.table, e.observer,
					e.version)
			}
		case tagVersion, tagNextID:
			if len(value) == 8 {
				return fmt.Sprintf("%d", binary.BigEndian.Uint64(value))
			}
		case tagFormat:
			if v, n := binary.Uvarint(value); n > 0 {
				return fmt.Sprintf("%d", v)
			}
		}
	}
	return strings.ToValidUTF8(fmt.Sprintf("%x", value), "?")
}
