package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// read decodes what is stored under a key; nil: nothing is.
func read[T any](ctx context.Context, tx *txn.Txn, key []byte,
	decode func([]byte) (*T, error)) (*T, error) {
	b, err := tx.Get(ctx, key)
	if err != nil || b == nil {
		return nil, err
	}
	return decode(b)
}

// ReadTable returns the statistics of a table itself, without its columns; nil if there are none.
func ReadTable(ctx context.Context, tx *txn.Txn, id table.ID) (*Table, error) {
	return read(ctx, tx, tableKey(id), decodeTable)
}

// Read returns the statistics of a table as tx sees them; nil when there are none.
func Read(ctx context.Context, tx *txn.Txn, id table.ID) (*Table, error) {
	t, err := ReadTable(ctx, tx, id)
	if err != nil || t == nil {
		return nil, err
	}
	t.Columns = map[table.ColumnID]*Column{}
	err = each(ctx, tx, columnsSpan(id), func(key, value []byte) error {
		_, _, column, ok := DecodeKey(key)
		if !ok {
			return corrupt("key of a column")
		}
		c, err := decodeColumn(value)
		t.Columns[column] = c
		return err
	})
	if err != nil {
		return t, err
	}
	return t, each(ctx, tx, keysSpan(id), func(key, value []byte) error {
		of, ok := decodeKeysKey(id, key)
		if !ok {
			return corrupt("key of keys")
		}
		k, err := decodeKeys(value)
		if t.Keys == nil {
			t.Keys = map[KeysID]*Keys{}
		}
		t.Keys[of] = k
		return err
	})
}

// Write stores the statistics of a table. Columns that t does not have keep theirs.
func Write(tx *txn.Txn, id table.ID, t *Table) error {
	for column, c := range t.Columns {
		b, err := encodeColumn(c)
		if err != nil {
			return err
		}
		if err := tx.Set(columnKey(id, column), b); err != nil {
			return err
		}
	}
	for of, k := range t.Keys {
		if err := tx.Set(keysKey(id, of), encodeKeys(k)); err != nil {
			return err
		}
	}
	return tx.Set(tableKey(id), encodeTable(t))
}

// ReadCounters returns the stored counters of a table; nil when there are none.
func ReadCounters(ctx context.Context, tx *txn.Txn, id table.ID) (*Counters, error) {
	return read(ctx, tx, countersKey(id), decodeCounters)
}

// WriteCounters stores the counters of a table.
func WriteCounters(tx *txn.Txn, id table.ID, c *Counters) error {
	return tx.Set(countersKey(id), encodeCounters(c))
}

// Tables calls f with the ID of each table of which anything is stored, in order. f may use the
// transaction.
func Tables(ctx context.Context, tx *txn.Txn, f func(id table.ID) error) error {
	span := table.PrefixSpan([]byte{table.PrefixStats})
	for {
		var found []byte
		err := each(ctx, tx, span, func(key, _ []byte) error {
			found = bytes.Clone(key)
			return errEnough
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if found == nil {
			return nil
		}
		id, _, _, ok := DecodeKey(found)
		if !ok {
			return corrupt("key")
		}
		if err := f(id); err != nil {
			return err
		}
		span.Start = kv.PrefixEnd(Prefix(id))
	}
}

var errEnough = errors.New("enough")

// Remove deletes everything that is stored of a table.
func Remove(ctx context.Context, tx *txn.Txn, id table.ID) error {
	var keys [][]byte
	err := each(ctx, tx, table.PrefixSpan(Prefix(id)), func(key, _ []byte) error {
		keys = append(keys, bytes.Clone(key))
		return nil
	})
	for _, k := range keys {
		if err == nil {
			err = tx.Delete(k)
		}
	}
	return err
}

func each(ctx context.Context, tx *txn.Txn, span kv.Span,
	f func(key, value []byte) error) (err error) {
	it, err := tx.Scan(ctx, span, txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		if err := f(it.Key(), it.Value()); err != nil {
			return err
		}
	}
	return it.Err()
}

// Describe is a stored value as text, for tools.
func Describe(key, value []byte) string {
	_, what, _, _ := DecodeKey(key)
	switch what {
	case "table":
		if t, err := decodeTable(value); err == nil {
			return fmt.Sprintf("rows=%.0f bytes=%.0f", t.Rows, t.RowBytes)
		}
	case "column":
		if c, err := decodeColumn(value); err == nil {
			return fmt.Sprintf("%s nulls=%.4f width=%.1f distinct=%.0f common=%d bounds=%d", c.Type,
				c.NullFraction, c.Width, c.Distinct, len(c.Common), len(c.Bounds))
		}
	case "keys":
		if k, err := decodeKeys(value); err == nil {
			return fmt.Sprintf("common=%d rest=%.6f row=%.1f", len(k.Common), k.Rest, k.PerRow)
		}
	case "counters":
		if c, err := decodeCounters(value); err == nil {
			return fmt.Sprintf("live=%d modified=%d", c.Live, c.Modified)
		}
	}
	return fmt.Sprintf("%x", value)
}
