package builtin

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/minidb/minidb/planner/expr"
)

// pattern is a compiled regular expression. It has PostgreSQL's matches: an empty match directly
// after another match counts, which package regexp omits.
type pattern struct {
	*regexp.Regexp
	// behind matches one character and then the expression. It finds a match at an offset in a
	// text, where the expression looks at the text before it.
	behind func() *regexp.Regexp
	empty  bool // the expression may match an empty text
	// local is set for an expression that does not look at the text before a match: the rest of a
	// text can be searched by itself.
	local bool
	// next finds the start of the next match after a first character, at which the expression may
	// look. It is for expressions that are not local.
	next func() *regexp.Regexp
	// weight is the work of matching one character, in bytes. It grows with the expression.
	weight int
}

// newPattern compiles text; longest selects the longest match, as in POSIX.
func newPattern(text string, longest bool) (*pattern, error) {
	compile := func(text string) (*regexp.Regexp, error) {
		re, err := regexp.Compile(text)
		if err == nil && longest {
			re.Longest()
		}
		return re, err
	}
	re, err := compile(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{Regexp: re, weight: 1}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, nil
	}
	if prog, err := syntax.Compile(tree.Simplify()); err == nil {
		p.weight += len(prog.Inst) / stepsPerWeight
	}
	p.local = !looksAround(tree)
	// The additional characters may make an expression too large for regexp. It stays nil then.
	p.behind = sync.OnceValue(func() *regexp.Regexp {
		re, _ := compile(`\A(?s:.)(?:` + text + `)`)
		return re
	})
	p.next = sync.OnceValue(func() *regexp.Regexp {
		re, _ := regexp.Compile(`\A(?s:.)(?s:.*?)(` + text + `)`)
		return re
	})
	p.empty = matchesEmpty(tree)
	return p, nil
}

// stepsPerWeight is the number of instructions of an expression that take as long as a byte of
// other work: most of them do nothing at most places of the text.
const stepsPerWeight = 32

// matchesEmpty reports whether an expression may match an empty text.
func matchesEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) == 0
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return matchesEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || matchesEmpty(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !matchesEmpty(sub) {
				return false
			}
		}
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, matchesEmpty)
	}
	return true // * and ?, and what only looks at its surroundings
}

// each calls f for the first n matches in s, or for all if n < 0, with pairs of offsets by group,
// until f returns an error. It checks the statement's context between matches, and within large
// ones.
func (p *pattern) each(rt *expr.Runtime, s string, n int, f func(m []int) error) error {
	give := func(m []int) error {
		if n == 0 {
			return errEnoughMatches
		}
		n--
		if err := f(m); err != nil {
			return err
		}
		return rt.Tick(m[1] - m[0] + matchCost)
	}
	var last []int // the last match that has a character: an empty match may follow it
	err := p.eachPlain(rt, s, n, func(m []int) error {
		if last != nil && m[0] != last[1] {
			if err := p.giveEmpty(rt, s, last[1], give); err != nil {
				return err
			}
		}
		last = nil
		if err := give(m); err != nil {
			return err
		}
		if p.empty && m[0] != m[1] {
			last = m
		}
		return nil
	})
	if err == nil && last != nil {
		err = p.giveEmpty(rt, s, last[1], give)
	}
	if err == errEnoughMatches {
		return nil
	}
	return err
}

// matchCost is the work of finding a match, in bytes.
const matchCost = 128

var errEnoughMatches = errors.New("builtin: enough matches")

// eachPlain calls f for the first n matches of package regexp, or for all if n < 0.
func (p *pattern) eachPlain(rt *expr.Runtime, s string, n int, f func(m []int) error) error {
	if !p.local && n != 1 && p.fits(len(s)) {
		return p.eachGathered(rt, s, n, f)
	}
	behind := -1 // the end of the previous match
	for at := 0; at <= len(s) && n != 0; {
		m, err := p.findFrom(rt, s, at)
		if m == nil || err != nil {
			return err
		}
		accept := true
		if m[1] == at { // an empty match
			accept = m[0] != behind
			_, width := utf8.DecodeRuneInString(s[at:])
			at += max(1, width)
		} else {
			at = m[1]
		}
		behind = m[1]
		if !accept {
			continue
		}
		n--
		if err := f(m); err != nil {
			return err
		}
	}
	return nil
}

// eachGathered is eachPlain for an expression that looks at the text before a match: package regexp
// starts within a text only when it collects all matches. The account is asked for their memory.
func (p *pattern) eachGathered(rt *expr.Runtime, s string, n int, f func(m []int) error) error {
	size := int64(24 + 16*(p.NumSubexp()+1))
	most := 1
	for {
		if n >= 0 {
			most = min(most, n)
		}
		found := p.FindAllStringSubmatchIndex(s, most)
		if err := rt.Tick(p.weight * len(s)); err != nil {
			return err
		}
		if len(found) < most || most == n {
			for _, m := range found {
				if err := f(m); err != nil {
					return err
				}
			}
			return nil
		}
		if err := rt.Grow(size * int64(most)); err != nil {
			return err
		}
		most *= 8
	}
}

// shiftMatch adds at to the offsets of a match.
func shiftMatch(m []int, at int) {
	for i := range m {
		if m[i] >= 0 {
			m[i] += at
		}
	}
}

// looksAround reports whether an expression looks at the text next to a place: \b, ^ and the like.
func looksAround(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, looksAround)
}

// giveEmpty calls give with the match of the expression at offset at, which is after a character,
// if that match is empty.
func (p *pattern) giveEmpty(rt *expr.Runtime, s string, at int, give func(m []int) error) error {
	if p.behind() == nil {
		return nil
	}
	m, err := p.matchAt(rt, s, at)
	if err != nil || m == nil || m[1] != at {
		return err
	}
	return give(m)
}
