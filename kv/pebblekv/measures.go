package pebblekv

import (
	"strconv"

	"github.com/cockroachdb/pebble/v2"
	"github.com/minidb/minidb/kv"
)

// measure is a line of the table of what Pebble counts.
type measure struct {
	name, help, label string
	counter           bool
	read              func(m *pebble.Metrics) []kv.Value
}

// Measures implements kv.Measured.
func (e *Engine) Measures() []kv.Measure {
	var now *pebble.Metrics
	if err := e.enter(); err == nil {
		now = e.db.Metrics()
		e.gate.RUnlock()
	}
	all := make([]kv.Measure, len(measures))
	for i := range measures {
		m := &measures[i]
		all[i] = kv.Measure{Name: m.name, Help: m.help, Label: m.label, Counter: m.counter}
		if now != nil {
			all[i].Values = m.read(now)
		}
	}
	return append(all, e.space.measures(now != nil)...)
}

// measures are those of the file system. They have values where that is watched.
func (s *space) measures(open bool) []kv.Measure {
	all := []kv.Measure{
		{Name: "disk_free_bytes", Help: "Free bytes of the file system; below the needed ones " +
			"new data is refused (53100), below twice of them old versions are collected early."},
		{Name: "disk_needed_bytes", Help: "Free bytes below which new data is refused."},
		{Name: "disk_full", Help: "1 while new data is refused (53100): make room by DELETE, " +
			"DROP or VACUUM, or on the file system."},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !open || !s.mu.watched {
		return all
	}
	s.lookAgain()
	full := 0.0
	if s.mu.full {
		full = 1
	}
	for i, n := range []float64{float64(s.mu.free), float64(s.lowWater), full} {
		all[i].Values = []kv.Value{{Number: n}}
	}
	return all
}

// one makes a reader of a single number.
func one[N int | int64 | uint64 | float64](f func(m *pebble.Metrics) N) func(
	*pebble.Metrics) []kv.Value {
	return func(m *pebble.Metrics) []kv.Value { return []kv.Value{{Number: float64(f(m))}} }
}

// ofLevel makes a reader of a number that each level has.
func ofLevel(f func(l *pebble.LevelMetrics) float64) func(*pebble.Metrics) []kv.Value {
	return func(m *pebble.Metrics) []kv.Value {
		all := make([]kv.Value, len(m.Levels))
		for i := range m.Levels {
			all[i] = kv.Value{Of: strconv.Itoa(i), Number: f(&m.Levels[i])}
		}
		return all
	}
}

var measures = []measure{
	{name: "level_tables", label: "level",
		help: "Table files of a level; many in level 0 mean that compactions fall behind the " +
			"writes.",
		read: ofLevel(func(l *pebble.LevelMetrics) float64 { return float64(l.TablesCount) })},
	{name: "level_bytes", label: "level",
		help: "Bytes of a level's table files; what grows in one level alone is waiting to be " +
			"compacted.",
		read: ofLevel(func(l *pebble.LevelMetrics) float64 { return float64(l.TablesSize) })},
	{name: "level_sublevels", label: "level",
		help: "Layers of a level that a read has to look into; above ten in level 0, reads " +
			"become slow, and soon writes wait.",
		read: ofLevel(func(l *pebble.LevelMetrics) float64 { return float64(l.Sublevels) })},
	{name: "level_written_bytes_total", label: "level", counter: true,
		help: "Bytes that flushes and compactions wrote into a level; the sum over the log's " +
			"bytes is what each written byte costs the disk.",
		read: ofLevel(func(l *pebble.LevelMetrics) float64 {
			return float64(l.TableBytesFlushed + l.TableBytesCompacted)
		})},
	{name: "compactions_total", counter: true,
		help: "Compactions that have ended; a high rate is the disk's share of past writes.",
		read: one(func(m *pebble.Metrics) int64 { return m.Compact.Count })},
	{name: "compactions_failed_total", counter: true,
		help: "Compactions that ended with an error; any is a reason to read the server's log.",
		read: one(func(m *pebble.Metrics) int64 { return m.Compact.FailedCount })},
	{name: "compactions_running",
		help: "Compactions under way; when it is at its highest for long, the disk is the limit.",
		read: one(func(m *pebble.Metrics) int64 { return m.Compact.NumInProgress })},
	{name: "compaction_debt_bytes",
		help: "Bytes that compactions still have to write, as estimated; while it grows, " +
			"writes come faster than the disk can keep in order.",
		read: one(func(m *pebble.Metrics) uint64 { return m.Compact.EstimatedDebt })},
	{name: "compaction_seconds_total", counter: true,
		help: "Time that compactions took; its rate is how many of them run at once.",
		read: one(func(m *pebble.Metrics) float64 { return m.Compact.Duration.Seconds() })},
	{name: "flushes_total", counter: true,
		help: "Memtables that were written to a file; a high rate with small files means that " +
			"the memtables are small for the load.",
		read: one(func(m *pebble.Metrics) int64 { return m.Flush.Count })},
	{name: "memtables",
		help: "Memtables in use; more than two mean that flushes fall behind the writes.",
		read: one(func(m *pebble.Metrics) int64 { return m.MemTable.Count })},
	{name: "memtable_bytes",
		help: "Bytes of the memtables in use; they have to be read from the log at the start " +
			"after a crash.",
		read: one(func(m *pebble.Metrics) uint64 { return m.MemTable.Size })},
	{name: "block_cache_bytes",
		help: "Bytes of blocks in the block cache; at its bound, only the hit rate counts.",
		read: one(func(m *pebble.Metrics) int64 { return m.BlockCache.Size })},
	{name: "block_cache_hits_total", counter: true,
		help: "Blocks that were found in the block cache; compare with the misses.",
		read: one(func(m *pebble.Metrics) int64 { return m.BlockCache.Hits })},
	{name: "block_cache_misses_total", counter: true,
		help: "Blocks that were read from a file; when they are many beside the hits, the " +
			"process has too little memory for its data.",
		read: one(func(m *pebble.Metrics) int64 { return m.BlockCache.Misses })},
	{name: "disk_bytes",
		help: "Bytes of all files of the store; when it nears the size of the disk, new data " +
			"is refused (53100).",
		read: one(func(m *pebble.Metrics) uint64 { return m.DiskSpaceUsage() })},
	{name: "obsolete_bytes",
		help: "Bytes of table files that are to be deleted, or wait for a reader; while it " +
			"stays high, an old reader keeps them.",
		read: one(func(m *pebble.Metrics) uint64 {
			return m.Table.ObsoleteSize + m.Table.ZombieSize
		})},
	{name: "log_files",
		help: "Files of the log that are needed at the next start; many mean a long start.",
		read: one(func(m *pebble.Metrics) int64 { return m.WAL.Files })},
	{name: "log_bytes",
		help: "Bytes of the log that are needed at the next start; many mean a long start.",
		read: one(func(m *pebble.Metrics) uint64 { return m.WAL.Size })},
	{name: "log_written_bytes_total", counter: true,
		help: "Bytes that were written to the log; its rate is the load of writes.",
		read: one(func(m *pebble.Metrics) uint64 { return m.WAL.BytesWritten })},
	{name: "snapshots",
		help: "Snapshots that are open in the engine; one that is open for long keeps deleted " +
			"data on disk.",
		read: one(func(m *pebble.Metrics) int { return m.Snapshots.Count })},
	{name: "tombstones",
		help: "Marks of deleted keys that no compaction has removed yet, as estimated; many " +
			"in what is scanned make scans slow.",
		read: one(func(m *pebble.Metrics) uint64 { return m.Keys.TombstoneCount })},
}
