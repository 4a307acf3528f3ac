package pgwire

import (
	"bytes"
	"encoding/binary"
)

// walker steps over a message's body; bad is sticky.
type walker struct {
	b   []byte
	bad bool
}

func (w *walker) skip(n int) { w.take(n) }

// take returns the next n bytes; none once the body was too short.
func (w *walker) take(n int) (taken []byte) {
	if w.bad || n < 0 || n > len(w.b) {
		w.bad = true
		return nil
	}
	taken, w.b = w.b[:n], w.b[n:]
	return taken
}

func (w *walker) cstring() { w.name() }

// name steps over a string that ends with a zero byte, and returns it without that.
func (w *walker) name() []byte {
	i := bytes.IndexByte(w.b, 0)
	if i < 0 || w.bad {
		w.bad = true
		return nil
	}
	return w.take(i + 1)[:i]
}

func (w *walker) int16() int {
	if b := w.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (w *walker) int32() int32 {
	if b := w.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// value steps over a length and as many bytes; -1 is NULL and has none.
func (w *walker) value() {
	switch n := w.int32(); {
	case n == -1:
	case n < 0:
		w.bad = true
	default:
		w.skip(int(n))
	}
}

func (w *walker) done() bool { return !w.bad && len(w.b) == 0 }

// validate checks that a body has exactly the structure of its type's message.
func validate(typ byte, body []byte) error {
	w := walker{b: body}
	switch typ {
	case 'Q', 'f':
		w.cstring()
	case 'P':
		w.cstring()
		w.cstring()
		w.skip(4 * w.int16())
	case 'B':
		w.cstring()
		w.cstring()
		w.skip(2 * w.int16())
		for n := w.int16(); n > 0 && !w.bad; n-- {
			w.value()
		}
		w.skip(2 * w.int16())
	case 'D', 'C':
		if len(body) == 0 || body[0] != 'S' && body[0] != 'P' {
			w.bad = true
		}
		w.skip(1)
		w.cstring()
	case 'E':
		w.cstring()
		w.int32()
	case 'F':
		w.int32()
		w.skip(2 * w.int16())
		for n := w.int16(); n > 0 && !w.bad; n-- {
			w.value()
		}
		w.int16()
	case 'd', 'p': // free form, or not expected
		w.b = nil
	}
	if !w.done() {
		return protocolError("invalid message format")
	}
	return nil
}
