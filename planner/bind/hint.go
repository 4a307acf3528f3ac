package bind

import (
	"fmt"
)

// maxFuzzy is the largest edit distance at which PostgreSQL suggests another column.
const maxFuzzy = 3

// columnHint suggests which column an unknown column might have meant: one that cannot be
// referenced here, or the one or two with the most similar names. alias is the written qualifier,
// or "".
func columnHint(sc *scope, alias, name string) string {
	best := maxFuzzy + 1
	var found []string
	for s := sc; s != nil; s = s.outer {
		for _, t := range s.hidden {
			for _, c := range t.cols {
				if alias == "" && c.name == name {
					return fmt.Sprintf("There is a column named \"%s\" in table \"%s\", but it "+
						"cannot be referenced from this part of the query.", name, t.alias)
				}
			}
		}
		for _, t := range s.tables {
			penalty := 0
			if alias != "" {
				penalty = min(distance(alias, t.alias), maxFuzzy+1)
			}
			for _, c := range t.cols {
				d := distance(name, c.name)
				if d > len(name)/2 {
					continue
				}
				switch d += penalty; {
				case d < best:
					best, found = d, append(found[:0], t.alias+"."+c.name)
				case d == best && d <= maxFuzzy:
					found = append(found, t.alias+"."+c.name)
				}
			}
		}
	}
	switch len(found) {
	case 1:
		return fmt.Sprintf("Perhaps you meant to reference the column \"%s\".", found[0])
	case 2:
		return fmt.Sprintf("Perhaps you meant to reference the column \"%s\" or the column \"%s\".",
			found[0], found[1])
	}
	return ""
}

// distance returns the Levenshtein distance of two names. It stops at distances that are too large
// for a suggestion.
func distance(a, b string) int {
	if d := len(a) - len(b); d > maxFuzzy || -d > maxFuzzy {
		return maxFuzzy + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
