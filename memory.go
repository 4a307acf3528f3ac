package minidb

import (
	"fmt"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/kv/pebblekv"
)

// usualCache, usualRows and usualColumns are the block cache, the row cache and the column cache of
// a handle without a limit of its own.
const usualCache, usualRows, usualColumns = 64 << 20, 16 << 20, 32 << 20

// boundMemory takes the handle's part of the process's memory: the engine's sizes are chosen by
// what is left.
func (db *DB) boundMemory(eo *pebblekv.Options) error {
	pool, limit := memory.Process(), db.opts.memoryLimit
	if limit != 0 && limit < memory.LeastBound {
		return fmt.Errorf("minidb: MemoryLimit of %d bytes: at least %d are needed", limit,
			memory.LeastBound)
	}
	if limit > 0 {
		db.releases = append(db.releases, pool.Limit(limit))
	}
	_, heap := pool.Bound()
	cache, memTable := memory.StoreSizes(heap)
	db.rowCache, db.columnCache = cache/8, cache/6
	cache -= heldTwice(db.rowCache) + heldTwice(db.columnCache)
	if limit == 0 {
		cache, db.rowCache = min(cache, usualCache), min(db.rowCache, usualRows)
		db.columnCache = min(db.columnCache, usualColumns)
	}
	if eo.CacheBytes == 0 {
		eo.CacheBytes = cache
	}
	eo.MemTableMost = memTable
	return nil
}

// fixMemory counts what the engine may take.
func (db *DB) fixMemory() error {
	pool := memory.Process()
	cache, memTables := db.local.MemoryBytes()
	db.releases = append(db.releases, pool.Fix("block cache", cache),
		pool.Fix("memtables", memTables),
		pool.Fix("row cache", heldTwice(db.rowCache)),
		pool.Fix("column cache", heldTwice(db.columnCache)))
	if bound, heap := pool.Bound(); db.opts.memoryLimit > 0 && heap < bound/4 {
		return fmt.Errorf("minidb: caches and memtables of the open handles take %d MiB of the "+
			"%d MiB that the process may hold",
			(bound-heap)>>20, bound>>20)
	}
	return nil
}

// heldTwice is what rows or columns that are kept take: Go's heap grows to twice what is live.
func heldTwice(bytes int64) int64 { return 2 * bytes }

// releaseMemory gives the handle's part back.
func (db *DB) releaseMemory() {
	for _, release := range db.releases {
		release()
	}
	db.releases = nil
}
