package hints

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// rowCache keeps values that transactions have read, each with a read timestamp at which it was the
// row's value. Whether it still is, is not the cache's to know: FindRow asks the other tables, so a
// commit need not look here. A key has one place, and the last row that was read there has it.
type rowCache struct {
	limit  int64 // bytes; 0: nothing is kept
	held   atomic.Int64
	hand   atomic.Uint64 // the place that was emptied last
	once   sync.Once
	places atomic.Pointer[[]atomic.Pointer[cachedRow]] // nil before the first row
}

type cachedRow struct {
	at         tso.Timestamp
	key, value []byte
}

const (
	// maxCachedRow is the greatest size of a key with its value that is kept.
	maxCachedRow = 1 << 10
	// rowOverhead is what a row costs in memory beside its bytes; bytesPerPlace is what the cache
	// expects a row to take, with its place.
	rowOverhead, bytesPerPlace = 80, 128
)

func (r *cachedRow) size() int64 { return int64(len(r.key)+len(r.value)) + rowOverhead }

// RowHash identifies a row in the tables of this process.
type RowHash uint64

// HashOf returns the hash of a user key's row.
func (h *Hints) HashOf(key []byte) RowHash {
	var room [128]byte
	return RowHash(maphash.Bytes(h.Recent.seed, mvcc.AppendRow(room[:0], key)))
}

func (r RowHash) slot() uint32 { return uint32(r % recentSlots) }

// FindRow returns the value that the key has at a read timestamp, if memory knows it. The value
// must not be changed.
//
// A row that was read at a timestamp is the row at a later one if nothing was committed between. A
// commit at or below readTS was in flight before that was drawn (inflight), or its row was locked.
// When it leaves the table in flight, or the lock holders, it has raised the slot of recent
// commits. So the slot is asked last.
func (h *Hints) FindRow(hash RowHash, key []byte, readTS tso.Timestamp) (value []byte, ok bool) {
	row := h.rows.find(hash, key)
	if row == nil || row.at > readTS {
		return nil, false
	}
	above := func(p *Pending) bool { return tso.Timestamp(p.CommitTS.Load()) > readTS }
	if h.InFlight.Writer(key, above) != nil || !h.Unlocked(hash.slot(), key, nil) ||
		!h.Unchanged(hash.slot(), row.at) {
		return nil, false
	}
	return row.value, true
}

// KeepRow keeps a value, of which it takes a copy, as the row's at a read timestamp.
func (h *Hints) KeepRow(hash RowHash, key, value []byte, readTS tso.Timestamp) {
	if h.rows.limit > 0 && len(key)+len(value) <= maxCachedRow {
		h.rows.keep(hash, key, value, readTS)
	}
}

// CachesRows reports whether any row may be kept.
func (h *Hints) CachesRows() bool { return h.rows.limit > 0 }

// RowsHeld is what the rows take, in bytes.
func (h *Hints) RowsHeld() int64 { return h.rows.held.Load() }

func (c *rowCache) place(hash RowHash) *atomic.Pointer[cachedRow] {
	places := c.places.Load()
	if places == nil {
		return nil
	}
	return &(*places)[uint64(hash)/recentSlots%uint64(len(*places))]
}

func (c *rowCache) find(hash RowHash, key []byte) *cachedRow {
	place := c.place(hash)
	if place == nil {
		return nil
	}
	if row := place.Load(); row != nil && bytes.Equal(row.key, key) {
		return row
	}
	return nil
}

func (c *rowCache) keep(hash RowHash, key, value []byte, at tso.Timestamp) {
	c.once.Do(func() {
		log := bits.Len64(uint64(c.limit/bytesPerPlace)) - 1
		places := make([]atomic.Pointer[cachedRow], 1<<log)
		c.places.Store(&places)
	})
	place := c.place(hash)
	old := place.Load()
	if old != nil && old.at >= at && bytes.Equal(old.key, key) {
		return // a reader of an older snapshot came late
	}
	both := make([]byte, len(key)+len(value))
	n := copy(both, key)
	copy(both[n:], value)
	row := &cachedRow{at: at, key: both[:n:n], value: both[n:]}
	grown := row.size()
	if old != nil {
		grown -= old.size()
	}
	if c.held.Load()+grown > c.limit && !c.evict(place, grown) {
		return
	}
	if place.CompareAndSwap(old, row) { // else another reader has the place
		c.held.Add(grown)
	}
}

// evict makes room for a row at a place, from other places in turn. It gives up after a few.
func (c *rowCache) evict(but *atomic.Pointer[cachedRow], room int64) bool {
	places := *c.places.Load()
	for range 16 {
		place := &places[c.hand.Add(1)%uint64(len(places))]
		if place == but {
			continue
		}
		if row := place.Swap(nil); row != nil {
			c.held.Add(-row.size())
		}
		if c.held.Load()+room <= c.limit {
			return true
		}
	}
	return false
}
