package txn

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/minidb/minidb/txn/tso"
)

// recentSlots is the size of the table of recent commits: 256 KiB.
const recentSlots = 1 << 15

// recent remembers, for each slot of rows, the newest commit timestamp that this process gave to
// any of them. A row whose slot is at or below a start_ts was not written after it, so a one-phase
// commit need not look. Slots are raised before the write records are applied, under the rows'
// latches or before them; what was there before Open is below every start_ts drawn since. On a
// store with other writers the table says nothing, and the records are read.
type recent struct {
	garbage *garbage // learns of rollbacks

	seed  maphash.Seed
	last  atomic.Uint64 // the newest of all
	slots [recentSlots]atomic.Uint64
}

func newRecent(g *garbage) *recent { return &recent{garbage: g, seed: maphash.MakeSeed()} }

func (r *recent) slotOf(row []byte) uint32 {
	return uint32(maphash.Bytes(r.seed, row) % recentSlots)
}

func (r *recent) slot(row []byte) *atomic.Uint64 { return &r.slots[r.slotOf(row)] }

// rollingBack tells that a rollback record of a transaction may be written to the row: its own
// prewrite, should it come late, has to look. Called before the update.
func (r *recent) rollingBack(startTS tso.Timestamp, rows ...[]byte) {
	r.garbage.note(startTS+1, rows...)
	for _, row := range rows {
		r.raise(row, startTS+1)
	}
}

func (r *recent) unchangedSince(row []byte, startTS tso.Timestamp) bool {
	return tso.Timestamp(r.slot(row).Load()) <= startTS
}

// resolving tells of a transaction's rows that are about to be rolled forward, or back without a
// commitTS.
func (r *recent) resolving(startTS, commitTS tso.Timestamp, rows [][]byte) {
	if commitTS == 0 {
		r.rollingBack(startTS, rows...)
		return
	}
	for _, row := range rows {
		r.raise(row, commitTS)
	}
}

// newest returns the newest of all.
func (r *recent) newest() tso.Timestamp { return tso.Timestamp(r.last.Load()) }

func (r *recent) raise(row []byte, commitTS tso.Timestamp) {
	raise(r.slot(row), uint64(commitTS))
	raise(&r.last, uint64(commitTS))
}

func raise(a *atomic.Uint64, to uint64) {
	for {
		old := a.Load()
		if old >= to || a.CompareAndSwap(old, to) {
			return
		}
	}
}
