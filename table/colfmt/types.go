package colfmt

import "github.com/minidb/minidb/table/types"

// Types number the types of the fields of records, to which encoded values refer. The zero value
// has none. Encoding records adds to it; everything else only reads it.
type Types struct {
	numbers map[*types.Type]uint64
	types   []*types.Type
}

// number returns the number of a type.
func (t *Types) number(of *types.Type) uint64 {
	n, ok := t.numbers[of]
	if !ok {
		if t.numbers == nil {
			t.numbers = map[*types.Type]uint64{}
		}
		n = uint64(len(t.types))
		t.numbers[of] = n
		t.types = append(t.types, of)
	}
	return n
}
