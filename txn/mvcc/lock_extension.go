package mvcc

import "encoding/binary"

const lockAsync byte = 1 << 0

// extended reports whether the lock says more than the first format can.
func (l *Lock) extended() bool {
	return l.Async || l.Owner != 0 || len(l.Secondaries) > 0
}

// appendExtension appends: flags, uvarint owner, uvarint number of secondaries, and each;
// keys with their length as uvarint before them.
func (l *Lock) appendExtension(dst []byte) []byte {
	var flags byte
	if l.Async {
		flags |= lockAsync
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, l.Owner)
	dst = binary.AppendUvarint(dst, uint64(len(l.Secondaries)))
	for _, k := range l.Secondaries {
		dst = binary.AppendUvarint(dst, uint64(len(k)))
		dst = append(dst, k...)
	}
	return dst
}

// decodeExtension reads what appendExtension wrote and returns what follows.
func (l *Lock) decodeExtension(rest []byte) (after []byte, ok bool) {
	number := func() (uint64, bool) {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return 0, false
		}
		rest = rest[n:]
		return v, true
	}
	text := func() ([]byte, bool) {
		n, ok := number()
		if !ok || n > uint64(len(rest)) {
			return nil, false
		}
		out := rest[:n:n]
		rest = rest[n:]
		return out, true
	}
	if len(rest) == 0 || rest[0]&^lockAsync != 0 {
		return nil, false
	}
	l.Async, rest = rest[0]&lockAsync != 0, rest[1:]
	if l.Owner, ok = number(); !ok {
		return nil, false
	}
	n, ok := number()
	if !ok || n > uint64(len(rest)) { // each takes a byte at least
		return nil, false
	}
	for range n {
		k, ok := text()
		if !ok {
			return nil, false
		}
		l.Secondaries = append(l.Secondaries, k)
	}
	return rest, len(rest) > 0
}
