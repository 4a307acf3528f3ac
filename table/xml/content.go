package xml

import (
	"strings"
	"unicode/utf8"
)

// fragment reads a text as content.
func (r *reader) fragment() {
	r.enclosed = true
	r.content()
	if r.looksAt("</") {
		r.fail("chunk is not well balanced")
	}
}

// content reads up to the end, or up to an end tag of no element in the text.
func (r *reader) content() {
	for r.goOn() && !(len(r.open) == 0 && r.looksAt("</")) {
		r.piece()
	}
	r.unclosed()
}

// root reads up to the end tag of the element that is open.
func (r *reader) root() {
	for r.goOn() && len(r.open) > 0 {
		r.piece()
	}
	r.unclosed()
}

// piece reads a tag, a reference, or text.
func (r *reader) piece() {
	switch {
	case r.looksAt("<?"):
		r.instruction()
	case r.looksAt("<![CDATA["):
		r.cdata()
	case r.looksAt("<!--"):
		r.comment()
	case r.looksAt("</"):
		r.endTag()
	case r.at(0) == '<':
		r.startTag()
	case r.at(0) == '&':
		r.reference()
	default:
		r.text()
	}
}

// unclosed reports an element that is open at the end.
func (r *reader) unclosed() {
	if len(r.open) > 0 {
		tag := r.open[len(r.open)-1]
		r.fail("Premature end of data in tag %s line %d", local(tag.name), r.line(tag.at))
	}
}

// startTag reads the start tag of an element, which then is open if it does not end in the same
// tag. It reports whether there was one.
func (r *reader) startTag() bool {
	if len(r.open) > depthMax {
		r.tooDeep()
		return false
	}
	from := r.i
	r.i++
	name := r.name()
	if name == "" {
		r.fail("StartTag: invalid element name")
		return false
	}
	r.blanks()
	r.attributes()
	if r.enclosed && len(r.open) >= depthMax {
		r.tooDeep()
		return false
	}
	switch {
	case r.accept("/>"):
	case r.accept(">"):
		r.open = append(r.open, openTag{name, from})
	default:
		r.fail("Couldn't find end of Start Tag %s line %d", local(name), r.line(from))
		return false
	}
	return true
}

func (r *reader) tooDeep() {
	r.fail("Excessive depth in document: %d use XML_PARSE_HUGE option", depthMax)
	r.halted = true
}

// attributes reads those of a start tag.
func (r *reader) attributes() {
	var names []string
	var seen map[string]bool // in place of names, once there are many
	var again []string
	for r.goOn() && r.at(0) != '>' && !r.looksAt("/>") {
		if name, ok := r.attribute(); ok {
			switch {
			case !contains(names, seen, name):
				names, seen = note(names, seen, name)
			case name == "xmlns" || strings.HasPrefix(name, "xmlns:"):
				r.fail("Attribute %s redefined", name)
			default:
				again = append(again, name)
			}
		}
		if r.at(0) == '>' || r.looksAt("/>") {
			break
		}
		if !r.blanks() {
			r.fail("attributes construct error")
			break
		}
	}
	for _, name := range again {
		r.fail("Attribute %s redefined", name)
	}
}

// fewNames is how many names of attributes are looked through one by one.
const fewNames = 16

