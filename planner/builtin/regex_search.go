package builtin

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/are"
	"github.com/minidb/minidb/planner/expr"
)

// searchWork is the largest work of a search in a text that package regexp does in one call. It
// then searches the text itself, which is faster. Otherwise it reads the text character by
// character from a reader that checks the statement's context.
const searchWork = 1 << 20

// fits reports whether a search in n bytes is done in one call.
func (p *pattern) fits(n int) bool { return p.weight*n <= searchWork }

// matches reports whether the expression matches anywhere in s.
func (p *pattern) matches(rt *expr.Runtime, s string) (bool, error) {
	if p.fits(len(s)) {
		return p.MatchString(s), rt.Tick(p.weight * len(s))
	}
	m, err := p.find(rt, s)
	return m != nil, err
}

// find returns the first match in s, nil if there is none.
func (p *pattern) find(rt *expr.Runtime, s string) ([]int, error) { return p.findFrom(rt, s, 0) }

// findFrom returns the first match that begins at offset at or later. An expression may look at the
// text before at.
func (p *pattern) findFrom(rt *expr.Runtime, s string, at int) ([]int, error) {
	if at > 0 && !p.local {
		return p.findBehind(rt, s, at)
	}
	skipped, err := p.skip(rt, s[at:])
	if err != nil || skipped < 0 {
		return nil, err
	}
	at += skipped
	m, err := p.search(rt, p.Regexp, s[at:])
	shiftMatch(m, at)
	return m, err
}

// findBehind is findFrom for an expression that looks at the text before a match: it is given the
// last character before at. One search finds where the match begins, and a second how long it is:
// the first search does not show which of several matches at a place the expression prefers.
func (p *pattern) findBehind(rt *expr.Runtime, s string, at int) ([]int, error) {
	next := p.next()
	if next == nil {
		return nil, errRegexTooLarge()
	}
	start := at - lastWidth(s[:at])
	m, err := p.search(rt, next, s[start:])
	if m == nil || err != nil {
		return nil, err
	}
	return p.matchAt(rt, s, start+m[2])
}

// matchAt returns the match that begins at offset at, which is after a character; nil if there is
// none.
func (p *pattern) matchAt(rt *expr.Runtime, s string, at int) ([]int, error) {
	behind := p.behind()
	if behind == nil {
		return nil, errRegexTooLarge()
	}
	start := at - lastWidth(s[:at])
	m, err := p.search(rt, behind, s[start:])
	if m != nil {
		shiftMatch(m, start)
		m[0] = at
	}
	return m, err
}

func errRegexTooLarge() error {
	return are.Invalid("regular expression is too complex")
}

func lastWidth(s string) int {
	_, n := utf8.DecodeLastRuneInString(s)
	return n
}

// search returns the first match of re in s.
func (p *pattern) search(rt *expr.Runtime, re *regexp.Regexp, s string) ([]int, error) {
	if p.fits(len(s)) {
		m := re.FindStringSubmatchIndex(s)
		read := len(s)
		if m != nil {
			read = m[1]
		}
		return m, rt.Tick(p.weight * read)
	}
	r := &watchedText{rt: rt, rest: s, weight: p.weight}
	m := re.FindReaderSubmatchIndex(r)
	return m, r.err
}

// skip returns how many bytes of a large text can be skipped because no match begins in them:
// matches of some expressions begin with a fixed text, which is found much faster. It is negative
// if there is no match.
func (p *pattern) skip(rt *expr.Runtime, s string) (int, error) {
	if p.fits(len(s)) || !p.local {
		return 0, nil
	}
	prefix, _ := p.LiteralPrefix()
	if prefix == "" {
		return 0, nil
	}
	for at := 0; ; at += searchWork {
		piece := s[at:min(len(s), at+searchWork+len(prefix)-1)]
		if i := strings.Index(piece, prefix); i >= 0 {
			return at + i, nil
		}
		if err := rt.Tick(len(piece)); err != nil {
			return 0, err
		}
		if at+len(piece) == len(s) {
			return -1, nil
		}
	}
}

// watchedText is a text that package regexp reads by characters. When the statement's context has
// ended, so does the text, and err is set.
type watchedText struct {
	rt     *expr.Runtime
	rest   string
	weight int
	ahead  int // bytes that were counted and not read yet
	err    error
}

// watchedPiece is the number of bytes that are counted at once.
const watchedPiece = 4 << 10

// ReadRune implements io.RuneReader.
func (t *watchedText) ReadRune() (rune, int, error) {
	if t.ahead <= 0 && t.err == nil {
		t.err = t.rt.Tick(t.weight * watchedPiece)
		t.ahead = watchedPiece
	}
	if t.err != nil || t.rest == "" {
		return 0, 0, io.EOF
	}
	r, n := rune(t.rest[0]), 1
	if r >= utf8.RuneSelf {
		r, n = utf8.DecodeRuneInString(t.rest)
	}
	t.rest = t.rest[n:]
	t.ahead -= n
	return r, n, nil
}
