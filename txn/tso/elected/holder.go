package elected

import (
	"crypto/rand"
	"fmt"

	"github.com/minidb/minidb/kv"
)

// holder is a process that holds the office, as the store has it behind the mark:
//
//	format 1; token (16 bytes); address
type holder struct {
	token   [tokenLen]byte
	address string
}

const (
	tokenLen          = 16
	holderFormat byte = 1
	longestName       = 255
)

// newHolder returns a holder at an address, with a token of its own.
func newHolder(address string) (h holder, err error) {
	if len(address) > longestName {
		return h, fmt.Errorf("oracle: an address of %d bytes; at most %d", len(address),
			longestName)
	}
	h.address = address
	_, err = rand.Read(h.token[:])
	return h, err
}

func (h holder) encode() []byte {
	return append(append([]byte{holderFormat}, h.token[:]...), h.address...)
}

func decodeHolder(b []byte) (h holder, err error) {
	if len(b) < 1+tokenLen || b[0] != holderFormat || len(b) > 1+tokenLen+longestName {
		return h, fmt.Errorf("oracle: bad holder %x: %w", b, kv.ErrCorruption)
	}
	copy(h.token[:], b[1:])
	h.address = string(b[1+tokenLen:])
	return h, nil
}
