package pages

import (
	"fmt"

	"github.com/minidb/minidb/kv"
)

// ValueError is returned for a key whose value is larger than what the target takes.
type ValueError struct {
	Key         []byte // the user key
	Bytes, Most int
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("the value of key %x has %d bytes, and the target takes %d at most: raise "+
		"that limit (of etcd: --max-request-bytes of its members, and max-request-bytes in the "+
		"URL), or make the value smaller", e.Key, e.Bytes, e.Most)
}

// Unwrap makes errors.Is(err, kv.ErrTooLarge) hold.
func (e *ValueError) Unwrap() error { return kv.ErrTooLarge }
