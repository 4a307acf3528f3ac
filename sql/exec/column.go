package exec

import (
	"github.com/minidb/minidb/table/types"
)

// ascending is 0, 1, 2, …: the selection of all rows of a batch of usual size.
var ascending = func() []int32 {
	s := make([]int32, types.BatchSize)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}()

// selection returns the row numbers of b that count; never nil.
func selection(b *types.Batch) []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	return firstRows(b.Len)
}

// firstRows returns 0 … n-1, which must not be changed.
func firstRows(n int) []int32 {
	if n <= len(ascending) {
		return ascending[:n:n]
	}
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// readRow puts row r of the columns into dst.
func readRow(cols []*types.Vec, r int, dst []types.Datum) {
	for i, c := range cols {
		dst[i] = c.Get(r)
	}
}
