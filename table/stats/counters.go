package stats

import (
	"encoding/binary"
	"time"
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
	return c, r.end("counters")
}
