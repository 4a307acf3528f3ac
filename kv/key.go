package kv

import "bytes"

// PrefixLen returns the length of key's prefix: family, row and terminator, or the whole key when
// it has no terminator.
func PrefixLen(key []byte) int {
	if len(key) <= 1 {
		return len(key)
	}
	// Qualifiers are short and rows may be long, but a row is where the bytes are: look for the
	// zero byte with the vectorised search, then check its successor.
	for from := 1; ; {
		i := bytes.IndexByte(key[from:], 0x00)
		if i < 0 || from+i+1 >= len(key) {
			return len(key)
		}
		if key[from+i+1] == 0x01 {
			return from + i + 2
		}
		from += i + 1
	}
}

// Prefix returns family and row of key, including the row's terminator.
func Prefix(key []byte) []byte { return key[:PrefixLen(key)] }

// Row returns the row of key, including its terminator and without the family: what an Update
// names.
func Row(key []byte) []byte {
	if len(key) == 0 {
		return key
	}
	return key[1:PrefixLen(key)]
}

// PrefixEnd returns the smallest key above every key that starts with prefix; nil when there is
// none.
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := bytes.Clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}

// BehindPrefix returns the smallest key above all that have the prefix of key.
func BehindPrefix(key []byte) []byte {
	n := PrefixLen(key)
	if n >= 3 && key[n-2] == 0x00 && key[n-1] == 0x01 {
		return PrefixEnd(key[:n])
	}
	return Successor(key) // it is the whole of its prefix
}

// Successor returns the smallest key above key.
func Successor(key []byte) []byte { return append(bytes.Clone(key), 0x00) }

// Span is the interval [Start, End) of keys. A nil End means up to the end of the keyspace.
type Span struct {
	Start, End []byte
}

// Contains reports whether key lies in the span.
func (s Span) Contains(key []byte) bool {
	return bytes.Compare(key, s.Start) >= 0 && (s.End == nil || bytes.Compare(key, s.End) < 0)
}

// Empty reports whether no key can lie in the span.
func (s Span) Empty() bool {
	return s.End != nil && bytes.Compare(s.Start, s.End) >= 0
}

// IsPoint reports whether the span holds one key, its start, and no other.
func (s Span) IsPoint() bool {
	n := len(s.Start)
	return len(s.End) == n+1 && s.End[n] == 0 && bytes.Equal(s.End[:n], s.Start)
}

// Overlaps reports whether a key can lie in both spans.
func (s Span) Overlaps(o Span) bool {
	return !s.Empty() && !o.Empty() && (o.End == nil || bytes.Compare(s.Start, o.End) < 0) &&
		(s.End == nil || bytes.Compare(o.Start, s.End) < 0)
}
