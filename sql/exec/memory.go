package exec

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// budget counts the bytes that the operators of one statement hold.
type budget struct {
	used, limit int64 // limit 0: none
}

func (b *budget) grow(n int64) error {
	b.used += n
	if b.limit > 0 && b.used > b.limit {
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("The statement holds more than %d kB in sorts, joins, aggregates and values.", b.limit/1024).
			WithHint("Consider increasing the configuration parameter \"minidb.statement_memory\".")
	}
	return nil
}

func (b *budget) shrink(n int64) { b.used -= n }

// Grow and Shrink count what functions hold: expr.Account.
func (b *budget) Grow(n int64) error { return b.grow(n) }

func (b *budget) Shrink(n int64) { b.shrink(n) }

// entryWidth is the size of a vector's entry, its NULL mark included.
func entryWidth(f types.Family) int64 {
	switch f {
	case types.String, types.Bytes, types.UUID, types.JSON, types.Interval:
		return 17
	}
	return 9
}

// entriesSize is about how many bytes rows sel of the columns take.
func entriesSize(cols []*types.Vec, sel []int32) int64 {
	total := int64(0)
	for _, c := range cols {
		total += entryWidth(c.Type.Family) * int64(len(sel))
		switch c.Type.Family {
		case types.String, types.Bytes, types.UUID, types.JSON:
			for _, i := range sel {
				if !c.HasNull || !c.Nulls[i] {
					total += int64(len(c.S[i]))
				}
			}
		case types.Decimal:
			total += 48 * int64(len(sel))
		case types.Array, types.Record:
			for _, i := range sel {
				if !c.HasNull || !c.Nulls[i] {
					total += datumExtra(types.Datum{Arr: c.Arr[i]})
				}
			}
		}
	}
	return total
}

// datumExtra is what a value holds beyond its entry.
func datumExtra(d types.Datum) int64 {
	n := int64(len(d.S))
	if d.Dec != nil {
		n += 48
	}
	if d.Arr != nil {
		n += 80
		for _, e := range d.Arr.Elems {
			n += 96 + datumExtra(e)
		}
	}
	return n
}
