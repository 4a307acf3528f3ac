// Package codec maps datums to bytes and back, in two ways: as parts of keys, whose order is the
// order of the datums, and as columns of row values, which are compact and read one by one.
//
// docs/encoding.md has every byte. Invariants:
//
//	C1 bytes.Compare of two keys of a type is types.Compare of the datums; with desc its reverse.
//	C2 datums that compare equal have one key: 1.0 and 1.00, 0 and -0, '1 day' and '24 hours'. A
//	   type in which that can happen is not exact (KeyExact): its value must be stored as well.
//	C3 no key is a prefix of another one of the same type, so keys can be put side by side.
//	C4 decoding bytes that no encoder wrote is an error that wraps kv.ErrCorruption.
//
// Keys avoid the byte 00, which the transaction layer below has to escape.
package codec

import (
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
)

func corrupt(t *types.Type, what string) error {
	return fmt.Errorf("codec: %s: %s: %w", t.Name, what, kv.ErrCorruption)
}
