// Package trigram finds the trigrams of texts and how similar texts are by them, as PostgreSQL's
// extension pg_trgm does.
//
// A text is a list of words: sequences of letters and digits, in lower case. A word has the three
// characters at each place of two spaces, the word and a space: "cat" has "  c", " ca", "cat",
// "at ". The trigrams of a text are the set of those of its words.
package trigram

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Trigram is three characters of one byte, or a hash of three characters with longer ones.
type Trigram [3]byte

// compare orders trigrams as PostgreSQL does: bytes from 128 on are negative.
func compare(a, b Trigram) int {
	for i := range a {
		if a[i] != b[i] {
			return int(int8(a[i])) - int(int8(b[i]))
		}
	}
	return 0
}

// String is the trigram as show_trgm shows it: as a number if not all of it are letters, digits
// and spaces of ASCII.
func (t Trigram) String() string {
	for _, c := range t {
		if c >= utf8.RuneSelf || c != ' ' && !isWordByte(c) {
			return fmt.Sprintf("0x%02x%02x%02x", t[0], t[1], t[2])
		}
	}
	return string(t[:])
}

func isWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isWord reports whether a character is part of a word.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r))
	}
	return unicode.IsLetter(r) || unicode.In(r, unicode.Nd, unicode.Nl, unicode.Other_Alphabetic)
}

// Of returns the trigrams of a text, sorted, each once. step is called with the bytes of each word.
func Of(text string, step func(bytes int) error) ([]Trigram, error) {
	var out []Trigram
	for limit := sortedAtOnce; text != ""; {
		var word string
		if word, text = nextWord(text); word == "" {
			break
		}
		if err := step(len(word)); err != nil {
			return nil, err
		}
		if out = appendWord(out, word); len(out) > limit {
			out = unique(out)
			limit = max(sortedAtOnce, 2*len(out))
		}
	}
	return unique(out), nil
}

// sortedAtOnce bounds how many trigrams of words are kept before repetitions are dropped.
const sortedAtOnce = 1 << 16

// appendWord appends the trigrams of a word.
func appendWord(out []Trigram, word string) []Trigram {
	return appendPadded(out, "  "+strings.ToLower(word)+" ")
}

func unique(all []Trigram) []Trigram {
	slices.SortFunc(all, compare)
	return slices.Compact(all)
}

// bound is whether a trigram is the first or the last of its word.
type bound uint8

const (
	first bound = 1 << iota
	last
)

// sequence returns the trigrams of a text in their order, and appends the bounds of each to bounds
// unless that is nil.
func sequence(text string, bounds *[]bound, step func(bytes int) error) (out []Trigram,
	err error) {
	for text != "" {
		var word string
		if word, text = nextWord(text); word == "" {
			break
		}
		if err := step(len(word)); err != nil {
			return nil, err
		}
		from := len(out)
		out = appendWord(out, word)
		if bounds != nil {
			*bounds = append(*bounds, make([]bound, len(out)-from)...)
			(*bounds)[from] |= first
			(*bounds)[len(out)-1] |= last
		}
	}
	return out, nil
}

// nextWord returns the first word of a text and what follows it.
func nextWord(text string) (word, rest string) {
	begin := strings.IndexFunc(text, isWord)
	if begin < 0 {
		return "", ""
	}
	text = text[begin:]
	end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// appendPadded appends the three characters at each place of a text.
func appendPadded(out []Trigram, s string) []Trigram {
	var at [3]int // where the last three characters begin
	n := 0
	for i := range s {
		if n >= 3 {
			out = append(out, makeTrigram(s[at[0]:i]))
		}
		at[0], at[1], at[2] = at[1], at[2], i
		n++
	}
	if n >= 3 {
		out = append(out, makeTrigram(s[at[0]:]))
	}
	return out
}

func makeTrigram(s string) (t Trigram) {
	if len(s) == len(t) {
		copy(t[:], s)
		return t
	}
	h := legacyCRC(s)
	return Trigram{byte(h), byte(h >> 8), byte(h >> 16)}
}

// legacyCRC is the hash of PostgreSQL's pg_crc.h that mixes the tables of one kind of CRC-32 with
// the loop of the other.
func legacyCRC(s string) uint32 {
	crc := ^uint32(0)
	for i := range len(s) {
		crc = crc32.IEEETable[byte(crc>>24)^s[i]] ^ crc<<8
	}
	return ^crc
}

// Similarity is the number of trigrams that two sets, sorted, have in common, as a part of those
// that either has.
func Similarity(a, b []Trigram) float32 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := compare(a[i], b[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			common++
			i++
			j++
		}
	}
	return ratio(common, len(a), len(b))
}

func ratio(common, a, b int) float32 { return float32(common) / float32(a+b-common) }
