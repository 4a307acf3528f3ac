package txn

import (
	"encoding/binary"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// validation is one validated span of a commit; row is set when it is a point.
type validation struct {
	span  kv.Span
	row   []byte
	since tso.Timestamp // at which it was read
	read  bool          // by a serializable transaction
}

// spanID returns a string that no other span has.
func spanID(s kv.Span) string {
	b := binary.AppendUvarint(make([]byte, 0, len(s.Start)+len(s.End)+4), uint64(len(s.Start)))
	b = append(append(b, s.Start...), s.End...)
	if s.End == nil {
		b = append(b, 0) // an empty end is an empty span, none is no bound
		return "-" + string(b)
	}
	return string(b)
}
