package observer

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// image is what a table-level change has left of a row: the observer is to run on it, and the row
// was like this before.
type image struct {
	place      uint32 // number of the change: old is encoded as in the place that it has left
	origin     tso.Timestamp
	generation uint32
	path       mvcc.Path // not stored
	hasOld     bool
	old        []byte
}

const (
	imageFormat byte = 1
	imageHasOld byte = 1 << 0
)

// encode returns: format, flags, place (4 bytes), uvarint origin and generation, the old value.
func (m *image) encode() []byte {
	flags := byte(0)
	if m.hasOld {
		flags |= imageHasOld
	}
	out := binary.BigEndian.AppendUint32([]byte{imageFormat, flags}, m.place)
	out = binary.AppendUvarint(out, uint64(m.origin))
	out = binary.AppendUvarint(out, uint64(m.generation))
	return append(out, m.old...)
}

func decodeImage(b []byte) (*image, error) {
	bad := fmt.Errorf("observer: bad image %x: %w", b, kv.ErrCorruption)
	if len(b) < 6 || b[0] != imageFormat || b[1]&^imageHasOld != 0 {
		return nil, bad
	}
	m := &image{place: binary.BigEndian.Uint32(b[2:]), hasOld: b[1]&imageHasOld != 0}
	b = b[6:]
	origin, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, bad
	}
	generation, k := binary.Uvarint(b[n:])
	if k <= 0 || generation > 1<<32-1 || !m.hasOld && len(b) > n+k {
		return nil, bad
	}
	m.origin, m.generation = tso.Timestamp(origin), uint32(generation)
	if m.hasOld {
		m.old = append([]byte{}, b[n+k:]...)
	}
	return m, nil
}

// image returns what a table-level change has left of a row, or nil.
func (o *Target) image(ctx context.Context, t *txn.Txn, key []byte) (*image, error) {
	value, err := t.Get(ctx, o.stateKey(stateImage, key))
	if err != nil || value == nil {
		return nil, err
	}
	return decodeImage(value)
}

// include counts a change as one of those that led to the run.
func (m *image) include(origin tso.Timestamp, generation uint32, path mvcc.Path) {
	if m.origin == 0 {
		m.origin, m.generation, m.path = origin, generation, path
		return
	}
	m.origin = min(m.origin, origin)
	if generation < m.generation {
		m.generation, m.path = generation, path
	}
}

// keep makes a value the old one; nil: there was none.
func (m *image) keep(old []byte) {
	m.hasOld, m.old = old != nil, bytes.Clone(old)
}
