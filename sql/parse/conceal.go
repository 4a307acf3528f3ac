package parse

import (
	"context"
	"regexp"
	"strings"
)

// concealed is what takes the place of a password in a text that is shown.
const concealed = "'***'"

// Conceal returns a text with concealed in the place of each string that is a password: the one
// behind PASSWORD, or within a string that is itself a statement. secrets are the parts that were
// taken out, as they were in the text, for messages that quote it. The text may have errors: what
// a scan cannot read, behind the word PASSWORD, is left out.
func Conceal(text string) (shown string, secrets []string) {
	if !mentionsPassword(text) {
		return text, nil
	}
	var l lexer
	l.lex(context.Background(), text)
	var b strings.Builder
	from := 0
	replace := func(start, end int32, by string) {
		b.WriteString(text[from:start])
		b.WriteString(by)
		secrets = append(secrets, text[start:end])
		from = int(end)
	}
	for i := range l.toks {
		t := &l.toks[i]
		switch {
		case t.kind == tokError && mentionsPassword(text[:t.pos]):
			replace(t.pos, int32(len(text)), concealed)
		case t.kind == tokString && behindPassword(l.toks[:i]):
			replace(t.pos, t.end, concealed)
		case t.kind == tokString && text[t.pos] == '$': // the body of DO, say
			body := text[t.pos:t.end]
			if inner, found := Conceal(t.str); len(found) > 0 {
				replace(t.pos, t.end, strings.Replace(body, t.str, inner, 1))
				secrets = append(secrets, found...)
			}
		case t.kind == tokString && quotedPassword.MatchString(t.str):
			replace(t.pos, t.end, concealed)
		}
	}
	b.WriteString(text[from:])
	shown = b.String()
	for _, secret := range secrets { // a password may be in other places too
		shown = strings.ReplaceAll(shown, secret, concealed)
	}
	return shown, secrets
}

// quotedPassword finds a password that is within a string.
var quotedPassword = regexp.MustCompile(`(?i)password\s*=?\s*['$]`)

// passwordWord finds the word in either case.
var passwordWord = regexp.MustCompile(`(?i)password`)

func mentionsPassword(text string) bool { return passwordWord.MatchString(text) }

// behindPassword reports whether the tokens end with the word PASSWORD, or with a comparison to
// what is named so.
func behindPassword(toks []token) bool {
	if n := len(toks); n > 1 && toks[n-1].is('=') {
		toks = toks[:n-1]
	}
	if len(toks) == 0 {
		return false
	}
	last := &toks[len(toks)-1]
	return (last.kind == tokIdent || last.kind == tokQuoted) &&
		strings.EqualFold(last.str, "password")
}
