package xml

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Work receives how many bytes of a large text have been read. It returns the error with which to
// stop.
type Work interface {
	Tick(bytes int) error
}

const (
	depthMax       = 256 // elements in each other
	entityDepthMax = 40  // entities in each other
	errorsMax      = 100 // after which reading ends
	contextMax     = 80  // bytes of the text around an error
	workPiece      = 64 << 10
)

// Check reports what is wrong with a text: error 2200M if it is not the document that it shall be,
// 2200N if it is not content. Content that begins with a document type declaration is read as a
// document. A nil work counts nothing.
func Check(s string, document bool, work Work) error {
	code, what := sqlerr.InvalidXMLContent, "content"
	if document {
		code, what = sqlerr.InvalidXMLDocument, "document"
	}
	rest, asDocument := s, document
	if !document {
		_, after, problem := Declared(s)
		if problem != "" {
			return errDeclaration(problem)
		}
		if asDocument = hasDoctype(after); !asDocument {
			rest = after
		}
	}
	r := &reader{s: rest, shared: &shared{work: work}}
	if asDocument {
		r.document()
	} else {
		r.fragment()
	}
	switch {
	case r.stopped != nil:
		return r.stopped
	case r.errors == 0:
		return nil
	}
	e := sqlerr.New(code, "invalid XML %s", what)
	e.Detail = strings.TrimRight(r.detail.String(), "\n")
	return e
}

// IsDocument reports whether a text is a document.
func IsDocument(s string, work Work) (bool, error) {
	err := Check(s, true, work)
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Code == sqlerr.InvalidXMLDocument {
		return false, nil
	}
	return err == nil, err
}

// hasDoctype reports whether a document type declaration comes before anything but comments and
// processing instructions.
func hasDoctype(s string) bool {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		switch {
		case strings.HasPrefix(s, "<!DOCTYPE"):
			return true
		case strings.HasPrefix(s, "<!--"):
			_, after, ok := strings.Cut(s[len("<!--"):], "--")
			if !ok || !strings.HasPrefix(after, ">") {
				return false
			}
			s = after[1:]
		case strings.HasPrefix(s, "<?"):
			_, after, ok := strings.Cut(s, "?>")
			if !ok {
				return false
			}
			s = after
		default:
			return false
		}
	}
}

// shared is what the reader of a text has in common with those of its entities.
type shared struct {
	work    Work
	stopped error // by work
	halted  bool  // nothing is read any more
	detail  strings.Builder
	errors  int
	// of the document type
	entities   map[string]*entity
	parameters map[string]*entity // parameter entities
	external   bool               // there are declarations that are not read
	references bool               // to parameter entities
	standalone bool
	depth      int // of entities in each other
	expanded   int // bytes of parameter entities at their references
}

// reader reads a text, or that of an entity. What it reads at i moves i on.
type reader struct {
	*shared
	s        string
	i        int
	open     []openTag // the elements around i
	enclosed bool      // an element around the text counts in depthMax
	above    *reader   // of the attribute that has the text; it reports the errors
	reported lines
	counted  int // how far the text is counted
}

// openTag is an element whose end is to come.
type openTag struct {
	name string
	at   int
}

// lines remembers the line of a place in a text.
type lines struct{ at, line int }

// line returns the number of the line in which a place is.
func (r *reader) line(at int) int {
	if at < r.reported.at {
		r.reported = lines{}
	}
	r.reported.line += strings.Count(r.s[r.reported.at:at], "\n")
	r.reported.at = at
	return r.reported.line + 1
}

// fail reports an error at the place that has been reached.
func (r *reader) fail(format string, args ...any) { r.failAt(r.i, r.i, format, args...) }

// failAt reports an error in the line of a place, and shows another place of the text.
func (r *reader) failAt(at, shown int, format string, args ...any) {
	if r.halted {
		return
	}
	if r.above != nil {
		r.above.fail(format, args...)
		return
	}
	message := fmt.Sprintf(format, args...)
	fmt.Fprintf(&r.detail, "line %d: %s", r.line(at), strings.TrimRight(message, "\n"))
	r.show(shown)
	if r.errors++; r.errors == errorsMax {
		r.halted = true
	}
}

// show writes the text around a place, and a mark below the place.
func (r *reader) show(at int) {
	newline := func(i int) bool { return i < len(r.s) && (r.s[i] == '\n' || r.s[i] == '\r') }
	from := at
	for from > 0 && newline(from) {
		from--
	}
	for n := 0; n < contextMax && from > 0 && !newline(from); n++ {
		from--
	}
	if newline(from) {
		from++
	}
	to := from
	for to < len(r.s) && to-from < contextMax && !newline(to) {
		to++
	}
	text := r.s[from:to]
	r.detail.WriteByte('\n')
	r.detail.WriteString(strings.ToValidUTF8(text, "?"))
	r.detail.WriteByte('\n')
	for i := 0; i < at-from && i < len(text) && i < contextMax-1; i++ {
		if text[i] == '\t' {
			r.detail.WriteByte('\t')
		} else {
			r.detail.WriteByte(' ')
		}
	}
	r.detail.WriteString("^\n")
}

// goOn reports whether there is more to read. It counts what has been read.
func (r *reader) goOn() bool {
	if r.work != nil && r.i-r.counted >= workPiece {
		if err := r.work.Tick(r.i - r.counted); err != nil {
			r.stopped, r.halted = err, true
		}
		r.counted = r.i
	}
	return !r.halted && r.i < len(r.s)
}

// at returns the n-th byte from here, 0 behind the end.
func (r *reader) at(n int) byte {
	if r.i+n < len(r.s) && !r.halted {
		return r.s[r.i+n]
	}
	return 0
}

func (r *reader) looksAt(word string) bool {
	return !r.halted && strings.HasPrefix(r.s[r.i:], word)
}

// accept moves over a word if it is here.
func (r *reader) accept(word string) bool {
	if !r.looksAt(word) {
		return false
	}
	r.i += len(word)
	return true
}

// char returns the character that is here and its length; 0 behind the end.
func (r *reader) char() (rune, int) {
	if r.halted || r.i >= len(r.s) {
		return 0, 0
	}
	if c := r.s[r.i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(r.s[r.i:])
}

// blanks moves over blanks and reports whether there were any.
func (r *reader) blanks() bool {
	from := r.i
	for r.i < len(r.s) && isBlank(r.s[r.i]) {
		r.i++
	}
	return r.i > from
}

// name moves over a name; "" if there is none.
func (r *reader) name() string {
	if c, _ := r.char(); !isNameStart(c) {
		return ""
	}
	return r.token()
}

// token moves over characters of names.
func (r *reader) token() string {
	from := r.i
	for {
		c, n := r.char()
		if n == 0 || !isNameChar(c) {
			return r.s[from:r.i]
		}
		r.i += n
	}
}

// local returns a name without its prefix.
func local(name string) string {
	if _, after, ok := strings.Cut(name, ":"); ok && after != "" && name[0] != ':' {
		return after
	}
	return name
}
