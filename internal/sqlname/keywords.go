package sqlname

import (
	_ "embed"
	"strings"
)

// Category is how far a key word may serve as a name (PostgreSQL's manual, appendix C).
type Category uint8

// The categories, the most permissive first. A word that is not a key word is as free as an
// unreserved one.
const (
	Unreserved       Category = iota // any name
	ColumnName                       // any name but a function's or a type's
	TypeFunctionName                 // a function's or a type's name only
	Reserved                         // a label after AS only
)

// Keyword holds the grammar's properties of one of PostgreSQL's key words. The zero value fits any
// other word.
type Keyword struct {
	Category Category
	NeedsAs  bool // labels a select item only after AS
}

// Keywords holds all key words, in lower case. It must not be changed.
var Keywords = listKeywords()

//go:embed keywords.txt
var keywordsFile string

// labelOnlyAfterAs is the section of the file behind those of the categories.
const labelOnlyAfterAs = Reserved + 1

func listKeywords() map[string]Keyword {
	m := map[string]Keyword{}
	for i, section := range strings.Split(keywordsFile, "\n\n")[1:] {
		_, words, _ := strings.Cut(section, "]")
		for w := range strings.FieldsSeq(words) {
			k := Keyword{Category: Category(i)}
			if k.Category == labelOnlyAfterAs {
				k = Keyword{Category: m[w].Category, NeedsAs: true}
			}
			m[w] = k
		}
	}
	return m
}
