package mvcc

import "unicode/utf8"

// CutStatement returns the longest beginning of text that is valid UTF-8 and short enough.
func CutStatement(text string) string {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if r == utf8.RuneError && size <= 1 || n+size > StatementMax {
			break
		}
		n += size
	}
	return text[:n]
}
