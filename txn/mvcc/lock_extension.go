package mvcc

import "encoding/binary"

// Flags of the extension.
const (
	lockAsync     byte = 1 << 0
	lockStatement byte = 1 << 1 // client and statement follow the owner
)

// StatementMax bounds the text of a statement in a lock, in bytes.
const StatementMax = 128

// extended reports whether the lock says more than the first format can.
func (l *Lock) extended() bool {
	return l.Async || l.Owner != 0 || l.tells() || len(l.Secondaries) > 0
}

// tells reports whether the lock says on whose behalf it was written.
func (l *Lock) tells() bool { return l.Client != 0 || l.Statement != "" }

// appendExtension appends: flags, uvarint owner, if flagged uvarint client and statement, uvarint
// number of secondaries, and each; texts and keys with their length as uvarint before them.
func (l *Lock) appendExtension(dst []byte) []byte {
	var flags byte
	if l.Async {
		flags |= lockAsync
	}
	if l.tells() {
		flags |= lockStatement
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, l.Owner)
	if l.tells() {
		dst = binary.AppendUvarint(dst, l.Client)
		dst = binary.AppendUvarint(dst, uint64(len(l.Statement)))
		dst = append(dst, l.Statement...)
	}
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
	if len(rest) == 0 || rest[0]&^(lockAsync|lockStatement) != 0 {
		return nil, false
	}
	flags := rest[0]
	l.Async, rest = flags&lockAsync != 0, rest[1:]
	if l.Owner, ok = number(); !ok {
		return nil, false
	}
	if flags&lockStatement != 0 {
		if l.Client, ok = number(); !ok {
			return nil, false
		}
		statement, ok := text()
		if !ok {
			return nil, false
		}
		l.Statement = string(statement)
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
