// Package unaccent removes accents from texts by the rules of PostgreSQL's extension unaccent.
//
// The rules are PostgreSQL's file unaccent.rules: a character in each line, and what replaces it;
// nothing does where the line has no more. LICENSE has the terms of that file.
package unaccent

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed unaccent.rules
var file string

// rules map characters to their replacements.
var rules = sync.OnceValue(func() map[rune]string {
	out := make(map[rune]string, 2048)
	for line := range strings.Lines(file) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		r, _ := utf8.DecodeRuneInString(words[0])
		out[r] = strings.Join(words[1:], "")
	}
	return out
})

// Remove returns the text without accents. step is called with the number of bytes read since the
// last call; its error ends the work.
func Remove(text string, step func(bytes int) error) (string, error) {
	const piece = 64 << 10
	all, b := rules(), strings.Builder{}
	b.Grow(len(text))
	done := 0
	for i, r := range text {
		if i-done >= piece {
			if err := step(i - done); err != nil {
				return "", err
			}
			done = i
		}
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
			continue
		}
		if to, ok := all[r]; ok {
			b.WriteString(to)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), step(len(text) - done)
}
