package session

import (
	"encoding/binary"

	"github.com/minidb/minidb/txn/tso"
)

// Wait is an edge of the wait-for graph of all who share a store: a transaction that waits for another
// one to give a lock back.
type Wait struct {
	Waiter, Blocker tso.Timestamp // by start_ts
	// ID is the wait's own among those of the session: the same transaction may wait again. Looks grows
	// with every look that found the blocker still in the way.
	ID, Looks uint64
	// Searches says that the waiter looks for circles, and gives in if it is the youngest of one.
	Searches bool
	// Key, Mode, Client and Statement describe the wait for those who read of a deadlock; Mode is of package
	// rowlock.
	Key       []byte
	Mode      uint8
	Client    uint64
	Statement string
}

// appendWaits appends the encoding of each:
//
//	waiter (8 bytes), blocker (8 bytes), uvarint id, uvarint looks, 0 or 1 for searches, mode (1 byte),
//	uvarint client, uvarint length of key, key, uvarint length of statement, statement
func appendWaits(dst []byte, waits []Wait) []byte {
	for i := range waits {
		w := &waits[i]
		dst = binary.BigEndian.AppendUint64(dst, uint64(w.Waiter))
		dst = binary.BigEndian.AppendUint64(dst, uint64(w.Blocker))
		dst = binary.AppendUvarint(dst, w.ID)
		dst = binary.AppendUvarint(dst, w.Looks)
		searches := byte(0)
		if w.Searches {
			searches = 1
		}
		dst = append(dst, searches, w.Mode)
		dst = binary.AppendUvarint(dst, w.Client)
		dst = binary.AppendUvarint(dst, uint64(len(w.Key)))
		dst = append(dst, w.Key...)
		dst = binary.AppendUvarint(dst, uint64(len(w.Statement)))
		dst = append(dst, w.Statement...)
	}
	return dst
}

// waitReader takes an encoding apart; bad says that it came to no good end.
type waitReader struct {
	rest []byte
	bad  bool
}

func (r *waitReader) bytes(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return make([]byte, min(n, 8)) // of a number, at most, which nobody will believe
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

func (r *waitReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *waitReader) timestamp() tso.Timestamp {
	return tso.Timestamp(binary.BigEndian.Uint64(r.bytes(8)))
}

// decodeWaits decodes what appendWaits made. The result shares nothing with it.
func decodeWaits(value []byte) (out []Wait, ok bool) {
	r := waitReader{rest: value}
	for len(r.rest) > 0 && !r.bad {
		w := Wait{Waiter: r.timestamp(), Blocker: r.timestamp(), ID: r.uvarint(), Looks: r.uvarint()}
		flags := r.bytes(2)
		w.Searches, w.Mode = flags[0] == 1, flags[1]
		w.Client = r.uvarint()
		w.Key = append([]byte{}, r.bytes(r.uvarint())...)
		w.Statement = string(r.bytes(r.uvarint()))
		out = append(out, w)
	}
	return out, !r.bad
}
