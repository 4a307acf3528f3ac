package pebblekv

import (
	"hash/maphash"
	"slices"
	"sync"
)

// latchSlots is the number of latches. Rows that share one exclude each other needlessly, for the
// microseconds of an update without its sync, so a few thousand would do; this costs 128 KiB.
const latchSlots = 1 << 14

// latches exclude updates of the same row from each other. All latches of an update are taken at
// once and in slot order, so that no two updates wait for each other.
type latches struct {
	seed  maphash.Seed
	slots [latchSlots]sync.Mutex
}

func newLatches() *latches { return &latches{seed: maphash.MakeSeed()} }

// acquire takes the latches of the rows and returns their slots, appended to dst.
func (l *latches) acquire(rows [][]byte, dst []uint32) []uint32 {
	for _, row := range rows {
		dst = append(dst, uint32(maphash.Bytes(l.seed, row)%latchSlots))
	}
	slices.Sort(dst)
	dst = slices.Compact(dst)
	for _, s := range dst {
		l.slots[s].Lock()
	}
	return dst
}

func (l *latches) release(slots []uint32) {
	for _, s := range slots {
		l.slots[s].Unlock()
	}
}
