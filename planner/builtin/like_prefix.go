package builtin

import (
	"strings"
	"unicode/utf8"
)

// LikePrefix returns the literal prefix of a pattern; whole is set if nothing follows it.
func LikePrefix(pattern string) (prefix string, whole bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch ch := pattern[i]; ch {
		case '%', '_':
			return b.String(), false
		case '\\':
			if i++; i == len(pattern) {
				return b.String(), false
			}
			b.WriteByte(pattern[i])
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), true
}

// AfterPrefix returns the smallest text that is greater than all texts with a prefix, "" if there
// is none.
func AfterPrefix(prefix string) string {
	for prefix != "" {
		r, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		if r == utf8.RuneError && size <= 1 {
			return ""
		}
		if r++; r == 0xD800 {
			r = 0xE000
		}
		if r <= utf8.MaxRune {
			return prefix + string(r)
		}
	}
	return ""
}
