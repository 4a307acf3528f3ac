package sqlname

import (
	"regexp"
	"strings"
)

// QuoteAll puts every identifier of a text into double quotes, as PostgreSQL prints it under
// quote_all_identifiers. The text must be SQL as PostgreSQL prints it: its key words are in upper
// case, but for those of type names and for true and false. So a word in lower case is an
// identifier, unless it is one of these.
func QuoteAll(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := printedToken(text[i:])
		token := text[i : i+n]
		switch {
		case identifier(token) && !strings.HasSuffix(text[:i], "EXTRACT("):
			token = `"` + token + `"`
		case token[0] == '\'' && strings.HasPrefix(text[i+n:], "::reg"): // of regclass and its like
			token = "'" + QuoteAll(strings.Trim(token, "'")) + "'"
		}
		b.WriteString(token)
		i += n
	}
	return b.String()
}

// keywordsOfTypes matches type names that consist of key words, at the beginning of a text. None of
// their first words is an identifier without quotes, but double, which is followed by a word only
// here.
var keywordsOfTypes = regexp.MustCompile(`^(?:time(?:stamp)?(?:\(\d+\))? with(?:out)? time zone` +
	`|(?:character|bit) varying|double precision` +
	`|interval(?: (?:year|month|day|hour|minute|second))?(?: to (?:month|hour|minute|second))?` +
	`|integer|smallint|bigint|real|numeric|boolean|character|bit|true|false)\b`)

var dollarTag = regexp.MustCompile(`^\$[A-Za-z_]*\$`)

// printedToken is the length of the first token of a text: a string, a name in quotes, a number, a
// word, the name of a type, or any other byte.
func printedToken(text string) int {
	switch c := text[0]; {
	case c == '\'' || c == '"':
		return quotedToken(text, c)
	case c == 'E' && len(text) > 1 && text[1] == '\'':
		return 1 + escapedToken(text[1:])
	case c == '$':
		if tag := dollarTag.FindString(text); tag != "" {
			if end := strings.Index(text[len(tag):], tag); end >= 0 {
				return end + 2*len(tag)
			}
		}
		return wordToken(text)
	case isWord(c):
		if n := len(keywordsOfTypes.FindString(text)); n > 0 {
			return n
		}
		return wordToken(text)
	}
	return 1
}

// quotedToken is the length of a token between quotes, which are written twice within.
func quotedToken(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if i++; i == len(text) || text[i] != quote {
			return i
		}
	}
	return len(text)
}

// escapedToken is the length of a string with backslashes.
func escapedToken(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '\'' && (i+1 == len(text) || text[i+1] != '\''):
			return i + 1
		case text[i] == '\'':
			i++
		}
	}
	return len(text)
}

func wordToken(text string) int {
	n := 1
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return n
}

// isWord reports whether a byte may be part of a word or a number.
func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		c >= '0' && c <= '9' || c >= 0x80
}

// identifier reports whether a token is an identifier without quotes.
func identifier(token string) bool {
	return isPlain(token) && !keywordsOfTypes.MatchString(token)
}
