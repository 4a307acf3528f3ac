package exec

import (
	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// budget counts the bytes that the operators of one statement hold, and draws them from the session's account.
// It belongs to one goroutine at a time.
type budget struct {
	used, limit int64           // limit 0: none
	account     *memory.Account // nil: none
}

// grow counts n bytes that are about to be allocated. They are counted also when it fails.
func (b *budget) grow(n int64) error {
	b.used += n
	if b.limit > 0 && b.used > b.limit {
		b.account.Owe(n)
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("The statement holds more than %d kB in sorts, joins, aggregates and values.", b.limit/1024).
			WithHint("Consider increasing the configuration parameter \"minidb.statement_memory\".")
	}
	return b.account.Grow(n)
}

func (b *budget) shrink(n int64) {
	b.used -= n
	b.account.Shrink(n)
}

// close gives back what is still counted.
func (b *budget) close() { b.shrink(b.used) }

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

// valuesSize is about how many bytes rows sel of the columns take beyond their entries.
func valuesSize(cols []*types.Vec, sel []int32) int64 {
	total := int64(0)
	for _, c := range cols {
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

// RowBytes is about how many bytes a row of datums takes in memory.
func RowBytes(row []types.Datum) int64 {
	n := int64(0)
	for i := range row {
		n += datumBytes + datumExtra(row[i])
	}
	return n
}

// datumBytes is the size of a datum without what it points to.
const datumBytes = 96

// datumExtra is what a value holds beyond its entry.
func datumExtra(d types.Datum) int64 {
	n := int64(len(d.S))
	if d.Dec != nil {
		n += 48
	}
	if d.Arr != nil {
		n += 80
		for _, e := range d.Arr.Elems {
			n += datumBytes + datumExtra(e)
		}
	}
	return n
}
