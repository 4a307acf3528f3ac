package memkv

import (
	"bytes"

	"github.com/minidb/minidb/kv"
	"github.com/tidwall/btree"
)

// iterator walks one version of the tree within a span, and within a prefix after SeekPrefixGE.
type iterator struct {
	it     btree.IterG[item]
	span   kv.Span
	prefix []byte // set by SeekPrefixGE
	valid  bool
	gone   func() error // whether its snapshot is
	err    error
}

// land settles whether the position reached is inside the span and the prefix.
func (i *iterator) land(found bool) bool {
	if i.err = i.gone(); i.err != nil {
		i.valid = false
		return false
	}
	i.valid = found && i.span.Contains(i.it.Item().key) &&
		(i.prefix == nil || bytes.Equal(kv.Prefix(i.it.Item().key), i.prefix))
	return i.valid
}

func (i *iterator) SeekGE(key []byte) bool {
	i.prefix = nil
	return i.seekGE(key)
}

func (i *iterator) seekGE(key []byte) bool {
	if bytes.Compare(key, i.span.Start) < 0 {
		key = i.span.Start
	}
	return i.land(i.it.Seek(item{key: key}))
}

func (i *iterator) SeekPrefixGE(key []byte) bool {
	i.prefix = bytes.Clone(kv.Prefix(key))
	return i.seekGE(key)
}

func (i *iterator) SeekLT(key []byte) bool {
	i.prefix = nil
	if i.span.End != nil && bytes.Compare(key, i.span.End) > 0 {
		key = i.span.End
	}
	if i.it.Seek(item{key: key}) {
		return i.land(i.it.Prev())
	}
	return i.land(i.it.Last())
}

func (i *iterator) First() bool { return i.SeekGE(i.span.Start) }

func (i *iterator) Last() bool {
	i.prefix = nil
	if i.span.End != nil {
		return i.SeekLT(i.span.End)
	}
	return i.land(i.it.Last())
}

func (i *iterator) Next() bool { return i.valid && i.land(i.it.Next()) }

func (i *iterator) Prev() bool { return i.valid && i.land(i.it.Prev()) }

func (i *iterator) NextPrefix() bool {
	if !i.valid {
		return false
	}
	prefix := kv.Prefix(i.it.Item().key)
	for i.Next() {
		if !bytes.Equal(kv.Prefix(i.it.Item().key), prefix) {
			return true
		}
	}
	return false
}

func (i *iterator) Valid() bool { return i.valid }

func (i *iterator) Key() []byte { return i.it.Item().key }

func (i *iterator) Value() ([]byte, error) { return i.it.Item().value, nil }

func (i *iterator) Err() error { return i.err }

func (i *iterator) Close() error {
	i.valid = false
	i.it.Release()
	return nil
}
