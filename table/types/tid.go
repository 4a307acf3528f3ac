package types

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// A tid names a row of a table: six bytes, which are its text form, (block,offset), and behind them
// the row's key where the six bytes are no more than a hash of it. So two rows of a table always
// have different tids, and one that was read from text names each row with the same six bytes.

// tidLen is the length of the part of a tid that has a text form.
const tidLen = 6

// tidHashed is set in the number of a tid that is a hash.
const tidHashed = 1 << 47

// NumberedTID returns the tid of a row with a number as its key; false if the number is too large.
func NumberedTID(n int64) (Datum, bool) {
	if n < 0 || n >= tidHashed {
		return Datum{}, false
	}
	return tidOf(uint64(n), ""), true
}

// KeyedTID returns the tid of a row with any other key.
func KeyedTID(key []byte) Datum {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a: it is kept by clients
	h := uint64(offset)
	for _, b := range key {
		h = (h ^ uint64(b)) * prime
	}
	return tidOf((h^h>>47)&(tidHashed-1)|tidHashed, string(key))
}

func tidOf(n uint64, key string) Datum {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return Datum{S: string(b[8-tidLen:]) + key}
}

func appendTID(dst []byte, s string) []byte {
	block := binary.BigEndian.Uint32([]byte(s))
	offset := binary.BigEndian.Uint16([]byte(s[4:]))
	dst = strconv.AppendUint(append(dst, '('), uint64(block), 10)
	dst = strconv.AppendUint(append(dst, ','), uint64(offset), 10)
	return append(dst, ')')
}

// parseTID reads (block,offset). A negative block is taken as its 32 bits.
func parseTID(s string) (string, error) {
	bad := errSyntaxFor(TTid, s)
	inner, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\n\r\v\f"), "(")
	inner, _, closed := strings.Cut(inner, ")")
	first, second, two := strings.Cut(inner, ",")
	if !ok || !closed || !two {
		return "", bad
	}
	block, err := strconv.ParseInt(strings.TrimLeft(first, " "), 10, 64)
	if err != nil || block < -1<<31 || block >= 1<<32 {
		return "", bad
	}
	offset, err := strconv.ParseUint(strings.TrimLeft(second, " "), 10, 16)
	if err != nil {
		return "", bad
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(block))
	return string(binary.BigEndian.AppendUint16(b, uint16(offset))), nil
}

// compareTIDs orders by the six bytes and then by the keys. A tid that was read from text has none
// and equals each with its bytes.
func compareTIDs(a, b string) int {
	if c := strings.Compare(a[:tidLen], b[:tidLen]); c != 0 || len(a) == tidLen ||
		len(b) == tidLen {
		return c
	}
	return strings.Compare(a[tidLen:], b[tidLen:])
}