func contains(names []string, seen map[string]bool, name string) bool {
	if seen != nil {
		return seen[name]
	}
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func note(names []string, seen map[string]bool, name string) ([]string, map[string]bool) {
	if seen == nil && len(names) == fewNames {
		seen = map[string]bool{}
		for _, n := range names {
			seen[n] = true
		}
	}
	if seen != nil {
		seen[name] = true
		return names, seen
	}
	return append(names, name), nil
}

// attribute reads one and returns its name. ok is false for one without a value.
func (r *reader) attribute() (name string, ok bool) {
	if name = r.name(); name == "" {
		r.fail("error parsing attribute name")
		return "", false
	}
	r.blanks()
	if !r.accept("=") {
		r.fail("Specification mandates value for attribute %s", local(name))
		return name, false
	}
	r.blanks()
	return name, r.attributeValue()
}

// attributeValue reads a quoted value.
func (r *reader) attributeValue() bool {
	quote := r.at(0)
	if quote != '"' && quote != '\'' {
		r.fail("AttValue: \" or ' expected")
		return false
	}
	r.i++
	for r.goOn() {
		c, n := r.char()
		switch {
		case c == rune(quote):
			r.i++
			return true
		case c == '<':
			r.fail("Unescaped '<' not allowed in attributes values")
			return false
		case c == '&':
			r.attributeReference()
		case !isChar(c):
			r.fail("invalid character in attribute value")
			return false
		default:
			r.i += n
		}
	}
	r.fail("AttValue: ' expected")
	return false
}

// endTag reads the end tag of the innermost element.
func (r *reader) endTag() {
	tag := r.open[len(r.open)-1]
	r.i += len("</")
	name := r.name()
	r.blanks()
	if !r.accept(">") {
		r.fail("expected '>'")
	}
	if name != tag.name {
		switch opened := local(tag.name); {
		case name == "":
			name = "unparsable"
		case opened != tag.name:
			name = local(name)
		}
		r.fail("Opening and ending tag mismatch: %s line %d and %s", local(tag.name),
			r.line(tag.at), name)
	}
	r.open = r.open[:len(r.open)-1]
}

// text reads characters up to a tag or a reference. As in PostgreSQL's library, an error in text of
// ASCII is shown where the text began, another where it is.
func (r *reader) text() {
	from, ascii := r.i, true
	for r.goOn() {
		c, n := r.char()
		switch {
		case c == '<' || c == '&':
			return
		case c == ']' && r.looksAt("]]>"):
			shown := from
			if !ascii {
				shown = r.i
			}
			r.failAt(r.i, shown, "Sequence ']]>' not allowed in content")
		case !isChar(c):
			r.fail("PCDATA invalid Char value %d", c)
			r.i += n
			return
		}
		if c >= utf8.RuneSelf || c == '\r' {
			ascii = false
		}
		r.i += n
	}
}

// cdata reads <![CDATA[…]]>.
func (r *reader) cdata() {
	r.i += len("<![CDATA[")
	from := r.i
	for r.goOn() {
		c, n := r.char()
		if c == ']' && r.accept("]]>") {
			return
		}
		if !isChar(c) {
			break
		}
		r.i += n
	}
	if read, ok := withoutTwo(r.s[from:r.i]); ok {
		r.fail("CData section not finished\n%s", read)
	} else {
		r.fail("Unregistered error message")
	}
}

// withoutTwo returns what a message shows of a text whose end is missing: not its last two
// characters, which might have begun the end. ok is false if there are fewer.
func withoutTwo(s string) (shown string, ok bool) {
	for range 2 {
		_, n := utf8.DecodeLastRuneInString(s)
		if n == 0 {
			return "", false
		}
		s = s[:len(s)-n]
	}
	return firstBytes(s), true
}

// firstBytes returns what a message shows of a text.
func firstBytes(s string) string {
	const most = 50
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// comment reads <!--…-->.
func (r *reader) comment() {
	r.i += len("<!--")
	from, wide := r.i, -1 // where the first character is that is not of ASCII
	for r.goOn() {
		c, n := r.char()
		switch {
		case r.accept("-->"):
			return
		case r.looksAt("--") && wide < 0:
			if r.i == from {
				r.fail("Double hyphen within comment")
			} else {
				r.fail("Double hyphen within comment: <!--%s", firstBytes(r.s[from:r.i]))
			}
			r.i += 2
		case r.looksAt("--") && r.i+2 < len(r.s):
			r.i += 2
			r.fail("Comment must not contain '--' (double-hyphen)")
			r.i--
		case !isChar(c):
			r.fail("xmlParseComment: invalid xmlChar value %d", c)
			return
		default:
			if c >= utf8.RuneSelf && wide < 0 {
				wide = r.i
			}
			r.i += n
		}
	}
	if wide >= 0 {
		if utf8.RuneCountInString(r.s[wide:r.i]) > 2 {
			read, _ := withoutTwo(r.s[from:r.i])
			r.fail("Comment not terminated \n<!--%s", read)
			return
		}
	}
	r.fail("Comment not terminated")
}

// instruction reads <?target …?>.
func (r *reader) instruction() {
	r.i += len("<?")
	target := r.name()
	switch {
	case target == "":
		r.fail("xmlParsePI : no target name")
		return
	case target == "xml":
		r.fail("XML declaration allowed only at the start of the document")
	case strings.EqualFold(target, "xml"):
		r.fail("Invalid PI name")
	}
	if r.accept("?>") {
		return
	}
	if !r.blanks() {
		r.fail("ParsePI: PI %s space expected", target)
	}
	for r.goOn() {
		c, n := r.char()
		if r.accept("?>") {
			return
		}
		if !isChar(c) {
			break
		}
		r.i += n
	}
	r.fail("ParsePI: PI %s never end ...", target)
}
