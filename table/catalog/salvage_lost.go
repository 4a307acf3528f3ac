package catalog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// lostStorage is what lies under a storage ID that no table has whose descriptor can be read.
type lostStorage struct {
	rows, entries int64
	first, last   []byte // keys of rows
}

// lostRows lists the rows whose tables are lost: how many there are under each storage ID, and
// between which keys. What was dropped and waits for the collector is none of them.
func (c *schemaCopy) lostRows(ctx context.Context) error {
	known, err := c.knownSpans(ctx)
	if err != nil {
		return err
	}
	found := map[table.StorageID]*lostStorage{}
	count := func(key, _ []byte) error {
		k, ok := table.DecodeKey(key)
		if !ok {
			return nil
		}
		l := found[k.Storage]
		if l == nil {
			l = &lostStorage{}
			found[k.Storage] = l
		}
		l.add(k, key)
		return nil
	}
	owners := c.storageOwners()
	ds := &Describer{}
	all := table.PrefixSpan([]byte{table.PrefixTable})
	from := all.Start
	for _, span := range append(known, kv.Span{Start: all.End}) {
		if bytes.Compare(from, span.Start) < 0 {
			lost, err := c.s.copy(ctx, kv.Span{Start: from, End: span.Start}, count)
			if err != nil {
				return err
			}
			for _, l := range lost.spans {
				c.s.opts.Lost(Problem{What: fmt.Sprintf("rows from %s up to %s, of tables whose "+
					"descriptors are lost, cannot be read", ds.Key(l.Start), ds.Key(l.End))})
			}
			for _, key := range lost.keys {
				if err := count(key, nil); err != nil {
					return err
				}
			}
		}
		if bytes.Compare(from, span.End) < 0 {
			from = span.End
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		c.s.opts.Lost(Problem{What: found[id].text(id, c.ownerName(owners, id))})
	}
	return nil
}

func (l *lostStorage) add(k table.Key, key []byte) {
	if k.Index != table.RowIndexID {
		l.entries++
		return
	}
	l.rows++
	if l.first == nil || bytes.Compare(key, l.first) < 0 {
		l.first = bytes.Clone(key)
	}
	if bytes.Compare(key, l.last) > 0 {
		l.last = append(l.last[:0], key...)
	}
}

func (l *lostStorage) text(id table.StorageID, of string) string {
	where := fmt.Sprintf("under storage ID %d", id)
	if of != "" {
		where += " (" + of + ")"
	}
	if l.rows == 0 {
		return fmt.Sprintf("%d index entries %s are lost: the descriptor of their table is",
			l.entries, where)
	}
	ds := &Describer{}
	return fmt.Sprintf("%d rows %s are lost, from %s up to %s: the descriptor of their table is",
		l.rows, where, ds.Key(l.first), ds.Key(l.last))
}

// knownSpans returns the spans of keys that belong to tables that were saved, those of the states
// of incremental views, and those that were dropped as a whole, sorted.
func (c *schemaCopy) knownSpans(ctx context.Context) (spans []kv.Span, err error) {
	spans = append(spans, c.states...)
	for _, r := range c.relations {
		if r.desc.HasRows() {
			spans = append(spans, r.desc.Span())
		}
	}
	_, err = c.s.copy(ctx, table.PrefixSpan([]byte{0}), func(key, _ []byte) error {
		if start, ok := txn.DroppedStart(key); ok {
			spans = append(spans, table.PrefixSpan(bytes.Clone(start)))
		}
		return nil
	})
	slices.SortFunc(spans, func(a, b kv.Span) int {
		return cmp.Or(bytes.Compare(a.Start, b.Start), bytes.Compare(b.End, a.End))
	})
	return spans, err
}

// storageOwners returns the tables that rows lie under another number of, as far as it can be read.
func (c *schemaCopy) storageOwners() map[table.StorageID]table.ID {
	owners := map[table.StorageID]table.ID{}
	c.eachCell(tagStorage, func(rest string, value []byte) {
		storage, _, ok := table.ReadID([]byte(rest))
		if id, _, known := table.ReadID(value); ok && known {
			owners[table.StorageID(storage)] = id
		}
	})
	return owners
}

// ownerName names the lost table that had a storage ID; "" when that is not known.
func (c *schemaCopy) ownerName(owners map[table.StorageID]table.ID, id table.StorageID) string {
	if owner, ok := owners[id]; ok {
		return c.nameOf(owner)
	}
	return c.names[table.ID(id)]
}
