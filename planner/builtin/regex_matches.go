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

// pattern is a compiled regular expression. Its matches are PostgreSQL's: an empty match right
// behind another match counts, which package regexp leaves out.
type pattern struct {
	*regexp.Regexp
	text string
	// behind matches one character and then the expression: it looks for a match at a place in a
	// text with what stands before it in sight.
	behind func() *regexp.Regexp
	empty  bool // the expression may match an empty text
	// local expressions see nothing in front of a match: one may be looked for in the rest of a
	// text.
	local bool
	// next finds where the next match begins behind a first character, which is in sight. It is for
	// expressions that are not local.
	next func() *regexp.Regexp
	// weight is the work of matching one character, in bytes: it grows with the expression.
	weight int
}

// newPattern compiles text; longest asks for POSIX's longest match.
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
	p := &pattern{Regexp: re, text: text, weight: 1}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, nil
	}
	if prog, err := syntax.Compile(tree.Simplify()); err == nil {
		p.weight += len(prog.Inst) / stepsPerWeight
	}
	p.local = !looksAround(tree)
	// An expression that becomes larger than regexp allows by the few characters added stays nil.
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

// stepsPerWeight is how many instructions of an expression take as long as a byte of other work:
// most of them wait for another place in the text.
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
	return true // * and ?, and what looks at a place only
}

// each calls f for the first n matches in s, or all with n < 0, as pairs of offsets by group, until
// f returns an error. It looks at the statement's context between matches, and in the middle of
// large ones.
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
	var last []int // given, with a character in it: an empty match may be behind it
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

// eachPlain calls f for the first n matches of package regexp, or all with n < 0.
func (p *pattern) eachPlain(rt *expr.Runtime, s string, n int, f func(m []int) error) error {
	if !p.local && n != 1 && p.fits(len(s)) {
		return p.eachGathered(rt, s, n, f)
	}
	behind := -1 // where the match before ended
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

// eachGathered is eachPlain for an expression that looks at what is in front of a match: package
// regexp starts inside a text only when it gathers all matches. Their memory is asked for.
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

// looksAround reports whether an expression asks what is next to a place: \b, ^ and their like.
func looksAround(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, looksAround)
}

// giveEmpty gives the match of the expression at offset at, which is behind a character, if it is
// empty.
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
