package sqlname

import "strings"

// Quote writes a name as an identifier: in double quotes unless it is lower case, plain, and no key
// word but an unreserved one, as PostgreSQL's quote_identifier does.
func Quote(name string) string {
	if isPlain(name) && Keywords[name].Category == Unreserved {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Qualified writes schema.name, each part quoted where it must be.
func Qualified(schema, name string) string { return Quote(schema) + "." + Quote(name) }

// Join writes a list of names, separated by commas.
func Join(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = Quote(n)
	}
	return strings.Join(quoted, ", ")
}

// Literal writes a string constant under standard_conforming_strings: backslashes stand for
// themselves.
func Literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
