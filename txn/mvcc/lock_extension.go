package mvcc

import "encoding/binary"

// Flags of the extension.
const (
	lockAsync     byte = 1 << 0
	lockStatement byte = 1 << 1 // client and statement follow the owner
	lockVersions  byte = 1 << 2 // then seq and older writes
	lockDeciding  byte = 1 << 3
	lockNotified  byte = 1 << 4
)

// StatementMax bounds the text of a statement in a lock, in bytes.
const StatementMax = 128

// extended reports whether the lock has more than fits into the first format.
func (l *Lock) extended() bool {
	return l.Async || l.Owner != 0 || l.named() || l.versioned() || l.Deciding ||
		l.Notified || len(l.Secondaries) > 0
}

// versioned reports whether the lock has more than its last write.
func (l *Lock) versioned() bool { return l.Seq != 0 || len(l.Older) > 0 }

// named reports whether the lock names the client or the statement it was written for.
func (l *Lock) named() bool { return l.Client != 0 || l.Statement != "" }

// appendExtension appends: flags, uvarint owner, if flagged uvarint client and statement, if
// flagged uvarint seq, uvarint number of older writes, and of each uvarint seq, kind and value;
// uvarint number of secondaries, and each; texts, values and keys with their length as uvarint
// before them.
func (l *Lock) appendExtension(dst []byte) []byte {
	var flags byte
	if l.Async {
		flags |= lockAsync
	}
	if l.named() {
		flags |= lockStatement
	}
	if l.versioned() {
		flags |= lockVersions
	}
	if l.Deciding {
		flags |= lockDeciding
	}
	if l.Notified {
		flags |= lockNotified
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, l.Owner)
	if l.named() {
		dst = binary.AppendUvarint(dst, l.Client)
		dst = binary.AppendUvarint(dst, uint64(len(l.Statement)))
		dst = append(dst, l.Statement...)
	}
	if l.versioned() {
		dst = l.appendVersions(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(l.Secondaries)))
	for _, k := range l.Secondaries {
		dst = binary.AppendUvarint(dst, uint64(len(k)))
		dst = append(dst, k...)
	}
	return dst
}

func (l *Lock) appendVersions(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, l.Seq)
	dst = binary.AppendUvarint(dst, uint64(len(l.Older)))
	for i := range l.Older {
		v := &l.Older[i]
		dst = binary.AppendUvarint(dst, v.Seq)
		dst = append(dst, byte(v.Kind))
		dst = binary.AppendUvarint(dst, uint64(len(v.Value)))
		dst = append(dst, v.Value...)
	}
	return dst
}

// fields reads an extension.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) number() uint64 {
	v, n := binary.Uvarint(f.rest)
	if n <= 0 {
		f.bad, f.rest = true, nil
		return 0
	}
	f.rest = f.rest[n:]
	return v
}

// count reads the number of things of which each takes a byte at least.
func (f *fields) count() uint64 {
	n := f.number()
	if n > uint64(len(f.rest)) {
		f.bad = true
		return 0
	}
	return n
}

func (f *fields) text() []byte {
	n := f.count()
	out := f.rest[:n:n]
	f.rest = f.rest[n:]
	return out
}

func (f *fields) letter() byte {
	if len(f.rest) == 0 {
		f.bad = true
		return 0
	}
	c := f.rest[0]
	f.rest = f.rest[1:]
	return c
}

// decodeExtension reads what appendExtension wrote and returns what follows.
func (l *Lock) decodeExtension(rest []byte) (after []byte, ok bool) {
	f := &fields{rest: rest}
	flags := f.letter()
	if flags&^(lockAsync|lockStatement|lockVersions|lockDeciding|lockNotified) != 0 {
		return nil, false
	}
	l.Async, l.Deciding, l.Owner = flags&lockAsync != 0, flags&lockDeciding != 0, f.number()
	l.Notified = flags&lockNotified != 0
	if flags&lockStatement != 0 {
		l.Client = f.number()
		l.Statement = string(f.text())
	}
	if flags&lockVersions != 0 {
		l.decodeVersions(f)
	}
	for range f.count() {
		l.Secondaries = append(l.Secondaries, f.text())
	}
	return f.rest, !f.bad && len(f.rest) > 0
}

func (l *Lock) decodeVersions(f *fields) {
	l.Seq = f.number()
	for range f.count() {
		v := OlderWrite{Seq: f.number(), Kind: Kind(f.letter()), Value: f.text()}
		if v.Kind != KindPut && v.Kind != KindDelete && v.Kind != KindLock {
			f.bad = true
		}
		l.Older = append(l.Older, v)
	}
}
