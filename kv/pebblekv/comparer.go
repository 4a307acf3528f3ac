package pebblekv

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"
	"github.com/minidb/minidb/kv"
)

// comparer orders keys as bytes.Compare does and shows Pebble where a key's prefix ends, so that
// filters and NextPrefix work on prefixes. Its name is part of the disk format.
//
// Pebble asks that prefixes order keys before suffixes do. They do: a prefix ends at the first
// 00 01, so if two keys first differ inside one's prefix, that position is inside the other's too.
var comparer = func() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "minidb.row.1"
	c.Split = kv.PrefixLen
	c.Compare = bytes.Compare
	c.ComparePointSuffixes = bytes.Compare
	c.CompareRangeSuffixes = bytes.Compare
	c.ImmediateSuccessor = func(dst, prefix []byte) []byte {
		n := len(prefix)
		dst = append(dst, prefix...)
		if n > 2 && prefix[n-2] == 0x00 && prefix[n-1] == 0x01 {
			// Everything from p 00 01 up to p 00 02 has the prefix p 00 01.
			dst[len(dst)-1] = 0x02
			return dst
		}
		return append(dst, 0x00)
	}
	return &c
}()
