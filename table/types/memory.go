package types

import "github.com/minidb/minidb/internal/sqlerr"

// ErrOutOfMemory is 53200 for a value of n bytes.
func ErrOutOfMemory(n int64) error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("Failed on request of size "+
		"%d.", n)
}
