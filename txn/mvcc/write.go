package mvcc

import (
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// ShortValueMax is the size up to which a value travels in the lock and the write record, so that
// reading it takes one seek (txn: I7).
const ShortValueMax = 255

// Write is the write column of a key: at its commit_ts (in the key) a transaction became visible.
type Write struct {
	Kind Kind
	// StartTS is where the data lies when it is not inlined.
	StartTS tso.Timestamp
	// Protected marks a rollback that decided a transaction: it is kept when others are collapsed.
	Protected bool
	// Short is the value when it is inlined; HasShort distinguishes an empty value from none.
	Short    []byte
	HasShort bool
}

const (
	flagShort     byte = 1 << 0
	flagProtected byte = 1 << 1
	writeHeader        = 2 + 8
)

// appendTo appends the encoding: kind, flags, start_ts (8 bytes), inlined value.
func (w *Write) appendTo(dst []byte) []byte {
	var flags byte
	if w.HasShort {
		flags |= flagShort
	}
	if w.Protected {
		flags |= flagProtected
	}
	dst = append(dst, byte(w.Kind), flags)
	dst = binary.BigEndian.AppendUint64(dst, uint64(w.StartTS))
	return append(dst, w.Short...)
}

// decodeWrite decodes; Short aliases value.
func decodeWrite(value []byte) (Write, error) {
	if len(value) < writeHeader {
		return Write{}, badWrite(value)
	}
	w := Write{
		Kind:      Kind(value[0]),
		StartTS:   tso.Timestamp(binary.BigEndian.Uint64(value[2:])),
		HasShort:  value[1]&flagShort != 0,
		Protected: value[1]&flagProtected != 0,
	}
	switch w.Kind {
	case KindPut, KindDelete, KindLock, KindRollback:
	default:
		return Write{}, badWrite(value)
	}
	if value[1]&^(flagShort|flagProtected) != 0 || !w.HasShort && len(value) > writeHeader {
		return Write{}, badWrite(value)
	}
	if w.HasShort {
		w.Short = value[writeHeader:]
	}
	return w, nil
}

func badWrite(value []byte) error {
	return fmt.Errorf("mvcc: bad write record %x: %w", value, kv.ErrCorruption)
}
