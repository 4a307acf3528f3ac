package xml

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Escape replaces the characters of a text that would begin a tag or a reference.
func Escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#x0d;")

// Name returns the XML name for an SQL identifier: what a name must not have becomes _xHHHH_. With
// full, also what is reserved or has a meaning: colons, and names that begin with xml.
func Name(identifier string, full bool) string {
	var name strings.Builder
	for i, c := range identifier {
		switch {
		case c == ':' && (i == 0 || full):
			name.WriteString("_x003A_")
		case c == '_' && strings.HasPrefix(identifier[i:], "_x"):
			name.WriteString("_x005F_")
		case full && i == 0 && len(identifier) >= 3 && strings.EqualFold(identifier[:3], "xml"):
			fmt.Fprintf(&name, "_x%04X_", c)
		case i == 0 && !isNameStart(c), !isNameChar(c):
			fmt.Fprintf(&name, "_x%04X_", c)
		default:
			name.WriteRune(c)
		}
	}
	return name.String()
}

// Identifier returns the SQL identifier for a name that Name has made.
func Identifier(name string) string {
	var identifier strings.Builder
	for len(name) > 0 {
		if len(name) >= 7 && name[0] == '_' && name[1] == 'x' && name[6] == '_' {
			code := 0
			for _, c := range []byte(name[2:6]) {
				code = code*16 + digitOf(c)
			}
			if utf8.ValidRune(rune(code)) && !strings.ContainsFunc(name[2:6], notHexadecimal) {
				identifier.WriteRune(rune(code))
				name = name[7:]
				continue
			}
		}
		_, n := utf8.DecodeRuneInString(name)
		identifier.WriteString(name[:n])
		name = name[n:]
	}
	return identifier.String()
}

func notHexadecimal(c rune) bool { return c >= utf8.RuneSelf || digitOf(byte(c)) == 16 }
