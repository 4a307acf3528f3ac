package xml

import (
	"unicode/utf8"
)

// isBlank reports whether c is a blank of XML.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isChar reports whether a document may have the character.
func isChar(r rune) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r < 0xd800:
		return true
	}
	return r >= 0xe000 && r != 0xfffe && r != 0xffff && r <= utf8.MaxRune
}

// nameStarts are the ranges of characters with which a name may begin, and above them those that it
// may have besides.
var nameStarts = [...][2]rune{
	{0xc0, 0xd6}, {0xd8, 0xf6}, {0xf8, 0x2ff}, {0x370, 0x37d}, {0x37f, 0x1fff}, {0x200c, 0x200d},
	{0x2070, 0x218f}, {0x2c00, 0x2fef}, {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffd},
	{0x10000, 0xeffff},
}

var nameParts = [...][2]rune{{0xb7, 0xb7}, {0x300, 0x36f}, {0x203f, 0x2040}}

func isNameStart(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == ':'
	}
	return within(nameStarts[:], r)
}

func isNameChar(r rune) bool {
	return isNameStart(r) || r >= '0' && r <= '9' || r == '-' || r == '.' ||
		r >= utf8.RuneSelf && within(nameParts[:], r)
}

func within(ranges [][2]rune, r rune) bool {
	for _, of := range ranges {
		if r >= of[0] && r <= of[1] {
			return true
		}
	}
	return false
}
