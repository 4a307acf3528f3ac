package memory

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// LeastBound is the smallest bound with which a store works.
	LeastBound = 32 << 20
	// unknownBound is for a machine that does not report how much memory it has.
	unknownBound = 1 << 30
	// leastMemTable and mostMemTable bound the size of one memtable of a store.
	leastMemTable = 1 << 20
	mostMemTable  = 32 << 20
)

// DefaultBound is half of the memory of the machine, or of the process's control group where that
// has less.
func DefaultBound() int64 {
	least := uint64(math.MaxUint64)
	for _, ask := range []memlimit.Provider{memlimit.FromCgroup, memlimit.FromSystem} {
		if n, err := ask(); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if least > math.MaxInt64 {
		return unknownBound
	}
	return max(int64(least/2), LeastBound)
}

// StoreSizes are what a store may keep of a bound: the block cache has 3/16 of it, and the four
// memtables 1/16, at most 128 MiB.
func StoreSizes(bound int64) (cache int64, memTable int) {
	return bound / 16 * 3, int(min(max(bound/64, leastMemTable), mostMemTable))
}
