package are

import "github.com/minidb/minidb/internal/sqlerr"

// Flags are the options of regexp_replace and the like.
type Flags struct {
	Fold     bool // i: ignore case
	Literal  bool // q: the pattern is a plain string
	Extended bool // x: white space and comments are ignored
	Newline  byte // n: 'n' (. and ^$ both), 'p' (. only), 'w' (^$ only), 0 neither
	Global   bool // g: not an option of the expression, and never in a key
}

// ParseFlags applies flag letters to the flags that are set already.
func ParseFlags(letters string, fl Flags) (Flags, error) {
	for _, c := range letters {
		switch c {
		case 'g':
			fl.Global = true
		case 'i':
			fl.Fold = true
		case 'c':
			fl.Fold = false
		case 'n', 'm':
			fl.Newline = 'n'
		case 'p', 'w':
			fl.Newline = byte(c)
		case 's':
			fl.Newline = 0
		case 'x':
			fl.Extended = true
		case 't':
			fl.Extended = false
		case 'q':
			fl.Literal = true
		case 'b', 'e':
		default:
			return fl, sqlerr.New(sqlerr.InvalidParameterValue,
				"invalid regular expression option: \"%c\"", c)
		}
	}
	return fl, nil
}
