package stats

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/minidb/minidb/table"
)

// Counters count what has happened to a table: pg_stat_user_tables. They are kept in memory and
// stored from time to time, so a crash loses the last changes.
type Counters struct {
	Live                       int64 // rows, about
	Inserted, Updated, Deleted int64
	// Modified counts the changes since statistics were gathered; InsertedSince the new rows since
	// the last VACUUM.
	Modified, InsertedSince                  int64
	LastVacuum, LastAnalyze, LastAutoanalyze time.Time
	Vacuums, Analyzes, Autoanalyzes          int64
	// Scans are how the table was read, sorted by index: nothing else may change the slice.
	Scans []Scans
}

// Scans counts how the rows of a table were read by one of its indexes.
type Scans struct {
	Index   table.IndexID // 0: without one
	Scans   int64
	Read    int64 // rows, or entries of the index
	Fetched int64 // rows, of the entries
}

// ScansOf returns how the table was read by an index, or with 0 without one.
func (c *Counters) ScansOf(index table.IndexID) Scans {
	for _, s := range c.Scans {
		if s.Index == index {
			return s
		}
	}
	return Scans{Index: index}
}

// AddScans adds to what is counted for their index. It leaves the old slice as it was.
func (c *Counters) AddScans(s Scans) {
	at, known := slices.BinarySearchFunc(c.Scans, s.Index,
		func(have Scans, id table.IndexID) int { return cmp.Compare(have.Index, id) })
	if known {
		c.Scans = slices.Clone(c.Scans)
	} else {
		c.Scans = slices.Insert(slices.Clone(c.Scans), at, Scans{Index: s.Index})
	}
	to := &c.Scans[at]
	to.Scans += s.Scans
	to.Read += s.Read
	to.Fetched += s.Fetched
}

func (c *Counters) numbers() []*int64 {
	return []*int64{&c.Live, &c.Inserted, &c.Updated, &c.Deleted, &c.Modified, &c.InsertedSince,
		&c.Vacuums, &c.Analyzes, &c.Autoanalyzes}
}

func (c *Counters) times() []*time.Time {
	return []*time.Time{&c.LastVacuum, &c.LastAnalyze, &c.LastAutoanalyze}
}

func encodeCounters(c *Counters) []byte {
	b := []byte{layout}
	for _, n := range c.numbers() {
		b = binary.AppendVarint(b, *n)
	}
	for _, t := range c.times() {
		at := int64(0)
		if !t.IsZero() {
			at = t.UnixMicro()
		}
		b = binary.AppendVarint(b, at)
	}
	if len(c.Scans) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(c.Scans)))
	for _, s := range c.Scans {
		b = binary.AppendUvarint(b, uint64(s.Index))
		for _, n := range []int64{s.Scans, s.Read, s.Fetched} {
			b = binary.AppendVarint(b, n)
		}
	}
	return b
}

func decodeCounters(b []byte) (*Counters, error) {
	r := newReader(b)
	c := &Counters{}
	for _, n := range c.numbers() {
		*n = r.varint()
	}
	for _, t := range c.times() {
		if at := r.varint(); at != 0 {
			*t = time.UnixMicro(at)
		}
	}
	if len(r.b) == 0 {
		return c, r.end("counters")
	}
	for range r.count() {
		s := Scans{Index: table.IndexID(r.uvarint(math.MaxUint32))}
		for _, n := range []*int64{&s.Scans, &s.Read, &s.Fetched} {
			*n = r.varint()
		}
		if r.bad || len(c.Scans) > 0 && c.Scans[len(c.Scans)-1].Index >= s.Index {
			return nil, corrupt("scans")
		}
		c.Scans = append(c.Scans, s)
	}
	return c, r.end("counters")
}
