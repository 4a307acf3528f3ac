package etcdkv

import (
	"bytes"

	"github.com/minidb/minidb/kv"
)

// names turns keys of the layer above into etcd's, and back.
type names struct{ prefix string }

const (
	cellMark  = "c"
	guardMark = "g"
)

func (n names) cell(key []byte) string { return n.prefix + cellMark + string(key) }

func (n names) guard(row []byte) string { return n.prefix + guardMark + string(row) }

// end returns the exclusive end of a range of cells; nil is the end of all of them.
func (n names) end(key []byte) string {
	if key == nil {
		return string(kv.PrefixEnd([]byte(n.prefix + cellMark)))
	}
	return n.cell(key)
}

// key returns the key of a cell.
func (n names) key(raw []byte) []byte {
	return bytes.Clone(raw[len(n.prefix)+len(cellMark):])
}
