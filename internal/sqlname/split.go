package sqlname

import (
	"slices"
	"strings"
)

// SplitList splits a list of identifiers at its commas, as PostgreSQL splits search_path. It
// returns false where the list is malformed.
func SplitList(list string) ([]string, bool) {
	if strings.TrimSpace(list) == "" {
		return nil, true
	}
	return split(list, ',', ", \t\r\n")
}

// SplitQualified splits a name such as s."T" at its dots, as PostgreSQL reads the text of a
// regclass. It returns false where the name is malformed.
func SplitQualified(text string) ([]string, bool) {
	names, ok := split(text, '.', ". \t\r\n\"")
	if !ok || slices.Contains(names, "") {
		return nil, false
	}
	return names, true
}

// split reads identifiers with a separator between them. One without quotes ends before a character
// of ends.
func split(s string, separator byte, ends string) (names []string, ok bool) {
	for s = strings.TrimSpace(s); ; s = strings.TrimSpace(s[1:]) {
		var name string
		if strings.HasPrefix(s, `"`) {
			if name, s, ok = CutQuoted(s); !ok {
				return nil, false
			}
		} else {
			end := strings.IndexAny(s, ends)
			if end < 0 {
				end = len(s)
			}
			if end == 0 {
				return nil, false
			}
			name, s = strings.ToLower(s[:end]), s[end:]
		}
		names = append(names, name)
		if s = strings.TrimSpace(s); s == "" {
			return names, true
		}
		if s[0] != separator {
			return nil, false
		}
	}
}

// CutQuoted splits s behind the quoted identifier that it begins with, whose name it returns; false
// where that does not end.
func CutQuoted(s string) (name, rest string, ok bool) {
	for end := 1; end < len(s); end++ {
		switch {
		case s[end] != '"':
		case end+1 < len(s) && s[end+1] == '"':
			end++
		default:
			return strings.ReplaceAll(s[1:end], `""`, `"`), s[end+1:], true
		}
	}
	return "", "", false
}
