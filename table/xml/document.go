package xml

import (
	"strings"
)

// document reads a text as a document.
func (r *reader) document() {
	if r.s == "" {
		r.fail("switching encoding : no input")
		r.fail("Document is empty")
		return
	}
	if r.looksAt("<?xml") && isBlank(r.at(len("<?xml"))) {
		r.declaration()
	}
	r.aside()
	if r.accept("<!DOCTYPE") {
		r.doctype()
		r.aside()
	}
	if r.at(0) != '<' {
		r.fail("Start tag expected, '<' not found")
		return
	}
	if r.startTag() && len(r.open) > 0 {
		r.root()
	}
	r.aside()
	if r.i < len(r.s) {
		r.fail("Extra content at the end of the document")
	}
}

// aside reads blanks, comments and processing instructions.
func (r *reader) aside() {
	for r.goOn() {
		r.blanks()
		switch {
		case r.looksAt("<?"):
			r.instruction()
		case r.looksAt("<!--"):
			r.comment()
		default:
			return
		}
	}
}

// declaration reads <?xml …?> at the beginning of a document.
func (r *reader) declaration() {
	r.i += len("<?xml")
	r.blanks()
	if !r.version() {
		r.fail("Malformed declaration expecting version")
	}
	if !isBlank(r.at(0)) {
		if r.accept("?>") {
			return
		}
		r.fail("Blank needed here")
	}
	switch encoded, ok := r.encoding(); {
	case !ok:
		r.halted = true
		return
	case encoded && !isBlank(r.at(0)):
		if r.accept("?>") {
			return
		}
		r.fail("Blank needed here")
	}
	r.blanks()
	r.standaloneness()
	r.blanks()
	if r.accept("?>") {
		return
	}
	r.fail("parsing XML declaration: '?>' expected")
	if end := strings.IndexByte(r.s[r.i:], '>'); end >= 0 {
		r.i += end + 1
	} else {
		r.i = len(r.s)
	}
}

func (r *reader) version() bool {
	if !r.accept("version") {
		return false
	}
	value, ok := r.declared(func() string {
		from := r.i
		if d := r.at(0); d < '0' || d > '9' || r.at(1) != '.' {
			return ""
		}
		r.i += 2
		for r.at(0) >= '0' && r.at(0) <= '9' {
			r.i++
		}
		return r.s[from:r.i]
	})
	if ok && value != "" && !strings.HasPrefix(value, "1.") {
		r.fail("Unsupported version '%s'", value)
	}
	return ok && value != ""
}

// encoding reads what names the encoding of the text, which is UTF-8 all the same. ok is false for
// one that there is not.
func (r *reader) encoding() (given, ok bool) {
	r.blanks()
	if !r.accept("encoding") {
		return false, true
	}
	value, given := r.declared(func() string {
		from := r.i
		for c := r.at(0); c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || r.i > from &&
			(c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'); c = r.at(0) {
			r.i++
		}
		if r.i == from {
			r.fail("Invalid XML encoding name")
		}
		return r.s[from:r.i]
	})
	if given && value != "" && !knownEncoding(value) {
		r.fail("Unsupported encoding %s", value)
		return true, false
	}
	return given && value != "", true
}

// encodings are the beginnings of the names of encodings.
var encodings = [...]string{"UTF", "UCS", "ISO-10646", "ISO8859", "ISO-8859", "ISO_8859", "LATIN",
	"L1", "ASCII", "US-ASCII", "WINDOWS-", "CP", "IBM", "KOI8", "EUC", "SHIFT", "SJIS", "BIG5",
	"GB", "JOHAB", "UHC", "ISO-2022", "HTML", "TIS-620", "MAC"}

func knownEncoding(name string) bool {
	name = strings.ToUpper(name)
	for _, e := range encodings {
		if strings.HasPrefix(name, e) {
			return true
		}
	}
	return false
}

func (r *reader) standaloneness() {
	if !r.accept("standalone") {
		return
	}
	value, _ := r.declared(func() string {
		switch {
		case r.accept("no"):
			return "no"
		case r.accept("yes"):
			return "yes"
		}
		r.fail("standalone accepts only 'yes' or 'no'")
		return ""
	})
	r.standalone = value == "yes"
}

// declared reads = and quotes around what read reads. ok is false if it does not begin so.
func (r *reader) declared(read func() string) (value string, ok bool) {
	r.blanks()
	if !r.accept("=") {
		r.fail("expected '='")
		return "", false
	}
	r.blanks()
	quote := r.at(0)
	if quote != '"' && quote != '\'' {
		r.fail("String not started expecting ' or \"")
		return "", false
	}
	r.i++
	value = read()
	if r.at(0) != quote {
		r.fail("String not closed expecting \" or '")
	} else {
		r.i++
	}
	return value, true
}
