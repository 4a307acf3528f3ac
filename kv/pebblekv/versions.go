package pebblekv

import (
	"encoding/binary"
	"math"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/minidb/minidb/kv"
)

// Each table file, and each of its blocks, has the interval of the versions that are in it as a
// property: of the suffixes of eight bytes. A walk over versions of some time (kv.Versioned) passes
// over files and blocks that have none of them. A mark of a deletion has the key that it deletes,
// and so its version: no walk reads the key and not the mark. Files from before the property are
// read.
const versionProperty = "minidb.versions"

// everyVersion is the interval of a key that is no version.
var everyVersion = sstable.BlockInterval{Upper: math.MaxUint64}

// versionMapper implements sstable.IntervalMapper.
type versionMapper struct{}

// MapPointKey implements sstable.IntervalMapper.
func (versionMapper) MapPointKey(key pebble.InternalKey, _ []byte) (sstable.BlockInterval, error) {
	suffix := key.UserKey[kv.PrefixLen(key.UserKey):]
	if len(suffix) != 8 {
		return everyVersion, nil
	}
	v := binary.BigEndian.Uint64(suffix)
	if v == math.MaxUint64 { // its interval would have no end
		return everyVersion, nil
	}
	return sstable.BlockInterval{Lower: v, Upper: v + 1}, nil
}

// MapRangeKeys implements sstable.IntervalMapper. There are no range keys.
func (versionMapper) MapRangeKeys(sstable.Span) (sstable.BlockInterval, error) {
	return everyVersion, nil
}

// newVersionCollector makes the property.
func newVersionCollector() pebble.BlockPropertyCollector {
	return sstable.NewBlockIntervalCollector(versionProperty, versionMapper{}, nil)
}

// versionsBetween passes over what has no version in [low, high].
func versionsBetween(low, high uint64) pebble.BlockPropertyFilter {
	if high < math.MaxUint64 {
		high++ // where it ends
	}
	return sstable.NewBlockIntervalFilter(versionProperty, low, high, nil)
}
