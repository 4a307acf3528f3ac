package hints

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
// latches or before them. They begin with the timestamp of Open, which is above all that earlier
// processes wrote. On a store with other writers the table says nothing, and the records are read.
type recent struct {
	garbage  *garbage // learns of rollbacks
	sections sections // are raised as slots are

	seed  maphash.Seed
	last  atomic.Uint64 // the newest of all
	slots [recentSlots]atomic.Uint64
}

func newRecent(g *garbage) *recent {
	r := &recent{garbage: g, seed: maphash.MakeSeed()}
	r.sections.newer = &r.last
	r.sections.mu.kept = map[*Section]*keptRows{}
	return r
}

// SlotOf returns the slot of a row.
func (r *recent) SlotOf(row []byte) uint32 {
	return uint32(maphash.Bytes(r.seed, row) % recentSlots)
}

func (r *recent) slot(row []byte) *atomic.Uint64 { return &r.slots[r.SlotOf(row)] }

// Opened notes that any row may have been written up to a timestamp, by earlier processes.
func (r *recent) Opened(at tso.Timestamp) {
	for i := range r.slots {
		raise(&r.slots[i], uint64(at))
	}
	r.sections.raiseAll(uint64(at))
}

// RollingBack notes that a rollback record of a transaction may be written to the rows, so that the
// transaction's own prewrite, should it come late, reads them. It must be called before the update.
func (r *recent) RollingBack(startTS tso.Timestamp, rows ...[]byte) {
	r.garbage.note(startTS+1, rows...)
	for _, row := range rows {
		r.Raise(row, startTS+1)
	}
}

// UnchangedSince reports whether no commit or rollback above a timestamp was noted for the row.
func (r *recent) UnchangedSince(row []byte, startTS tso.Timestamp) bool {
	return tso.Timestamp(r.slot(row).Load()) <= startTS
}

// Resolving notes that a transaction's rows are about to be rolled forward to commitTS, or rolled
// back if that is zero. It must be called before the update.
func (r *recent) Resolving(startTS, commitTS tso.Timestamp, rows [][]byte) {
	if commitTS == 0 {
		r.RollingBack(startTS, rows...)
		return
	}
	for _, row := range rows {
		r.Raise(row, commitTS)
	}
}

// Newest returns the newest of all.
func (r *recent) Newest() tso.Timestamp { return tso.Timestamp(r.last.Load()) }

// Raise notes a commit of the row. It must be called before the commit's records are applied.
func (r *recent) Raise(row []byte, commitTS tso.Timestamp) {
	raise(r.slot(row), uint64(commitTS))
	raise(&r.last, uint64(commitTS)) // before the look at the sections (sections.cut)
	r.sections.raise(row, uint64(commitTS))
}

func raise(a *atomic.Uint64, to uint64) {
	for {
		old := a.Load()
		if old >= to || a.CompareAndSwap(old, to) {
			return
		}
	}
}
