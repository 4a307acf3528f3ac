package stats

import (
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Table is the statistics of a table. A Table that was returned is shared and never changed.
type Table struct {
	Rows     float64
	RowBytes float64   // of the columns' values, on average
	Counted  time.Time // when Rows was counted, by ANALYZE or VACUUM
	Columns  map[table.ColumnID]*Column
	// Keys are the keys of GIN indexes; nil for none.
	Keys map[KeysID]*Keys
}

// Column is the statistics of a column's values.
type Column struct {
	Type         *types.Type // as it was when they were gathered
	NullFraction float64     // share of rows that are NULL
	Width        float64     // bytes of a value that is not NULL, on average
	Distinct     float64     // number of different values that are not NULL
	// Correlation is how well the order of the values agrees with that of the rows: 1 the same, -1
	// the reverse.
	Correlation float64
	// Common are the most common values, the most frequent first; Frequencies are their shares of
	// all rows. Complete means that there is no other value.
	Common      []types.Datum
	Frequencies []float64
	Complete    bool
	// Bounds cut the values that are not among Common into buckets of equal shares: ascending, the
	// least and the greatest included; nil when there are none.
	Bounds []types.Datum
}

// PageBytes is PostgreSQL's block size, in which it counts the size of relations.
const PageBytes = 8192

// rowOverhead estimates the bytes of a row beside its values: its key, and the header of its
// version.
const rowOverhead = 28

// Pages is the size of so many entries of so many bytes in PostgreSQL's blocks.
func Pages(rows, bytes float64) int64 {
	if rows <= 0 {
		return 0
	}
	return int64(rows*(bytes+rowOverhead)/PageBytes) + 1
}

// frequencies is the share of rows that have one of the common values.
func (c *Column) frequencies() float64 {
	s := 0.0
	for _, f := range c.Frequencies {
		s += f
	}
	return s
}

// rest is the share of rows that are neither NULL nor a common value, and the number of their
// values.
func (c *Column) rest() (share, distinct float64) {
	if c.Complete {
		return 0, 1
	}
	share = max(0, 1-c.NullFraction-c.frequencies())
	return share, max(1, c.Distinct-float64(len(c.Common)))
}
