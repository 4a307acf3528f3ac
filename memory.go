package minidb

import (
	"fmt"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/kv/pebblekv"
)

// usualCache is the block cache of a handle without a limit of its own.
const usualCache = 64 << 20

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
	if limit == 0 {
		cache = min(cache, usualCache)
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
	cache, memTables := db.engine.MemoryBytes()
	db.releases = append(db.releases, pool.Fix("block cache", cache),
		pool.Fix("memtables", memTables))
	if bound, heap := pool.Bound(); db.opts.memoryLimit > 0 && heap < bound/4 {
		return fmt.Errorf("minidb: caches and memtables of the open handles take %d MiB of the "+
			"%d MiB that the process may hold",
			(bound-heap)>>20, bound>>20)
	}
	return nil
}

// releaseMemory gives the handle's part back.
func (db *DB) releaseMemory() {
	for _, release := range db.releases {
		release()
	}
	db.releases = nil
}
