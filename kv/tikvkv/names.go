package tikvkv

import (
	"bytes"

	"github.com/minidb/minidb/kv"
)

// names turns keys of the layer above into the cluster's, and back.
type names struct{ prefix string }

const (
	cellMark  = 'c'
	guardMark = 'g'
)

func (n names) cell(key []byte) []byte { return n.name(cellMark, key) }

func (n names) guard(row []byte) []byte { return n.name(guardMark, row) }

func (n names) name(mark byte, key []byte) []byte {
	out := make([]byte, 0, len(n.prefix)+1+len(key))
	return append(append(append(out, n.prefix...), mark), key...)
}

// end returns the exclusive end of a range of cells; nil is the end of all of them.
func (n names) end(key []byte) []byte {
	if key == nil {
		return kv.PrefixEnd(n.cell(nil))
	}
	return n.cell(key)
}

// key returns the key of a cell.
func (n names) key(raw []byte) []byte { return bytes.Clone(raw[len(n.prefix)+1:]) }

// full begins every value, for TiKV has no empty ones.
const full = 'v'

func encode(value []byte) []byte { return append([]byte{full}, value...) }

func decode(raw []byte) []byte { return raw[1:] }
