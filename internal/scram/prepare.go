package scram

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Prepare is SASLprep (RFC 4013), by which a password typed on one machine is that typed on
// another: compatibility characters have one form, and invisible ones are dropped. A password that
// the profile does not allow, or that is no UTF-8, is used as it is, as PostgreSQL and libpq do.
func Prepare(password string) string {
	if !utf8.ValidString(password) || isASCII(password) {
		return password
	}
	mapped := strings.Map(func(r rune) rune {
		switch {
		case r != ' ' && unicode.Is(unicode.Zs, r), r == 0x200B:
			return ' '
		case mappedToNothing(r):
			return -1
		}
		return r
	}, password)
	out := norm.NFKC.String(mapped)
	if out == "" || strings.ContainsFunc(out, prohibited) || !directed(out) {
		return password
	}
	return out
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mappedToNothing is table B.1 of RFC 3454.
func mappedToNothing(r rune) bool {
	switch {
	case r == 0xAD, r == 0x34F, r == 0x1806, r == 0x2060, r == 0xFEFF,
		0x180B <= r && r <= 0x180D, 0x200C <= r && r <= 0x200D, 0xFE00 <= r && r <= 0xFE0F:
		return true
	}
	return false
}

// prohibited are the tables C.1.2 to C.9 of RFC 3454.
func prohibited(r rune) bool {
	switch {
	case r == ' ':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Zs, r), unicode.Is(unicode.Co, r),
		unicode.Is(unicode.Cs, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
		return true
	case r == 0x6DD, r == 0x70F, r == 0x180E, 0x2028 <= r && r <= 0x202E,
		0x2060 <= r && r <= 0x2063, 0x206A <= r && r <= 0x206F, 0x2FF0 <= r && r <= 0x2FFB,
		r == 0x340, r == 0x341, r == 0x200E, r == 0x200F, 0xFFF9 <= r && r <= 0xFFFD,
		0x1D173 <= r && r <= 0x1D17A, r == 0xE0001, 0xE0020 <= r && r <= 0xE007F:
		return true
	}
	return false
}

// directed is the rule of RFC 3454 §6: a text with a letter that is written from right to left has
// none of the other direction, and begins and ends with one.
func directed(s string) bool {
	right := func(r rune) bool { c := classOf(r); return c == bidi.R || c == bidi.AL }
	if !strings.ContainsFunc(s, right) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	left := strings.ContainsFunc(s, func(r rune) bool { return classOf(r) == bidi.L })
	return !left && right(first) && right(last)
}

func classOf(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}
