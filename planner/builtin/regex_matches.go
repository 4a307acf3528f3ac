package builtin

import (
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

// pattern is a compiled regular expression. Its matches are PostgreSQL's: an empty match right behind
// another match counts, which package regexp leaves out.
type pattern struct {
	*regexp.Regexp
	text string
	// behind matches one character and then the expression: it looks for a match at a place in a text with
	// what stands before it in sight. It is nil for an expression that matches no empty text.
	behind func() *regexp.Regexp
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
	p := &pattern{Regexp: re, text: text}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil && matchesEmpty(tree) {
		p.behind = sync.OnceValue(func() *regexp.Regexp {
			re, err := compile(`\A(?s:.)(?:` + text + `)`)
			if err != nil { // larger than regexp allows, by the few characters added
				return nil
			}
			return re
		})
	}
	return p, nil
}

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
		for _, sub := range re.Sub {
			if matchesEmpty(sub) {
				return true
			}
		}
		return false
	}
	return true // * and ?, and what looks at a place only
}

// matches returns the first n matches in s, or all with n < 0, as pairs of offsets by group.
func (p *pattern) matches(s string, n int) [][]int {
	found := p.FindAllStringSubmatchIndex(s, n)
	if p.behind == nil {
		return found
	}
	var out [][]int
	for k, m := range found {
		out = append(out, m)
		if m[0] == m[1] || k+1 < len(found) && found[k+1][0] == m[1] {
			continue
		}
		if empty := p.emptyAt(s, m[1]); empty != nil {
			out = append(out, empty)
		}
	}
	if n >= 0 && len(out) > n {
		out = out[:n]
	}
	return out
}

// emptyAt returns the match of the expression at offset at, which is behind a character, if it is empty.
func (p *pattern) emptyAt(s string, at int) []int {
	behind := p.behind()
	if behind == nil {
		return nil
	}
	_, size := utf8.DecodeLastRuneInString(s[:at])
	start := at - size
	m := behind.FindStringSubmatchIndex(s[start:])
	if m == nil || start+m[1] != at {
		return nil
	}
	for i := range m {
		if m[i] >= 0 {
			m[i] += start
		}
	}
	m[0] = at
	return m
}
