package xml

import (
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Declaration is what <?xml …?> at the beginning of a text says.
type Declaration struct {
	Version    string // "": it has none
	Encoding   string
	Standalone Standalone
}

// Standalone is what a declaration says of external declarations.
type Standalone int8

// The values of Standalone.
const (
	NotSaid Standalone = iota
	Yes
	No
)

// String writes a declaration, if it says more than that the version is 1.0.
func (d Declaration) String() string {
	if (d.Version == "" || d.Version == "1.0") && d.Standalone == NotSaid {
		return ""
	}
	version := d.Version
	if version == "" {
		version = "1.0"
	}
	switch d.Standalone {
	case Yes:
		return `<?xml version="` + version + `" standalone="yes"?>`
	case No:
		return `<?xml version="` + version + `" standalone="no"?>`
	}
	return `<?xml version="` + version + `"?>`
}

// The details of errors in declarations.
const (
	errSpace      = "Space required."
	errVersion    = "Malformed declaration: missing version."
	errEncoding   = "Missing encoding in text declaration."
	errStandalone = "standalone accepts only 'yes' or 'no'."
	errUnfinished = "Parsing XML declaration: '?>' expected."
	errCharacter  = "Invalid character value."
)

// Declared reads the declaration with which a text begins and returns the text behind it. problem
// is the detail of an error; a text without a declaration has none.
func Declared(s string) (d Declaration, rest, problem string) {
	r := declarationReader{s: s}
	if r.begins() {
		problem = r.read(&d)
	}
	if problem == "" {
		for i := range r.i {
			if s[i] >= utf8.RuneSelf {
				return d, s, errCharacter
			}
		}
	}
	return d, s[r.i:], problem
}

type declarationReader struct {
	s string
	i int
}

// begins reports whether the text begins with a declaration: another processing instruction, such
// as <?xml-stylesheet …?>, has a longer name.
func (r *declarationReader) begins() bool {
	if !strings.HasPrefix(r.s, "<?xml") {
		return false
	}
	c, _ := utf8.DecodeRuneInString(r.s[5:])
	return !isNameChar(c)
}

func (r *declarationReader) read(d *Declaration) string {
	r.i = len("<?xml")
	if !r.blanks() {
		return errSpace
	}
	var ok bool
	if !r.word("version") {
		return errVersion
	}
	if d.Version, ok = r.value(); !ok {
		return errVersion
	}
	before := r.i
	space := r.blanks()
	if r.word("encoding") {
		if !space {
			return errSpace
		}
		if d.Encoding, ok = r.value(); !ok {
			return errEncoding
		}
		before = r.i
		space = r.blanks()
	}
	if r.word("standalone") {
		if !space {
			return errSpace
		}
		switch value, ok := r.value(); {
		case ok && value == "yes":
			d.Standalone = Yes
		case ok && value == "no":
			d.Standalone = No
		default:
			return errStandalone
		}
		before = r.i
	}
	r.i = before
	r.blanks()
	if !r.word("?>") {
		return errUnfinished
	}
	return ""
}

func (r *declarationReader) blanks() bool {
	from := r.i
	for r.i < len(r.s) && isBlank(r.s[r.i]) {
		r.i++
	}
	return r.i > from
}

func (r *declarationReader) word(w string) bool {
	if !strings.HasPrefix(r.s[r.i:], w) {
		return false
	}
	r.i += len(w)
	return true
}

// value reads = and a quoted text.
func (r *declarationReader) value() (string, bool) {
	r.blanks()
	if !r.word("=") {
		return "", false
	}
	r.blanks()
	if r.i == len(r.s) || r.s[r.i] != '"' && r.s[r.i] != '\'' {
		return "", false
	}
	text := r.s[r.i+1:]
	end := strings.IndexByte(text, r.s[r.i])
	if end < 0 {
		return "", false
	}
	r.i += end + 2
	return text[:end], true
}

// Output returns a value as it is shown: without the encoding that its declaration names, and
// without a declaration that says nothing. ok is false for a text whose declaration is not one.
func Output(s string) (text string, ok bool) {
	if !strings.HasPrefix(s, "<?xml") {
		return s, true
	}
	d, rest, problem := Declared(s)
	if problem != "" {
		return s, false
	}
	declaration := d.String()
	if declaration == "" {
		return strings.TrimPrefix(rest, "\n"), true
	}
	return declaration + rest, true
}

// Concat is the concatenation of texts: of their declarations remains what all of them say.
type Concat struct {
	declared Declaration
	any      bool
	body     strings.Builder
}

// Add appends a text.
func (c *Concat) Add(s string) {
	d, rest, problem := Declared(s)
	if problem != "" {
		d, rest = Declaration{}, s
	}
	d.Encoding = ""
	switch {
	case !c.any:
		c.declared, c.any = d, true
	default:
		c.join(d)
	}
	c.body.WriteString(rest)
}

func (c *Concat) join(d Declaration) {
	if d.Version != c.declared.Version {
		c.declared.Version = ""
	}
	switch {
	case d.Standalone == NotSaid:
		c.declared.Standalone = NotSaid
	case d.Standalone == No && c.declared.Standalone == Yes:
		c.declared.Standalone = No
	}
}

// Forget drops a declaration that says nothing, as if the texts so far were one value.
func (c *Concat) Forget() {
	if c.declared.String() == "" {
		c.declared = Declaration{}
	}
}

// String returns the concatenation.
func (c *Concat) String() string { return c.declared.String() + c.body.String() }

// Len returns the length of the texts so far.
func (c *Concat) Len() int { return c.body.Len() }

// WithRoot returns a text with a declaration of a version, "" for none, and standalone if that is
// not nil, instead of its own.
func WithRoot(s, version string, standalone *Standalone) string {
	d, rest, problem := Declared(s)
	if problem != "" {
		d, rest = Declaration{}, s
	}
	d.Version = version
	if standalone != nil {
		d.Standalone = *standalone
	}
	return d.String() + rest
}

func errDeclaration(detail string) error {
	e := sqlerr.New(sqlerr.InvalidXMLContent, "invalid XML content: invalid XML declaration")
	e.Detail = detail
	return e
}
