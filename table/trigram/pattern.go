package trigram

import (
	"strings"
	"unicode/utf8"
)

// OfPattern returns the trigrams, sorted, each once, that every text has that a pattern of LIKE
// matches, or with ILIKE. There are none where the pattern has no three characters in a row that
// are certain. As in LIKE, a backslash makes the character behind it an ordinary one.
func OfPattern(pattern string) []Trigram {
	var out []Trigram
	p := patternReader{rest: pattern}
	for p.next() {
		word := strings.ToLower(p.word.String())
		if !p.openLeft {
			word = "  " + word
		}
		if !p.openRight {
			word += " "
		}
		out = appendPadded(out, word)
	}
	return unique(out)
}

// patternReader reads the words of a pattern. A word that follows or precedes a wildcard at once is
// open there: the text's word may be longer.
type patternReader struct {
	rest                string
	word                strings.Builder
	openLeft, openRight bool
	afterWildcard       bool
}

// character takes the next character off the pattern.
func (p *patternReader) character() (r rune, wildcard, ok bool) {
	if p.rest == "" {
		return 0, false, false
	}
	r, n := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[n:]
	switch r {
	case '%', '_':
		return r, true, true
	case '\\':
		if p.rest == "" {
			return 0, false, false
		}
		r, n = utf8.DecodeRuneInString(p.rest)
		p.rest = p.rest[n:]
	}
	return r, false, true
}

// next reads a word, and reports whether there is one.
func (p *patternReader) next() bool {
	p.word.Reset()
	p.openRight = false
	for {
		r, wildcard, ok := p.character()
		inWord := ok && !wildcard && isWord(r)
		switch {
		case inWord && p.word.Len() == 0:
			p.openLeft = p.afterWildcard
			p.word.WriteRune(r)
		case inWord:
			p.word.WriteRune(r)
		case p.word.Len() > 0:
			p.openRight, p.afterWildcard = wildcard, wildcard
			return true
		case !ok:
			return false
		}
		if !inWord {
			p.afterWildcard = wildcard
		}
	}
}
