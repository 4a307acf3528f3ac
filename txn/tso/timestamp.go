package tso

import (
	"fmt"
	"strconv"
	"time"
)

// Timestamp is a point in the one order of all transactions: milliseconds since 1970 in the upper
// bits, a counter in the lower ones. Zero is no timestamp.
type Timestamp uint64

const (
	// logicalBits is the width of the counter: 262,144 timestamps in each millisecond before the
	// physical part runs ahead of the clock.
	logicalBits = 18
	logicalMask = 1<<logicalBits - 1

	// Max is above every timestamp.
	Max = ^Timestamp(0)
)

// New composes a timestamp of milliseconds since 1970 and a counter.
func New(physicalMillis int64, logical int64) Timestamp {
	return Timestamp(physicalMillis)<<logicalBits + Timestamp(logical)
}

// Physical returns the milliseconds since 1970.
func (t Timestamp) Physical() int64 { return int64(t >> logicalBits) }

// Logical returns the counter within the millisecond.
func (t Timestamp) Logical() int64 { return int64(t & logicalMask) }

// Time returns the physical part as a time.
func (t Timestamp) Time() time.Time { return time.UnixMilli(t.Physical()) }

// Moment prints when the timestamp was drawn, for people.
func (t Timestamp) Moment() string { return t.Time().UTC().Format(time.RFC3339Nano) }

// String prints physical and logical part, or a plain number for the small ones of tests.
func (t Timestamp) String() string {
	if t <= logicalMask {
		return strconv.FormatUint(uint64(t), 10)
	}
	return fmt.Sprintf("%d.%d", t.Physical(), t.Logical())
}
