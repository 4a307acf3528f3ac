package table

import (
	"fmt"
	"strings"

	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// DescribeKey shows the columns of a key of d for people: (1, x), and for entries with the row key
// behind them (1, x)/(7).
func DescribeKey(d *Desc, k Key) string {
	l, err := layoutOf(d, d.Index(k.Index))
	if k.Index == RowIndexID {
		l, err = layoutOf(d, nil)
	}
	if err != nil {
		return fmt.Sprintf("%x", k.Rest)
	}
	s, rest, ok := describeEntryKey(l, k.Rest)
	if !ok {
		return fmt.Sprintf("%x", k.Rest)
	}
	if len(rest) > 0 && l.index != nil {
		var suffix string
		if suffix, rest, ok = describeColumns(l.row, rest); ok {
			s += "/" + suffix
		}
	}
	if len(rest) > 0 {
		s += fmt.Sprintf("+%x", rest)
	}
	return s
}

// describeEntryKey describes the key columns of an entry, or the one key that an entry of GIN has:
// (tags: x).
func describeEntryKey(l *layout, b []byte) (s string, rest []byte, ok bool) {
	if l.gin == nil {
		return describeColumns(l.key, b)
	}
	s, rest, err := gin.Describe(l.gin, b)
	if err != nil {
		return "", nil, false
	}
	return "(" + l.name(l.key[b[0]-1].ordinal) + ": " + s + ")", rest, true
}

func describeColumns(cols []keyColumn, b []byte) (s string, rest []byte, ok bool) {
	parts := make([]string, len(cols))
	for i := range cols {
		var d types.Datum
		var err error
		if d, b, err = cols[i].read(b); err != nil {
			return "", nil, false
		}
		parts[i] = text(cols[i].typ, d)
	}
	return "(" + strings.Join(parts, ", ") + ")", b, true
}

// DescribeValue shows the value stored under a key of d: a=1 b=x, for unique entries after the row
// key to which they lead.
func DescribeValue(d *Desc, k Key, value []byte) string {
	var parts []string
	if k.Index != RowIndexID {
		l, err := layoutOf(d, d.Index(k.Index))
		if d.Index(k.Index) == nil || err != nil {
			return fmt.Sprintf("%x", value)
		}
		rowKey, columns, err := l.splitEntry(k.Rest, value)
		if err != nil {
			return fmt.Sprintf("%x", value)
		}
		if len(columns) < len(value) {
			if s, _, ok := describeColumns(l.row, rowKey); ok {
				parts = append(parts, "→ "+s)
			}
		}
		value = columns
	}
	for len(value) > 0 {
		id, field, rest, err := codec.NextColumn(value)
		if err != nil {
			return strings.Join(append(parts, fmt.Sprintf("+%x", value)), " ")
		}
		value = rest
		o := d.Part(ColumnID(id))
		if o < 0 {
			parts = append(parts, fmt.Sprintf("dropped%d=%x", id, field))
			continue
		}
		name, t := "", d.PartType(o)
		if e := d.Expr(o); e != nil {
			name = e.Text
		} else {
			name = d.Columns[o].Name
		}
		v, err := codec.DecodeValue(field, t)
		if err != nil {
			parts = append(parts, fmt.Sprintf("%s=?%x", name, field))
			continue
		}
		parts = append(parts, name+"="+text(t, v))
	}
	return strings.Join(parts, " ")
}

// DescribeRowKey is the text of the key columns of a row, given by its whole key, or by the one
// that an observer has for a row which is gone with its place: (7, a).
func DescribeRowKey(d *Desc, key []byte) string {
	k, ok := DecodeKey(FormerRowKey(key))
	if !ok {
		return fmt.Sprintf("%x", key)
	}
	return DescribeKey(d, k)
}
